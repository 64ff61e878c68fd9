// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

namespace zkrecipes {

/// A number that grows from hold to hold of a lock. Send it with each write to the resource that the lock guards, and
/// let the resource refuse smaller tokens (FencingGate): then a holder that was paused for longer than its session can
/// do no harm. A value: copy, compare and print it freely.
///
///     store.write(data, hold.token());
///
/// `zxid` is the czxid of the hold's node: 64 bits, given by consensus, growing from hold to hold of any lock of the
/// ensemble. `version` counts the holds of one lock, for stores that keep 32 bits; 0 without
/// LockOptions::version_token.
struct FencingToken {
  std::int64_t zxid = 0;
  std::int32_t version = 0;

  /// "zxid" or "zxid.version", in decimal. parse() accepts exactly the texts that to_string() returns.
  std::string to_string() const;
  static std::optional<FencingToken> parse(const std::string& text);
};

inline bool operator==(const FencingToken& a, const FencingToken& b) noexcept {
  return a.zxid == b.zxid;
}
inline bool operator!=(const FencingToken& a, const FencingToken& b) noexcept {
  return !(a == b);
}
inline bool operator<(const FencingToken& a, const FencingToken& b) noexcept {
  return a.zxid < b.zxid;
}
inline bool operator>(const FencingToken& a, const FencingToken& b) noexcept {
  return b < a;
}
inline bool operator<=(const FencingToken& a, const FencingToken& b) noexcept {
  return !(b < a);
}
inline bool operator>=(const FencingToken& a, const FencingToken& b) noexcept {
  return !(a < b);
}

std::ostream& operator<<(std::ostream& out, const FencingToken& token);

}  // namespace zkrecipes

template <>
struct std::hash<zkrecipes::FencingToken> {
  std::size_t operator()(const zkrecipes::FencingToken& token) const noexcept {
    return std::hash<std::int64_t>{}(token.zxid);
  }
};
