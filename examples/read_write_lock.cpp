// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <zkrecipes/read_write_lock.h>

#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/say.h"

namespace {

/// Counts the readers and writers inside, and the most there ever were.
class Room {
 public:
  void enter(bool writer) {
    const std::lock_guard guard(mutex_);
    (writer ? writers_ : readers_) += 1;
    most_readers_ = std::max(most_readers_, readers_);
    if (writers_ > 1 || (writers_ == 1 && readers_ > 0)) writer_was_disturbed_ = true;
  }
  void leave(bool writer) {
    const std::lock_guard guard(mutex_);
    (writer ? writers_ : readers_) -= 1;
  }
  int most_readers() const { return most_readers_; }
  bool writer_was_disturbed() const { return writer_was_disturbed_; }

 private:
  std::mutex mutex_;
  int readers_ = 0;
  int writers_ = 0;
  int most_readers_ = 0;
  bool writer_was_disturbed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  examples::Program program("read_write_lock",
                            "Readers are inside together, a writer is alone; and a writer becomes a reader without\n"
                            "letting another writer in between.");
  int readers = 3;
  program.options().number("readers", &readers, 1, 50, "how many read");

  return program.run(argc, argv, [&] {
    const std::string path = "/zkrecipes-examples/read_write_lock";
    const auto stay = [] { std::this_thread::sleep_for(std::chrono::milliseconds(150)); };
    const auto connection = program.connect("writer");
    zkrecipes::ReadWriteLock lock(*connection, path);
    Room room;

    std::unique_lock writing(lock);
    examples::say("writer", "is inside, alone; the readers come and wait");
    room.enter(true);
    examples::Crew crew;
    for (int i = 1; i <= readers; ++i)
      crew.start([&, name = "reader " + std::to_string(i)] {
        const auto own = program.connect(name);
        zkrecipes::ReadWriteLock same_lock(*own, path);
        const std::shared_lock reading(same_lock);
        room.enter(false);
        examples::say(name, "is inside");
        stay();
        room.leave(false);
      });
    stay();
    room.leave(true);
    examples::say("writer", "leaves");
    writing.unlock();
    crew.join();

    zkrecipes::Hold hold = lock.acquire_write();
    const auto token = hold.token();
    hold = lock.downgrade(std::move(hold));
    examples::say("writer", "has downgraded to reading; the token is the same: " + hold.token().to_string());
    std::cout << "most readers at once: " << room.most_readers() << " of " << readers
              << ", writer always alone: " << (room.writer_was_disturbed() ? "no" : "yes")
              << ", token kept: " << (token == hold.token() ? "yes" : "no") << std::endl;
  });
}
