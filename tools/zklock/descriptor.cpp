// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace zklock {

void Descriptor::reset() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

int checked(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

void occupy_standard_descriptors() noexcept {
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // The lowest number that is free is taken, and those below this one are in use by now.
    if (::fcntl(each, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY | O_CLOEXEC) != each) return;
}

void wait_readable(std::initializer_list<int> descriptors, Clock::time_point deadline) {
  std::vector<pollfd> polled;
  for (const int each : descriptors) polled.push_back({each, POLLIN, 0});
  int timeout = -1;
  if (deadline != Clock::time_point::max()) {
    // Rounded up, so that the time is over when this returns.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    timeout = static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
  }
  if (::poll(polled.data(), polled.size(), timeout) < 0 && errno != EINTR) checked(-1, "poll");
}

Wakeup::Wakeup() : event_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

void Wakeup::notify() const noexcept {
  const std::uint64_t one = 1;
  if (::write(event_.get(), &one, sizeof one) < 0) return;  // the counter is full: it is awake
}

void Wakeup::clear() const noexcept {
  std::uint64_t count = 0;
  if (::read(event_.get(), &count, sizeof count) < 0) return;  // it was not notified
}

}  // namespace zklock
