// SPDX-License-Identifier: Apache-2.0
// Where the lines of a connection go, and which there are.
#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <mutex>
#include <stdexcept>

#include "connection/c_client_log.h"
#include "testkit/child_process.h"
#include "testkit/temporary_folder.h"
#include "tests/support/fixture.h"
#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {
namespace {

using namespace std::chrono_literals;
using State = ConnectionState;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

/// The lines that a sink was given.
class Lines {
 public:
  using Line = std::pair<LogSeverity, std::string>;

  LogSink sink() {
    return [lines = lines_](LogSeverity severity, const std::string& line) {
      std::lock_guard<std::mutex> lock(lines->mutex);
      lines->all.emplace_back(severity, line);
    };
  }
  std::vector<Line> all() const {
    std::lock_guard<std::mutex> lock(lines_->mutex);
    return lines_->all;
  }
  bool wait_for_words(const std::string& words) const {
    return wait_for([&] {
      for (const Line& line : all())
        if (line.second.find(words) != std::string::npos) return true;
      return false;
    });
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::vector<Line> all;  // guarded by mutex
  };
  const std::shared_ptr<Shared> lines_ = std::make_shared<Shared>();
};

class LogTest : public ControlledServerTest {
 protected:
  ConnectionOptions with_sink(LogSink sink) {
    ConnectionOptions result = options_by_proxy();
    result.log = std::move(sink);
    return result;
  }
  ConnectionOptions with_sink() { return with_sink(lines_.sink()); }

