// SPDX-License-Identifier: Apache-2.0
// A counter in a file, guarded by a lock, while replies are lost, connections cut and the server restarted.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>

#include "tests/recipes/lock_types.h"
#include "tests/recipes/recipe_test.h"

namespace zkrecipes::testing {
namespace {

/// ZKRECIPES_STORM_CYCLES, for longer runs.
int cycles_or(int normally) {
  const char* const asked = std::getenv("ZKRECIPES_STORM_CYCLES");
  return asked != nullptr ? std::atoi(asked) : normally;
}

/// Neither atomic nor safe in any way: it needs the lock.
class FileCounter {
 public:
  explicit FileCounter(std::string path) : path_(std::move(path)) { write(0); }
  ~FileCounter() { std::remove(path_.c_str()); }
  FileCounter(const FileCounter&) = delete;
  FileCounter& operator=(const FileCounter&) = delete;
  long read() const {
    long value = -1;
    std::ifstream(path_) >> value;
    return value;
  }
  void write(long value) { std::ofstream(path_) << value << '\n'; }

 private:
  const std::string path_;
};

template <class Lock>
class StormTest : public ControlledRecipeTest {
 protected:
  static constexpr int kConnections = 16;
  static constexpr std::chrono::milliseconds kFaultInterval{50};

  void SetUp() override {
    ControlledRecipeTest::SetUp();
    if (IsSkipped()) return;
    use_own_server();
    for (int i = 0; i < kConnections; ++i) {
      proxies_.push_back(std::make_unique<FaultProxy>(server().address()));
      // The C client waits for a sixtieth of the timeout before it connects again.
      connections_.push_back(&begin_connect(options_for(proxies_.back()->address(), 6s)));
    }
  }
  void TearDown() override {
    ControlledRecipeTest::TearDown();
    proxies_.clear();
  }
  void heal() override {
    for (const auto& proxy : proxies_) {
      proxy->clear_faults();
      proxy->heal();
    }
  }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  /// One fault every interval until `over`.
  void rage(const std::atomic<bool>& over) {
    std::mt19937 random(20260101);
    const RequestKind kinds[] = {RequestKind::create, RequestKind::get_children, RequestKind::get_data,
                                 RequestKind::remove};
    while (!over) {
      FaultProxy& proxy = *proxies_[random() % kConnections];
      const unsigned dice = random() % 100;
      if (dice == 0) {
        server().restart();
        ++restarts_;
      } else if (dice < 40) {
        proxy.cut();
        ++cuts_;
      } else {
        proxy.clear_faults();  // one in store: a client that has waited long must get a word through afterwards
        proxy.drop_reply(kinds[random() % 4]);
        ++lost_replies_;
      }
      wait_for([&] { return over.load(); }, kFaultInterval);
    }
  }

  void run(int cycles) {
    FileCounter counter(::testing::TempDir() + "zkrecipes-storm-" + std::to_string(getpid()) + "-" + Lock::kName);
    CriticalSection section;
    FencingGate gate;
    std::atomic<int> left{cycles}, refused{0}, invalid{0};
    std::atomic<bool> over{false};
    const auto start = Clock::now();
    Background faults([&] { rage(over); });
    std::vector<int> served(kConnections, 0);
    Crowd crowd(kConnections, [&](int i) {
      Lock lock(*connections_[index(i)], kPath);
      while (left.fetch_sub(1) > 0) {
        for (bool counted = false; !counted;) {
          const Hold hold = lock.acquire();
          // Only a valid hold may be believed; the gate would stop what a pause in between could do.
          if (!hold.is_valid()) {
            ++invalid;
            continue;
          }
          section.enter();
          if (!gate.admit(hold.token())) ++refused;
          counter.write(counter.read() + 1);
          section.leave();
          counted = true;
        }
        ++served[index(i)];
      }
    });
    crowd.join();
    over = true;
    faults.join();
    heal();
    const auto seconds = std::chrono::duration<double>(Clock::now() - start).count();
    EXPECT_TRUE(wait_for_nodes(kPath, 0));
    std::cout << Lock::kName << ": " << counter.read() << " of " << cycles << " cycles counted in " << seconds
              << " s by " << kConnections << " connections; " << lost_replies_ << " lost replies, " << cuts_
              << " cuts, " << restarts_ << " restarts; overlaps " << section.overlaps() << ", refused by the gate "
              << refused << ", invalid on arrival " << invalid << ", nodes left " << nodes_at(kPath).size()
              << ", served least " << *std::min_element(served.begin(), served.end()) << " times" << std::endl;
    EXPECT_EQ(counter.read(), cycles);
    EXPECT_EQ(section.entries(), cycles);
    EXPECT_EQ(section.overlaps(), 0);
    EXPECT_EQ(refused, 0);
    if (Lock::kFair) {
      EXPECT_GT(*std::min_element(served.begin(), served.end()), 0);
    }
    EXPECT_GT(lost_replies_ + cuts_, 0);
  }

 private:
  std::vector<std::unique_ptr<FaultProxy>> proxies_;
  std::vector<Connection*> connections_;
  int lost_replies_ = 0, cuts_ = 0, restarts_ = 0;
};

TYPED_TEST_SUITE(StormTest, LockTypes, LockTypeNames);

TYPED_TEST(StormTest, ACounterInAFile_IsExact) {
  this->run(cycles_or(std::string(TypeParam::kName) == "FairMutex" ? 1500 : 200));
}

}  // namespace
}  // namespace zkrecipes::testing
