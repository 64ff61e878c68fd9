// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_proxy.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <future>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <optional>
#include <sstream>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <zookeeper/zookeeper.h>

#include "tests/support/test_server.h"

namespace zkrecipes::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLimit{30'000};

/// A session of the C client. Every call is bounded by kLimit.
class Client {
 public:
  explicit Client(const std::string& address)
      : handle_(zookeeper_init(address.c_str(), nullptr, 10'000, nullptr, nullptr, 0)) {}
  ~Client() { zookeeper_close(handle_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::future<int> create(const std::string& path, const std::string& data = "", int mode = ZOO_PERSISTENT) {
    auto* const done = new std::promise<int>;
    std::future<int> result = done->get_future();
    const int sent = zoo_acreate(
        handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE, mode,
        [](int code, const char*, const void* promise) { finish(code, promise); }, done);
    if (sent != ZOK) finish(sent, done);
    return result;
  }

  std::future<int> list(const std::string& path) {
    auto* const done = new std::promise<int>;
    std::future<int> result = done->get_future();
    const int sent = zoo_aget_children(
        handle_, path.c_str(), 0, [](int code, const String_vector*, const void* promise) { finish(code, promise); },
        done);
    if (sent != ZOK) finish(sent, done);
    return result;
  }

  std::future<int> exists(const std::string& path, watcher_fn watcher = nullptr, void* context = nullptr) {
    auto* const done = new std::promise<int>;
    std::future<int> result = done->get_future();
    const int sent = zoo_awexists(
        handle_, path.c_str(), watcher, context,
        [](int code, const Stat*, const void* promise) { finish(code, promise); }, done);
    if (sent != ZOK) finish(sent, done);
    return result;
  }

  /// The number of children, or the negative code of the failure.
  int children(const std::string& path) {
    String_vector names{};
    const int code = zoo_get_children(handle_, path.c_str(), 0, &names);
    const int count = names.count;
    deallocate_String_vector(&names);
    return code == ZOK ? count : code;
  }

  std::string data(const std::string& path) {
    std::string bytes(100'000, '\0');
    int length = static_cast<int>(bytes.size());
    const int code = zoo_get(handle_, path.c_str(), 0, bytes.data(), &length, nullptr);
    bytes.resize(code == ZOK && length > 0 ? static_cast<std::size_t>(length) : 0);
    return bytes;
  }

  /// Asks again while the connection is being made anew.
  int exists_in_the_end(const std::string& path) {
    const auto limit = steady_clock::now() + kLimit;
    int code = ZCONNECTIONLOSS;
    while (code == ZCONNECTIONLOSS && steady_clock::now() < limit) {
      code = exists(path).get();
    }
    return code;
  }

  std::int64_t session_id() const { return zoo_client_id(handle_)->client_id; }

 private:
  static void finish(int code, const void* promise) {
    const std::unique_ptr<std::promise<int>> done(static_cast<std::promise<int>*>(const_cast<void*>(promise)));
    done->set_value(code);
  }

  zhandle_t* handle_;
};

sockaddr_in loopback(const std::string& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  return where;
}

/// A bare TCP connection, for what the C client cannot show.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {
    const timeval limit{kLimit.count() / 1000, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Socket() { ::close(descriptor_); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket& operator=(Socket&&) = delete;

  static Socket connected_to(const std::string& address) {
    Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
    const sockaddr_in where = loopback(address);
    if (::connect(socket.descriptor_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
      throw std::system_error(errno, std::generic_category());
    }
    return socket;
  }

  void send(const std::string& bytes) const { ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  /// Everything up to the end of the stream, or up to `most` bytes.
  std::string receive(std::size_t most = std::string::npos) {
    std::string all;
    std::array<char, 4096> room{};
    end_error_ = 0;
    while (all.size() < most) {
      const ssize_t got = ::recv(descriptor_, room.data(), std::min(room.size(), most - all.size()), 0);
      if (got <= 0) {
        end_error_ = got < 0 ? errno : 0;
        break;
      }
      all.append(room.data(), static_cast<std::size_t>(got));
    }
    return all;
  }
  /// How the last receive() ended: 0 for FIN.
  int end_error() const { return end_error_; }
  int descriptor() const { return descriptor_; }

  unsigned segments_received() const {
    tcp_info info{};
    socklen_t size = sizeof info;
    getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, &info, &size);
    return info.tcpi_data_segs_in;
  }

 private:
  int descriptor_;
  int end_error_ = 0;
};

/// A server of bytes: shows exactly what the proxy hands on.
class ByteServer {
 public:
  ByteServer() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where = loopback(":0");
    socklen_t size = sizeof where;
    (void)::bind(listener_, reinterpret_cast<const sockaddr*>(&where), size);
    ::listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  }
  ~ByteServer() { ::close(listener_); }
  ByteServer(const ByteServer&) = delete;
  ByteServer& operator=(const ByteServer&) = delete;

  const std::string& address() const { return address_; }
  Socket accept() const { return Socket(::accept(listener_, nullptr, nullptr)); }

 private:
  int listener_;
  std::string address_;
};

std::string frame_of(const std::string& payload) {
  return std::string{0, 0, static_cast<char>(payload.size() >> 8U), static_cast<char>(payload.size() & 0xffU)} +
         payload;
}

/// Asks for a new session of ten seconds: version, last zxid, timeout, session id, password.
std::string connect_request() {
  return frame_of(std::string(12, '\0') + std::string{0, 0, 0x27, 0x10} + std::string(8, '\0') +
                  std::string{0, 0, 0, 0x10} + std::string(16, '\0'));
}

class FaultProxyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    server = std::make_unique<TestServer>();
  }
  static void TearDownTestSuite() { server.reset(); }

  void SetUp() override {
    ASSERT_EQ(direct.create(root).get(), ZOK);
    ASSERT_EQ(client->create(root + "/before").get(), ZOK);
    proxy.reset_counts();
  }

  void TearDown() override {
    if (!HasFailure()) return;
    std::ostringstream out;
    for (const Observed& observed : proxy.trace()) {
      out << observed << '\n';
    }
    ADD_FAILURE() << "what passed the proxy:\n" << out.str();
  }

  static std::unique_ptr<TestServer> server;

  const std::string root = std::string("/") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string node = root + "/node";
  FaultProxy proxy{server->address()};
  Client direct{server->address()};
  std::optional<Client> client{proxy.address()};
};

std::unique_ptr<TestServer> FaultProxyTest::server;

TEST_F(FaultProxyTest, DropReply_TheServerHasTheNodeAndTheClientDoesNotKnow) {
  proxy.drop_reply(RequestKind::create);
  EXPECT_EQ(proxy.armed(), 1);
  EXPECT_EQ(client->create(node, "", ZOO_SEQUENCE).get(), ZCONNECTIONLOSS);
  EXPECT_TRUE(proxy.wait_until_fired(kLimit));
  EXPECT_EQ(direct.children(root), 2);  // with the one from SetUp
  EXPECT_EQ(client->exists_in_the_end(root + "/before"), ZOK);
  EXPECT_EQ(client->create(node).get(), ZOK) << "a fault hits once";
}

TEST_F(FaultProxyTest, DropReply_HitsTheNthRequestOfItsKindOnly) {
  proxy.drop_reply(RequestKind::create, 2);
  EXPECT_EQ(client->create(node + "1").get(), ZOK);
  EXPECT_EQ(client->list(root).get(), ZOK);
  EXPECT_FALSE(proxy.wait_until_fired(milliseconds(0)));
  EXPECT_EQ(client->create(node + "2").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(direct.exists(node + "2").get(), ZOK);
}

TEST_F(FaultProxyTest, DropReply_ArmedTwiceHitsTwoRequestsInARow) {
  proxy.drop_reply(RequestKind::create);
  proxy.drop_reply(RequestKind::create);
  EXPECT_EQ(client->create(node + "1").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 1);
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(client->create(node + "2").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 0);
  EXPECT_EQ(direct.children(root), 3);
}

TEST_F(FaultProxyTest, DropReply_LetsTheRepliesBeforeItThrough) {
  proxy.drop_reply(RequestKind::get_children);
  std::future<int> created = client->create(node);
  std::future<int> listed = client->list(root);
  EXPECT_EQ(created.get(), ZOK);
  EXPECT_EQ(listed.get(), ZCONNECTIONLOSS);
}

TEST_F(FaultProxyTest, CutRequestHalfWay_IsNeverApplied) {
  proxy.cut_request_half_way(RequestKind::create);
  EXPECT_EQ(client->create(node).get(), ZCONNECTIONLOSS);
  EXPECT_TRUE(proxy.wait_until_fired(kLimit));
  EXPECT_EQ(client->exists_in_the_end(node), ZNONODE);
  EXPECT_EQ(direct.exists(node).get(), ZNONODE);
}

TEST_F(FaultProxyTest, CutBeforeRequest_IsNeverAppliedButWhatWasSentBeforeIs) {
  proxy.cut_before_request(RequestKind::get_children);
  std::future<int> created = client->create(node);
  EXPECT_EQ(client->list(root).get(), ZCONNECTIONLOSS);
  created.wait();
  EXPECT_EQ(client->exists_in_the_end(node), ZOK);
}

TEST_F(FaultProxyTest, HoldReply_KeepsBackTheReplyAndAllBehindIt) {
  proxy.hold_reply(RequestKind::create);
  std::future<int> created = client->create(node);
  std::future<int> listed = client->list(root);
  ASSERT_TRUE(proxy.wait_until_fired(kLimit));
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 2; }, kLimit));
  EXPECT_EQ(direct.exists(node).get(), ZOK);
  EXPECT_EQ(created.wait_for(milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(listed.wait_for(milliseconds(0)), std::future_status::timeout);
  proxy.release_held();
  EXPECT_EQ(created.get(), ZOK);
  EXPECT_EQ(listed.get(), ZOK);
  EXPECT_EQ(proxy.counts().connections, 0) << "the connection lived on";
}

TEST_F(FaultProxyTest, HoldReply_CutInsteadOfReleasedIsALostReply) {
  proxy.hold_reply(RequestKind::create);
  std::future<int> created = client->create(node);
  ASSERT_TRUE(proxy.wait_until_fired(kLimit));
  proxy.cut();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(direct.exists(node).get(), ZOK);
}

TEST_F(FaultProxyTest, AnswerWithError_TheServerDoesNothingAndTheConnectionStays) {
  proxy.answer_with_error(RequestKind::create, ZTHROTTLEDOP, 2);
  EXPECT_EQ(client->create(node).get(), ZTHROTTLEDOP);
  EXPECT_EQ(client->create(node).get(), ZTHROTTLEDOP);
  EXPECT_EQ(proxy.armed(), 0);
  EXPECT_EQ(client->create(node).get(), ZOK) << "it was not carried out before";
  EXPECT_EQ(proxy.counts().connections, 0) << "the first connection is older than the counts";
  EXPECT_THROW(proxy.answer_with_error(RequestKind::ping, ZTHROTTLEDOP), std::invalid_argument);
}

TEST_F(FaultProxyTest, ClearFaults_Disarms) {
  proxy.drop_reply(RequestKind::create);
  proxy.cut_before_request(RequestKind::create, 2);
  EXPECT_EQ(proxy.armed(), 2);
  proxy.clear_faults();
  EXPECT_EQ(proxy.armed(), 0);
  EXPECT_EQ(client->create(node).get(), ZOK);
}

TEST_F(FaultProxyTest, AFaultWhoseConnectionEndsFirstStaysArmed) {
  proxy.black_hole(Direction::to_client);
  proxy.drop_reply(RequestKind::create);
  std::future<int> created = client->create(node + "1");
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 1; }, kLimit));
  proxy.heal();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 1);
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(client->create(node + "2").get(), ZCONNECTIONLOSS);
  EXPECT_EQ(proxy.armed(), 0);
}

TEST_F(FaultProxyTest, Cut_EndsConnectionsAndTheSessionComesBack) {
  const std::int64_t session = client->session_id();
  EXPECT_EQ(proxy.open_connections(), 1);
  proxy.cut();
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(proxy.counts().connections, 1);
  EXPECT_EQ(proxy.open_connections(), 1);
  EXPECT_EQ(client->session_id(), session);
}

TEST_F(FaultProxyTest, BlackHoleToClient_TheServerAppliesAndNobodyHears) {
  proxy.black_hole(Direction::to_client);
  std::future<int> created = client->create(node);
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 1; }, kLimit));
  EXPECT_EQ(direct.exists(node).get(), ZOK);
  EXPECT_EQ(proxy.counts().bytes_to_client, 0);
  EXPECT_EQ(proxy.open_connections(), 1);
  proxy.heal();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(client->exists_in_the_end(node), ZOK);
}

