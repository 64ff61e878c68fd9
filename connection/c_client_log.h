// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace zkrecipes::detail {

/// Takes what the C client says about one handle for as long as it lives, which must be longer than the handle.
///
/// The C client calls a function that gets the text and nothing else, so only a function of its own can tell one handle
/// from another. There are kMost of them; the lines of further handles go to process_log(), as do those of handles
/// without a sink.
class CClientLog {
 public:
  static constexpr int kMost = 64;
  static constexpr const char* kSays = "the ZooKeeper C client says: ";  ///< in front of a text, in a log
  using Callback = void (*)(const char* message);
  using Sink = std::function<void(const std::string& text)>;

  /// `sink` is given what is wrong, without the C client's time, on any thread, inside the C client and perhaps with
  /// locks of the library held: it must neither block nor call either of them. Empty: process_log().
  explicit CClientLog(Sink sink);
  ~CClientLog();
  CClientLog(const CClientLog&) = delete;
  CClientLog& operator=(const CClientLog&) = delete;

  Callback callback() const noexcept { return callback_; }

 private:
  const Sink sink_;
  int slot_ = -1;
  Callback callback_;
};

}  // namespace zkrecipes::detail
