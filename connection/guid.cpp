// SPDX-License-Identifier: Apache-2.0
#include "connection/guid.h"

#include <algorithm>
#include <array>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <unistd.h>

#include "connection/fork_guard.h"

namespace zkrecipes::detail {

namespace {

/// Randomness in stock, since asking the kernel for each guid costs more than the rest of it.
class RandomBytes {
 public:
  void take(boost::uuids::uuid& into) {
    if (next_ == stock_.size() || process_.in_child()) refill();
    std::copy_n(stock_.begin() + static_cast<std::ptrdiff_t>(next_), into.size(), into.begin());
    next_ += into.size();
  }

 private:
  void refill() {
    if (::getentropy(stock_.data(), stock_.size()) != 0)
      throw std::system_error(errno, std::generic_category(), "zkrecipes: no random numbers from the kernel");
    process_ = ForkGuard();
    next_ = 0;
  }

  std::array<std::uint8_t, 256> stock_{};  // as much as getentropy() gives at a time
  std::size_t next_ = stock_.size();
  ForkGuard process_;
};

}  // namespace

std::string make_guid() {
  thread_local RandomBytes random;
  boost::uuids::uuid guid{};
  random.take(guid);
  // Version 4, variant 1, as RFC 4122 marks random ones.
  guid.data[6] = static_cast<std::uint8_t>((guid.data[6] & 0x0fU) | 0x40U);
  guid.data[8] = static_cast<std::uint8_t>((guid.data[8] & 0x3fU) | 0x80U);
  return boost::uuids::to_string(guid);
}

}  // namespace zkrecipes::detail