TEST_F(FaultProxyTest, BlackHoleToServer_TheServerHearsNothing) {
  proxy.black_hole(Direction::to_server);
  std::future<int> created = client->create(node);
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.of(RequestKind::create) == 1; }, kLimit));
  EXPECT_EQ(proxy.counts().bytes_to_server, 0);
  proxy.heal();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(client->exists_in_the_end(node), ZNONODE);
}

TEST_F(FaultProxyTest, Delay_IsPaidBothWays) {
  constexpr milliseconds kDelay{60};
  proxy.delay(kDelay);
  auto began = steady_clock::now();
  EXPECT_EQ(client->create(node).get(), ZOK);
  EXPECT_GE(steady_clock::now() - began, 2 * kDelay);

  std::vector<std::future<int>> creates;
  creates.reserve(20);
  for (int i = 0; i < 20; ++i) {
    creates.push_back(client->create(node + std::to_string(i)));
  }
  for (std::future<int>& created : creates) {
    EXPECT_EQ(created.get(), ZOK);
  }
  proxy.heal();
  EXPECT_EQ(client->list(root).get(), ZOK);
  EXPECT_EQ(proxy.counts().connections, 0) << "a delay ends without harm";
}

TEST_F(FaultProxyTest, DeliverSingleBytes_WorksEndToEnd) {
  proxy.deliver_single_bytes(true);
  const std::string data(3'000, 'z');
  EXPECT_EQ(client->create(node, data).get(), ZOK);
  EXPECT_EQ(client->data(node), data);
  EXPECT_EQ(proxy.counts().connections, 0);
}

TEST_F(FaultProxyTest, Refuse_CutsAndRefusesAndLaterListensOnTheSamePort) {
  const std::string address = proxy.address();
  const std::int64_t session = client->session_id();
  proxy.refuse(true);
  EXPECT_EQ(proxy.open_connections(), 0);
  for (int i = 0; i < 20; ++i) {
    try {
      Socket::connected_to(address);
      ADD_FAILURE() << "was accepted";
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code().value(), ECONNREFUSED);
    }
  }
  proxy.refuse(false);
  EXPECT_EQ(proxy.address(), address);
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
  EXPECT_EQ(client->session_id(), session);
  proxy.refuse(true);
  proxy.heal();
  EXPECT_EQ(client->exists_in_the_end(root), ZOK);
}

