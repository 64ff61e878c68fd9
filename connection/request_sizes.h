// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace zkrecipes::detail {

/// Finds out which requests are too large for the servers. A server closes the connection on a request above its
/// jute.maxbuffer, without an answer. Sending the request again for ever would cost the session and all other holds.
/// Not thread-safe: its owner guards it.
class RequestSizes {
 public:
  bool accepts(std::size_t size) const { return size <= limit_; }

  /// A request of this size was answered.
  void answered(std::size_t size);
  /// The connection was lost before a request of this size was answered.
  void lost(std::size_t size);
  /// The connection was lost, and lost() was called for all that was under way. Returns the size of a request that is
  /// too large, as this disconnect has shown; 0 if it has not.
  std::size_t disconnected();
  /// The connection was left by us, so it says nothing about sizes.
  void left() { largest_lost_ = 0; }
  /// A new session may find servers with other limits.
  void forget() { *this = {}; }

 private:
  // What the server's default jute.maxbuffer accepts, less what the C client adds to a request.
  static constexpr std::size_t kMaxBytes = 1'000'000;

  std::size_t limit_ = kMaxBytes;
  std::size_t largest_answered_ = 0;
  std::size_t largest_lost_ = 0;  // with the connection that was lost last
  int suspicious_losses_ = 0;     // in a row
};

/// For people: what was found out about a request of this size.
std::string describe_too_large(std::size_t size);

}  // namespace zkrecipes::detail
