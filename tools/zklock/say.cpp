// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/say.h"

#include <atomic>
#include <unistd.h>

#include "tools/zklock/text.h"

namespace zklock {
namespace {

std::atomic<Loudness> current{Loudness::normal};

}  // namespace

void set_loudness(Loudness loudness) noexcept {
  current = loudness;
}

Loudness loudness() noexcept {
  return current;
}

void complain(const std::string& line) {
  const std::string whole = "zklock: " + printable(line) + "\n";
  // In one piece, because the command writes to the same place. If that fails, there is nobody to tell.
  if (::write(STDERR_FILENO, whole.data(), whole.size()) < 0) return;
}

void say(const std::string& line) {
  if (current != Loudness::quiet) complain(line);
}

}  // namespace zklock