TEST_F(FaultProxyTest, Counts_TellOperationsFromTheUpkeepOfTheSession) {
  EXPECT_EQ(client->create(node).get(), ZOK);
  EXPECT_EQ(client->list(root).get(), ZOK);
  EXPECT_EQ(client->exists(node).get(), ZOK);
  {
    Client another(proxy.address());
    EXPECT_EQ(another.exists(node).get(), ZOK);
  }
  ASSERT_TRUE(proxy.wait_until_open_connections(1, kLimit));
  const FaultProxy::Counts counts = proxy.counts();
  EXPECT_EQ(counts.of(RequestKind::create), 1);
  EXPECT_EQ(counts.of(RequestKind::get_children), 1);
  EXPECT_EQ(counts.of(RequestKind::exists), 2);
  EXPECT_EQ(counts.of(RequestKind::connect), 1);
  EXPECT_EQ(counts.of(RequestKind::close_session), 1);
  EXPECT_EQ(counts.operations(), 4);
  EXPECT_EQ(counts.requests_total(), 6 + counts.of(RequestKind::ping));
  EXPECT_EQ(counts.replies, counts.requests_total());
  EXPECT_EQ(counts.connections, 1);
  EXPECT_GT(counts.bytes_to_server, 100);
  EXPECT_GT(counts.bytes_to_client, 100);
  proxy.reset_counts();
  EXPECT_EQ(proxy.counts().requests_total(), 0);
  EXPECT_TRUE(proxy.trace().empty());
}

