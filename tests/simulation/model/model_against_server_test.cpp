// SPDX-License-Identifier: Apache-2.0
// The same scripts on the model and on real servers, through the same interface. What is reported must agree.
#include <chrono>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <utility>

#include "connection/zookeeper_handle.h"
#include "tests/simulation/model/ensemble.h"
#include "tests/simulation/model/script.h"
#include "tests/support/test_server.h"

namespace zkrecipes::simulation {
namespace {

class RealHost final : public ScriptHost {
 public:
  explicit RealHost(int servers) : servers_(servers, options(servers)) {}

  int servers() const override { return servers_.size(); }
  std::unique_ptr<detail::Handle> open(int /*client*/, int server, const detail::HandleSettings& settings,
                                       const std::weak_ptr<detail::HandleListener>& listener) override {
    detail::HandleSettings there = settings;
    there.address = servers_.address(server);
    return detail::open_zookeeper_handle(there, listener);
  }
  bool wait(const std::function<bool()>& condition) override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
  }
  void settle() override {}

 private:
  static zkrecipes::testing::ServerOptions options(int servers) {
    zkrecipes::testing::ServerOptions options;
    options.tick_time = std::chrono::milliseconds(500);
    for (int i = 0; i < servers; ++i) options.max_session_timeouts.push_back(longest_session(i));
    return options;
  }
  zkrecipes::testing::TestEnsemble servers_;
};

class ModelHost final : public ScriptHost {
 public:
  ModelHost(int servers, ModelMistake mistake) : ensemble_(scheduler_, trace_, options(servers, mistake)) {
    wait([this] { return ensemble_.has_quorum(); });
    settle();
  }

  int servers() const override { return ensemble_.size(); }
  std::unique_ptr<detail::Handle> open(int client, int server, const detail::HandleSettings& settings,
                                       const std::weak_ptr<detail::HandleListener>& listener) override {
    detail::HandleSettings there = settings;
    there.address = ensemble_.address(server);
    while (processes_.size() <= static_cast<std::size_t>(client))
      processes_.push_back(std::make_unique<Process>(scheduler_, static_cast<int>(processes_.size())));
    return ensemble_.connect(*processes_[static_cast<std::size_t>(client)], there, listener);
  }
  bool wait(const std::function<bool()>& condition) override {
    const Time end = scheduler_.now() + std::chrono::seconds(30);
    while (!condition())
      if (scheduler_.now() > end || !scheduler_.step()) return false;
    return true;
  }
  void settle() override { scheduler_.run_until(scheduler_.now() + std::chrono::milliseconds(500)); }

 private:
  static EnsembleOptions options(int servers, ModelMistake mistake) {
    EnsembleOptions options;
    options.servers = servers;
    options.tick = std::chrono::milliseconds(500);
    for (int i = 0; i < servers; ++i) options.max_session_timeouts.push_back(longest_session(i));
    options.mistake = mistake;
    return options;
  }
  Scheduler scheduler_{1};
  Trace trace_{scheduler_};
  std::vector<std::unique_ptr<Process>> processes_;
  Ensemble ensemble_;
};

constexpr int kRandomScripts = 210;

/// All scripts with what they gave on real servers, which is found out once.
struct Recording {
  explicit Recording(int of_servers) : servers(of_servers) {
    RealHost host(servers);
    ScriptRunner runner(host, 2);
    const auto run = [&](const std::string& root, const std::function<Script(const std::string&)>& make) {
      Run one;
      one.root = root;
      one.script = make(root);
      one.outcome = runner.run(one.script, root);
      // A server of this version now and then forgets to go on with a request until another one comes
      // (ZOOKEEPER-4537), and the client leaves it.
      for (int attempt = 1; attempt < 5 && !one.script.disconnects && has_disconnect(one.outcome); ++attempt) {
        ++repeated;
        runner.start_afresh();
        one.fresh = true;
        one.root = root + "again" + std::to_string(attempt);
        one.script = make(one.root);
        one.outcome = runner.run(one.script, one.root);
      }
      requests += one.script.requests();
      steps += one.script.steps.size();
      runs.push_back(std::move(one));
    };
    const std::size_t written = written_scripts("/", servers).size();
    for (std::size_t i = 0; i < written; ++i)
      run("/written" + std::to_string(i), [&](const std::string& root) { return written_scripts(root, servers)[i]; });
    const int random = servers == 1 ? kRandomScripts : kRandomScripts / 3;
    for (int seed = 1; seed <= random; ++seed)
      run("/random" + std::to_string(seed),
          [&](const std::string& root) { return random_script(root, static_cast<std::uint64_t>(seed), servers); });
    for (const Run& one : runs)
      for (const auto& lines : one.outcome) reports += lines.size();
    std::printf("%d server(s): %zu scripts with %zu steps, %zu requests and %zu reports; %d repeated\n", servers,
                runs.size(), steps, requests, reports, repeated);
  }