  Lines lines_;
};

TEST_F(LogTest, LostHold_IsAWarningWithNodeAndToken) {
  Connection& connection = connect(with_sink());
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  expire_session(connection);
  ASSERT_TRUE(lines_.wait_for_words("hold lost"));
  EXPECT_THAT(lines_.all(),
              Contains(Pair(LogSeverity::warning, AllOf(HasSubstr(hold.node()), HasSubstr(hold.token().to_string()),
                                                        HasSubstr("session is over")))));
  EXPECT_TRUE(wait_for_state(connection, State::connected));
}

TEST_F(LogTest, AReconnect_IsOneInfoLineWithTheServersAndTheReason) {
  Connection& connection = connect(with_sink());
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  for (int round = 1; round <= 3; ++round) {
    lose_connection();
    ASSERT_TRUE(wait_for([&] { return lines_.all().size() == static_cast<std::size_t>(round); }));
    ASSERT_TRUE(wait_for_state(connection, State::connected));
  }
  EXPECT_THAT(lines_.all(),
              Each(Pair(LogSeverity::info,
                        AllOf(HasSubstr("the connection to " + proxy().address() + chroot() + " is back after"),
                              HasSubstr("with the same session at " + proxy().address())))));
  // The server ends the old connection when it takes the session over through another one. That may be noticed before
  // or after the move, which decides what is logged about it; the servers are the new ones in any case.
  connection.set_servers(server().address());
  ASSERT_TRUE(proxy().wait_until_open_connections(0, kLimit));
  EXPECT_THAT(lines_.all(), Each(Pair(LogSeverity::info, ::testing::_)));
}

TEST_F(LogTest, AnOutageThatLasts_IsOneWarningWithTheReasonAndOneInfoLine) {
  Connection& connection = connect(with_sink());
  proxy().refuse(true);
  ASSERT_TRUE(lines_.wait_for_words("no connection to " + proxy().address() + chroot() + " for 1"));
  proxy().refuse(false);
  ASSERT_TRUE(lines_.wait_for_words("is back after"));
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  EXPECT_THAT(lines_.all(), ElementsAre(Pair(LogSeverity::warning, HasSubstr(" ms: ")),
                                        Pair(LogSeverity::info, HasSubstr("with the same session"))));
}

TEST_F(LogTest, AServerThatCannotBeReachedFromTheBeginning_IsOneWarningWithTheReason) {
  proxy().refuse(true);
  Connection& connection = begin_connect(with_sink());
  ASSERT_TRUE(lines_.wait_for_words("no connection to"));
  proxy().refuse(false);
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  EXPECT_THAT(lines_.all(),
              ElementsAre(Pair(LogSeverity::warning, AllOf(HasSubstr(proxy().address()), HasSubstr("refused")))));
}

TEST_F(LogTest, AnExpiredSession_IsOneWarningForItAndOneForEachHoldAndOneInfoLine) {
  Connection& connection = connect(with_sink());
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  expire_session(connection);
  ASSERT_TRUE(lines_.wait_for_words("with a new session"));
  EXPECT_THAT(lines_.all(),
              ::testing::UnorderedElementsAre(
                  Pair(LogSeverity::warning, HasSubstr("is over; a new one is being made")),
                  Pair(LogSeverity::warning, AllOf(HasSubstr(hold.node()), HasSubstr(hold.token().to_string()))),
                  Pair(LogSeverity::info, HasSubstr("is back after"))));
}

TEST_F(LogTest, AConnectionThatIsRefused_SaysThatItIsClosedForGood) {
  proxy().answer_with_error(RequestKind::auth, ZAUTHFAILED, 100);
  ConnectionOptions settings = with_sink();
  settings.credentials = {{"digest", "user:password"}};
  Connection& connection = begin_connect(settings);
  ASSERT_TRUE(wait_for_state(connection, State::closed));
  ASSERT_TRUE(lines_.wait_for_words("closed for good"));
  disconnect(connection);
  proxy().clear_faults();
  const std::string line =
      "the connection to " + proxy().address() + chroot() + " is closed for good: the server refused the credentials";
  EXPECT_THAT(lines_.all(), Contains(Pair(LogSeverity::error, HasSubstr(line))));
  EXPECT_THAT(lines_.all(), Contains(Pair(LogSeverity::error, ::testing::_)).Times(1));
}

TEST_F(LogTest, AConnectionThatGivesUp_SaysThatItIsClosedForGood) {
  proxy().refuse(true);
  ConnectionOptions settings = with_sink();
  settings.retry.give_up_after = 300ms;
  Connection& connection = begin_connect(settings);
  ASSERT_TRUE(lines_.wait_for_words("closed for good: no session with"));
  EXPECT_THAT(lines_.all(), ElementsAre(Pair(LogSeverity::error, HasSubstr("raise RetryPolicy::give_up_after"))));
  disconnect(connection);
  proxy().refuse(false);
}

TEST_F(LogTest, AnExpiredHandleOfTheProgram_IsOneErrorAndOneLineForEachHold) {
  PlainClient program(proxy().address(), 20s);
  ConnectionOptions settings;
  settings.log = lines_.sink();
  Connection connection(program.handle(), settings);
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  FairMutex mutex(connection, full("/lock"));
  const Hold hold = mutex.acquire();
  expire(program.session_id());
  ASSERT_TRUE(wait_for_state(connection, State::closed));
  connection.close();
  EXPECT_THAT(lines_.all(), ::testing::UnorderedElementsAre(
                                Pair(LogSeverity::warning, HasSubstr("hold lost")),
                                Pair(LogSeverity::error,
                                     HasSubstr("the connection to the program's own handle is closed for good: "
                                               "the session of the program's own ZooKeeper handle has expired"))));
}

// Whether the session has survived, and whether there will be another, is for the program to know.
TEST_F(LogTest, AHandleOfTheProgramWithoutAnAnswer_IsNotSaidToGetANewSession) {
  PlainClient program(proxy().address(), 4s);
  ConnectionOptions settings;
  settings.log = lines_.sink();
  Connection connection(program.handle(), settings);
  ASSERT_TRUE(connection.wait_until_connected(kLimit));
  proxy().black_hole();
  ASSERT_TRUE(wait_for_state(connection, State::lost));
  proxy().heal();
  ASSERT_TRUE(wait_for([&] { return connection.state() != State::lost; }));
  ASSERT_TRUE(lines_.wait_for_words("no server has confirmed the session of the program's own handle"));
  EXPECT_THAT(lines_.all(), Each(Pair(::testing::_, Not(HasSubstr("new")))));
}

TEST_F(LogTest, Lines_AreSentencesWithoutAnEndTheNameOfTheLibraryOrATimeOfTheCClient) {
  Connection& connection = connect(with_sink());
  proxy().refuse(true);  // what the C client says about it is passed on, too
  ASSERT_TRUE(lines_.wait_for_words("no connection to"));
  proxy().refuse(false);
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  ASSERT_TRUE(lines_.wait_for_words("is back after"));
  EXPECT_THAT(lines_.all(),
              Each(Pair(::testing::_, AllOf(Not(HasSubstr("\n")), Not(HasSubstr("zkrecipes:")), Not(HasSubstr("..")),
                                            Not(::testing::EndsWith(".")), Not(HasSubstr("ZOO_ERROR"))))));
}

TEST_F(LogTest, LongOutage_IsNotALineForEachAttempt) {
  Connection& connection = connect(with_sink());
  for (int attempt = 0; attempt < 8; ++attempt) proxy().cut_before_request(RequestKind::connect);
  lose_connection();
  ASSERT_TRUE(proxy().wait_until_fired(kLimit));
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  ASSERT_TRUE(lines_.wait_for_words("is back after"));
  EXPECT_LE(lines_.all().size(), 3U) << "at most one about the outage, and one in addition if it took half a minute";
}

TEST_F(LogTest, AChrootThatWasMade_IsOneInfoLine) {
  Connection& connection = connect(with_sink());
  plain().remove_all(chroot());
  FairMutex mutex(connection, "/lock");
  Semaphore semaphore(connection, "/semaphore", 3);
  mutex.acquire().release();
  semaphore.acquire(3).release();
  EXPECT_THAT(lines_.all(),
              ElementsAre(Pair(LogSeverity::info, "the chroot " + chroot() + " did not exist and was made")));
}

TEST_F(LogTest, NormalRun_HasNoLine) {
  Connection& connection = connect(with_sink());
  FairMutex mutex(connection, "/lock");
  mutex.acquire().release();
  connection.close();
  EXPECT_THAT(lines_.all(), IsEmpty());
}

TEST_F(LogTest, MisusedUnlock_IsAnErrorOfItsConnectionOnly) {
  Lines others;
  Connection& connection = connect(with_sink());
  connect(with_sink(others.sink()));
  FairMutex mutex(connection, "/lock");
  RecursiveFairMutex recursive(connection, "/recursive");
  mutex.unlock();
  recursive.unlock();
  EXPECT_THAT(lines_.all(), Contains(Pair(LogSeverity::error, HasSubstr("unlock() of /lock"))));
  EXPECT_THAT(lines_.all(), Contains(Pair(LogSeverity::error, HasSubstr("unlock() of /recursive"))));
  EXPECT_THAT(others.all(), IsEmpty());
}

TEST_F(LogTest, CallbackThatThrows_IsAnErrorWithItsMessage) {
  Connection& connection = connect(with_sink());
  const Subscription subscription =
      connection.on_state_change([](State) { throw std::runtime_error("the callback is broken"); });
  lose_connection();
  ASSERT_TRUE(lines_.wait_for_words("on_state_change threw: the callback is broken"));
  EXPECT_THAT(lines_.all(), Contains(Pair(LogSeverity::error, HasSubstr("the callback is broken"))));
}

TEST_F(LogTest, SinkThatThrows_DisturbsNothing) {
  std::atomic<int> calls{0};
  Connection& connection = connect(with_sink([&](LogSeverity, const std::string&) {
    if (++calls % 2 == 0) throw std::runtime_error("the sink is broken");
    throw 1;
  }));
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  for (int round = 0; round < 3; ++round) {
    StateLog log(connection);
    lose_connection();
    ASSERT_TRUE(log.wait_for({State::suspended, State::connected}));
  }
  EXPECT_TRUE(hold.is_valid());
  EXPECT_TRUE(wait_for([&] { return calls >= 3; }));
  disconnect(connection);
}

TEST_F(LogTest, SinkThatAsksTheConnection_IsAnswered) {
  std::atomic<Connection*> asked{nullptr};
  std::atomic<int> answers{0};
  Connection& connection = connect(with_sink([&](LogSeverity, const std::string&) {
    Connection* const one = asked;
    if (one == nullptr) return;
    one->state();
    one->session_id();
    one->session_timeout();
    ++answers;
  }));
  asked = &connection;
  FairMutex mutex(connection, "/lock");
  const Hold hold = mutex.acquire();
  mutex.unlock();  // logged by this thread
  proxy().refuse(true);
  ASSERT_TRUE(wait_for_state(connection, State::suspended));
  connection.set_servers(server().address());
  ASSERT_TRUE(wait_for_state(connection, State::connected));
  expire_session(connection);
  ASSERT_TRUE(wait_for([&] { return !hold.is_valid(); }));
  EXPECT_TRUE(wait_for([&] { return answers >= 4; }));
  asked = nullptr;
  disconnect(connection);
}

TEST_F(LogTest, ProgramWithoutLogging_PrintsNothingInANormalRun) {
  const testkit::TemporaryFolder folder;
  testkit::ChildOptions child;
  child.log_file = (folder.path() / "output").string();
  testkit::ChildProcess program({ZKRECIPES_QUIET_CLIENT, server().address() + chroot()}, child);
  EXPECT_EQ(program.wait(kLimit), 0);
  std::ifstream output(child.log_file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(output), {}), "");
}