TEST_F(FaultProxyTest, Counts_WatchEventsApart) {
  std::promise<void> seen;
  const auto watcher = [](zhandle_t*, int type, int, const char*, void* context) {
    if (type == ZOO_CREATED_EVENT) static_cast<std::promise<void>*>(context)->set_value();
  };
  EXPECT_EQ(client->exists(node, watcher, &seen).get(), ZNONODE);
  EXPECT_EQ(direct.create(node).get(), ZOK);
  ASSERT_EQ(seen.get_future().wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(proxy.counts().watch_events, 1);
  EXPECT_EQ(proxy.trace().back().sort, Message::Sort::watch_event);
  EXPECT_EQ(proxy.trace().back().path, node);
}

TEST_F(FaultProxyTest, TheTraceShowsRequestsThatWereSentBeforeTheFirstReply) {
  proxy.hold_reply(RequestKind::create);
  std::vector<Observed> observed;  // written by the proxy's thread until observe() with nothing has returned
  proxy.observe([&](const Observed& what) { observed.push_back(what); });
  std::future<int> created = client->create(node);
  std::future<int> listed = client->list(root);
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.replies == 2; }, kLimit));
  proxy.release_held();
  EXPECT_EQ(created.get(), ZOK);
  EXPECT_EQ(listed.get(), ZOK);
  proxy.observe(nullptr);

  ASSERT_EQ(observed.size(), 4U);
  EXPECT_EQ(proxy.trace().size(), 4U);
  long place = 0;
  for (const Observed& what : observed) {
    EXPECT_EQ(what.connection, 1);
    EXPECT_LE(what.time, steady_clock::now());
    EXPECT_EQ(what.path, what.kind == RequestKind::create ? node : root);
    EXPECT_EQ(what.xid, proxy.trace()[static_cast<std::size_t>(place++)].xid);
  }
  EXPECT_EQ(observed[0].kind, RequestKind::create);
  EXPECT_EQ(observed[0].sort, Message::Sort::request);
}