  /// Where the model differs, script by script; at most `most` of them.
  std::vector<std::string> differences(ModelMistake mistake, std::size_t most) const {
    ModelHost host(servers, mistake);
    ScriptRunner runner(host, 2);
    std::vector<std::string> result;
    for (const Run& one : runs) {
      if (result.size() >= most) break;
      if (one.fresh) runner.start_afresh();
      const ScriptOutcome outcome = runner.run(one.script, one.root);
      for (std::size_t client = 0; client < outcome.size(); ++client) {
        const std::vector<std::string>& expected = one.outcome[client];
        const std::vector<std::string>& actual = outcome[client];
        if (expected == actual) continue;
        std::size_t line = 0;
        while (line < expected.size() && line < actual.size() && expected[line] == actual[line]) ++line;
        result.push_back(one.script.name + ", client " + std::to_string(client) + ", report " + std::to_string(line) +
                         "\n  server: " + (line < expected.size() ? expected[line] : "nothing more") +
                         "\n  model:  " + (line < actual.size() ? actual[line] : "nothing more"));
        break;
      }
    }
    return result;
  }

  static bool has_disconnect(const ScriptOutcome& outcome) {
    for (const auto& lines : outcome)
      for (const std::string& line : lines)
        if (line == "disconnected") return true;
    return false;
  }

  struct Run {
    Script script;
    std::string root;
    bool fresh = false;  // with new sessions
    ScriptOutcome outcome;
  };
  const int servers;
  std::vector<Run> runs;
  int repeated = 0;
  std::size_t steps = 0;
  std::size_t requests = 0;
  std::size_t reports = 0;
};

const Recording& recording(int servers) {
  static const Recording one(1);
  static const Recording three(3);
  return servers == 1 ? one : three;
}

class ModelAgainstServer : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (zkrecipes::testing::external_servers()) GTEST_SKIP() << "needs servers that nobody else uses";
  }
};

TEST_P(ModelAgainstServer, TheSameScripts_HaveTheSameReports) {
  for (const std::string& difference : recording(GetParam()).differences(ModelMistake::none, 20))
    ADD_FAILURE() << difference;
}

INSTANTIATE_TEST_SUITE_P(Servers, ModelAgainstServer, ::testing::Values(1, 3));

/// A comparison that never fails proves nothing.
class WrongModel : public ::testing::TestWithParam<ModelMistake> {
 protected:
  void SetUp() override {
    if (zkrecipes::testing::external_servers()) GTEST_SKIP() << "needs servers that nobody else uses";
  }
};

TEST_P(WrongModel, IsFound) {
  const std::vector<std::string> differences = recording(1).differences(GetParam(), 1);
  ASSERT_FALSE(differences.empty());
  std::printf("found in %s\n", differences.front().c_str());
}

INSTANTIATE_TEST_SUITE_P(Mistakes, WrongModel,
                         ::testing::Values(ModelMistake::failed_writes_take_no_zxid,
                                           ModelMistake::sequence_counts_children,
                                           ModelMistake::exists_watch_needs_node, ModelMistake::reply_before_event,
                                           ModelMistake::ephemerals_survive_close));

}  // namespace
}  // namespace zkrecipes::simulation