TEST(CClientLogTest, EachSinkHasItsOwnLines) {
  std::string first_line, second_line;
  const detail::CClientLog first([&](const std::string& line) { first_line = line; });
  const detail::CClientLog second([&](const std::string& line) { second_line = line; });
  first.callback()("2026-01-02 03:04:05,678:9(0xa):ZOO_ERROR@connect@12: Socket [127.0.0.1:2181]: refused");
  EXPECT_EQ(first_line, "Socket [127.0.0.1:2181]: refused") << "without the time, which the log writes, too";
  EXPECT_EQ(second_line, "");
  second.callback()("12:00:00:ZOO_INFO@connect: connected");
  EXPECT_EQ(second_line, "") << "only what is wrong";
}

// They are put into the middle of lines.
TEST(CClientLogTest, Texts_HaveNoFullStop) {
  std::string text;
  const detail::CClientLog log([&](const std::string& line) { text = line; });
  log.callback()("12:00:00:ZOO_ERROR@connect: Connection closed.\n");
  EXPECT_EQ(text, "Connection closed");
}

TEST(CClientLogTest, RepeatedLines_AreLeftOut) {
  int lines = 0;
  const detail::CClientLog log([&](const std::string&) { ++lines; });
  for (int n = 0; n < 100; ++n) log.callback()("12:00:00:ZOO_ERROR@connect: refused");
  EXPECT_EQ(lines, 1);
}

TEST(CClientLogTest, PlacesAreLimitedAndUsedAgain) {
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<detail::CClientLog>> logs;
    std::vector<int> lines(detail::CClientLog::kMost + 1);
    for (int& count : lines)
      logs.push_back(std::make_unique<detail::CClientLog>([&count](const std::string&) { ++count; }));
    for (const auto& log : logs) log->callback()("12:00:00:ZOO_ERROR@connect: refused");
    EXPECT_EQ(lines.back(), 0) << "goes to glog";
    lines.pop_back();
    EXPECT_THAT(lines, Each(1));
  }
}

}  // namespace
}  // namespace zkrecipes::testing