TEST_F(FaultProxyTest, TheObserverMayCallTheProxy) {
  proxy.observe([this](const Observed& observed) {
    if (observed.sort == Message::Sort::reply && observed.kind == RequestKind::create) {
      proxy.black_hole(Direction::to_server);
      proxy.heal();
      EXPECT_TRUE(proxy.wait_until_fired(kLimit));
      EXPECT_EQ(proxy.open_connections(), 1);
    }
  });
  client->create(node).wait();
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.connections == 1; }, kLimit));
  EXPECT_EQ(client->exists_in_the_end(node), ZOK);
}

TEST_F(FaultProxyTest, CarriesManyConnectionsAtOnce) {
  constexpr int kConnections = 256;
  std::vector<Socket> sockets;
  for (int i = 0; i < kConnections; ++i) {
    sockets.push_back(Socket::connected_to(proxy.address()));
    sockets.back().send(connect_request());
  }
  for (Socket& socket : sockets) {
    EXPECT_EQ(socket.receive(8).size(), 8U);
  }
  EXPECT_EQ(proxy.counts().of(RequestKind::connect), kConnections);
  EXPECT_EQ(proxy.open_connections(), kConnections + 1);
  sockets.clear();
  EXPECT_TRUE(proxy.wait_until_open_connections(1, kLimit));
}

