// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/say.h"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/zklock/descriptor.h"
#include "tools/zklock/text.h"

namespace zklock {
namespace {

std::atomic<Loudness> current{Loudness::normal};

/// Standard error, in a way that does not block. Whether writing blocks belongs to what is open, which the command
/// shares, so a pipe and a terminal are opened again. A file is not: it would be written to from its beginning.
class Output {
 public:
  Output() {
    struct stat status {};
    if (::fstat(STDERR_FILENO, &status) != 0) return;
    is_socket_ = S_ISSOCK(status.st_mode);
    if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))
      own_ = Descriptor(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  }

  void write(const std::string& text) const {
    const auto deadline = Clock::now() + std::chrono::milliseconds(100);
    for (std::size_t at = 0; at < text.size();) {
      pollfd polled{descriptor(), POLLOUT, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0 || ::poll(&polled, 1, static_cast<int>(left)) <= 0) return;
      const char* rest = text.data() + at;
      const ssize_t written = is_socket_ ? ::send(STDERR_FILENO, rest, text.size() - at, MSG_DONTWAIT | MSG_NOSIGNAL)
                                         : ::write(descriptor(), rest, text.size() - at);
      if (written < 0 && errno != EAGAIN && errno != EINTR) return;
      if (written > 0) at += static_cast<std::size_t>(written);
    }
  }

 private:
  int descriptor() const { return own_ ? own_.get() : STDERR_FILENO; }

  bool is_socket_ = false;
  Descriptor own_;
};

}  // namespace

void set_loudness(Loudness loudness) noexcept {
  current = loudness;
}

Loudness loudness() noexcept {
  return current;
}

void complain(const std::string& line) {
  static const Output output;
  // In one piece, because the command writes to the same place.
  output.write("zklock: " + printable(line) + "\n");
}

void say(const std::string& line) {
  if (current != Loudness::quiet) complain(line);
}

}  // namespace zklock
