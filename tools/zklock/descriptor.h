// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <utility>

namespace zklock {

using Clock = std::chrono::steady_clock;

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept;

 private:
  int number_ = -1;
};

/// Throws std::system_error with errno if `result` is negative.
int checked(int result, const std::string& what);

/// Occupies standard input, output and error where they are closed. Otherwise the next thing that is opened, such as
/// the connection to a server, gets their numbers, and messages are written into it. Reading from what is put there
/// ends at once, writing fails, and a command that is executed finds them closed as they were.
void occupy_standard_descriptors() noexcept;

/// Returns when one of the descriptors can be read (or is at its end), or when the time is over. Negative descriptors
/// are ignored.
void wait_readable(std::initializer_list<int> descriptors, Clock::time_point deadline);

/// Lets any thread end wait_readable() in another.
class Wakeup {
 public:
  Wakeup();
  int get() const noexcept { return event_.get(); }
  void notify() const noexcept;
  void clear() const noexcept;

 private:
  Descriptor event_;
};

}  // namespace zklock