TEST_F(FaultProxyTest, MayBeDestroyedWithRepliesHeldAndDelayed) {
  auto doomed = std::make_unique<FaultProxy>(server->address());
  Client caller(doomed->address());
  ASSERT_EQ(caller.create(node + "1").get(), ZOK);
  doomed->hold_reply(RequestKind::create);
  std::future<int> created = caller.create(node + "2");
  ASSERT_TRUE(doomed->wait_until_fired(kLimit));
  doomed->delay(std::chrono::hours(1));
  std::future<int> listed = caller.list(root);
  doomed.reset();
  EXPECT_EQ(created.get(), ZCONNECTIONLOSS);
  EXPECT_EQ(listed.get(), ZCONNECTIONLOSS);
}

/// What the proxy does to bytes, with bare sockets at both ends.
class FaultProxyBytes : public ::testing::Test {
 protected:
  ByteServer server;
  FaultProxy proxy{server.address()};
  Socket client = Socket::connected_to(proxy.address());
};

TEST_F(FaultProxyBytes, PassUnchangedBothWaysAndSoDoesTheEnd) {
  const std::string asked = connect_request() + frame_of("xid-type, and so on");
  client.send(asked);
  Socket upstream = server.accept();
  EXPECT_EQ(upstream.receive(asked.size()), asked);
  const std::string answered = frame_of("hello") + frame_of("a header of a reply");
  upstream.send(answered);
  { const Socket closed = std::move(upstream); }
  EXPECT_EQ(client.receive(), answered);
  EXPECT_EQ(client.end_error(), 0);
  EXPECT_TRUE(proxy.wait_until_open_connections(0, kLimit));
}

TEST_F(FaultProxyBytes, CutRequestHalfWay_SendsHalf) {
  proxy.cut_request_half_way(RequestKind::connect);
  client.send(connect_request());
  EXPECT_EQ(server.accept().receive(), connect_request().substr(0, connect_request().size() / 2));
  EXPECT_EQ(client.receive(), "");
}

TEST_F(FaultProxyBytes, SingleBytes_ComeInManySegments) {
  client.send(connect_request());
  Socket upstream = server.accept();
  upstream.receive(connect_request().size());
  EXPECT_EQ(upstream.segments_received(), 1U);
  proxy.deliver_single_bytes(true);
  const std::string next = frame_of("a request in single bytes");
  client.send(next);
  EXPECT_EQ(upstream.receive(next.size()), next);
  EXPECT_GT(upstream.segments_received(), 2U);
}

TEST_F(FaultProxyBytes, CutIsFinAndResetIsRst) {
  Socket upstream = server.accept();
  proxy.cut();
  EXPECT_EQ(client.receive(), "");
  EXPECT_EQ(client.end_error(), 0);
  EXPECT_EQ(upstream.receive(), "");
  EXPECT_EQ(upstream.end_error(), 0);

  Socket second = Socket::connected_to(proxy.address());
  Socket second_upstream = server.accept();
  ASSERT_TRUE(proxy.wait_until_open_connections(1, kLimit));
  proxy.reset();
  EXPECT_EQ(second.receive(), "");
  EXPECT_EQ(second.end_error(), ECONNRESET);
  EXPECT_EQ(second_upstream.receive(), "");
  EXPECT_EQ(second_upstream.end_error(), ECONNRESET);
}

