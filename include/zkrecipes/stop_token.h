// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#if __cplusplus > 201703L && __has_include(<stop_token>)
#include <stop_token>
#endif

namespace zkrecipes {

namespace detail {
class StopState;
class StopTrigger;
}  // namespace detail

/// Asks whether somebody wants a wait to end. All copies of a token, and the StopSource that it came from, share one
/// state. An empty token is never stopped. Thread-safe, as a value is: each thread uses its own copy.
class StopToken {
 public:
  StopToken() noexcept;
  ~StopToken();
  StopToken(const StopToken&) noexcept;
  StopToken(StopToken&&) noexcept;
  StopToken& operator=(const StopToken&) noexcept;
  StopToken& operator=(StopToken&&) noexcept;

#ifdef __cpp_lib_jthread
  /// Stopped when the standard library's token is.
  StopToken(const std::stop_token& token);  // NOLINT(google-explicit-constructor): to be passed where a StopToken is
#endif

  bool stop_requested() const noexcept;
  bool stop_possible() const noexcept {
    return state_ != nullptr;
  }

 private:
  friend class StopSource;
  friend class detail::StopState;
  friend class detail::StopTrigger;
  explicit StopToken(std::shared_ptr<detail::StopState> state) noexcept;
  void keep(std::shared_ptr<void> what) const;  ///< as long as the state

  std::shared_ptr<detail::StopState> state_;
};

/// Ends waits of other threads: hand token() to the calls that wait, and call request_stop(). Copies share one state.
///
/// Thread-safety: all members may be called from several threads at once, callbacks of the library included. Lifetime:
/// the tokens may outlive the source, and both may be destroyed at any time: destroying a source stops nothing.
/// Blocking: nothing here blocks; request_stop() does not wait for the waits to end.
///
///     zkrecipes::StopSource stop;
///     std::thread worker([&mutex, token = stop.token()] {
///       if (auto hold = mutex.acquire(token)) work(*hold);
///     });
///     stop.request_stop();  // the worker leaves the queue
///     worker.join();
class StopSource {
 public:
  StopSource();
  StopToken token() const noexcept { return StopToken(state_); }
  /// False when it was requested before.
  bool request_stop() noexcept;
  bool stop_requested() const noexcept;

 private:
  std::shared_ptr<detail::StopState> state_;
};

namespace detail {

/// Requests a stop, unless nobody has the token any more.
class StopTrigger {
 public:
  explicit StopTrigger(const StopToken& token) noexcept : state_(token.state_) {}
  void operator()() const noexcept;

 private:
  std::weak_ptr<StopState> state_;
};

}  // namespace detail

#ifdef __cpp_lib_jthread
inline StopToken::StopToken(const std::stop_token& token) {
  if (!token.stop_possible()) return;
  *this = StopSource().token();
  keep(std::make_shared<std::stop_callback<detail::StopTrigger>>(token, detail::StopTrigger(*this)));
}
#endif

}  // namespace zkrecipes
