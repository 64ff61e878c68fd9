// SPDX-License-Identifier: Apache-2.0
#include "connection/request_sizes.h"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

namespace {
// A request is suspected of causing disconnects only if it is larger than this, and larger than any that was answered.
constexpr std::size_t kSuspectBytes = 4'096;
constexpr int kSuspectDisconnects = 5;
}  // namespace

void RequestSizes::answered(std::size_t size) {
  if (size <= largest_answered_) return;
  largest_answered_ = size;
  suspicious_losses_ = 0;
}

void RequestSizes::lost(std::size_t size) {
  largest_lost_ = std::max(largest_lost_, size);
}

std::size_t RequestSizes::disconnected() {
  const std::size_t suspect = std::exchange(largest_lost_, 0);
  if (suspect <= std::max(largest_answered_, kSuspectBytes)) {
    suspicious_losses_ = 0;
    return 0;
  }
  if (++suspicious_losses_ < kSuspectDisconnects) return 0;
  limit_ = suspect - 1;
  suspicious_losses_ = 0;
  return suspect;
}

std::string describe_too_large(std::size_t size) {
  return "the connection was lost " + std::to_string(kSuspectDisconnects) + " times in a row while a request of " +
         std::to_string(size) +
         " bytes was under way, and no request of that size was ever answered; it is not sent again; raise the "
         "server's jute.maxbuffer, or use shorter paths and a shorter identity";
}

}  // namespace zkrecipes::detail