TEST_F(FaultProxyBytes, BlackHole_SwallowsNewConnectionsAndTheirEnd) {
  proxy.black_hole();
  Socket second = Socket::connected_to(proxy.address());
  second.send(connect_request());
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.of(RequestKind::connect) == 1; }, kLimit));
  { const Socket left = std::move(second); }
  ASSERT_TRUE(proxy.wait_until_open_connections(1, kLimit));

  Socket first_upstream = server.accept();
  Socket second_upstream = server.accept();
  char byte = 0;
  EXPECT_EQ(::recv(second_upstream.descriptor(), &byte, 1, MSG_DONTWAIT), -1) << "nothing, and no end either";
  EXPECT_EQ(errno, EAGAIN);
  proxy.heal();
  EXPECT_EQ(second_upstream.receive(), "");
  EXPECT_EQ(first_upstream.receive(), "");
  EXPECT_EQ(client.receive(), "");
}

TEST_F(FaultProxyBytes, NeverAnswer_AcceptsAndReadsNothingAndCutsInTheEnd) {
  Socket upstream = server.accept();
  proxy.never_answer(true);
  Socket unheard = Socket::connected_to(proxy.address());
  unheard.send(connect_request());
  ASSERT_TRUE(proxy.wait_until_open_connections(2, kLimit));
  client.send(connect_request());
  EXPECT_EQ(upstream.receive(connect_request().size()), connect_request()) << "older connections are unharmed";
  proxy.never_answer(false);
  EXPECT_EQ(unheard.receive(), "");
  EXPECT_EQ(proxy.counts().of(RequestKind::connect), 1);
  EXPECT_EQ(proxy.open_connections(), 1);
}

TEST_F(FaultProxyBytes, SetUpstream_AppliesToNewConnections) {
  Socket upstream = server.accept();
  const ByteServer elsewhere;
  proxy.set_upstream(elsewhere.address());
  Socket second = Socket::connected_to(proxy.address());
  second.send(connect_request());
  EXPECT_EQ(elsewhere.accept().receive(4).size(), 4U);
  client.send(connect_request());
  EXPECT_EQ(upstream.receive(4).size(), 4U);
}

TEST_F(FaultProxyBytes, AServerThatIsNotThereClosesTheConnection) {
  std::string nowhere;
  {
    const ByteServer gone;
    nowhere = gone.address();
  }
  proxy.set_upstream(nowhere);
  EXPECT_EQ(Socket::connected_to(proxy.address()).receive(), "");
}

TEST_F(FaultProxyBytes, MalformedFromEitherSideClosesThatConnectionOnly) {
  Socket upstream = server.accept();
  Socket second = Socket::connected_to(proxy.address());
  Socket second_upstream = server.accept();
  client.send("\xff\xff\xff\xff and more");
  EXPECT_EQ(client.receive(), "");
  EXPECT_EQ(upstream.receive(), "");

  second.send(connect_request());
  EXPECT_EQ(second_upstream.receive(connect_request().size()), connect_request());
  second_upstream.send("\x7f\xff\xff\xff");
  EXPECT_EQ(second.receive(), "");
  EXPECT_TRUE(proxy.wait_until_open_connections(0, kLimit));
}

TEST(FaultProxyInput, BadInputThrowsAtOnce) {
  for (const char* const bad :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:70000", "localhost:1", "127.0.0.1:1x"}) {
    EXPECT_THROW(FaultProxy{bad}, std::invalid_argument) << bad;
  }
  FaultProxy proxy("127.0.0.1:1");
  EXPECT_THROW(proxy.drop_reply(RequestKind::create, 0), std::invalid_argument);
  EXPECT_THROW(proxy.set_upstream("nowhere"), std::invalid_argument);
  EXPECT_EQ(proxy.armed(), 0);
}

}  // namespace
}  // namespace zkrecipes::testing
