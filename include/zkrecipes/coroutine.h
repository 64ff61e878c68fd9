// SPDX-License-Identifier: Apache-2.0
/// @file
/// Locks for coroutines of C++20, without Asio (for coroutines of Asio, see asio.h). Optional: no other header includes
/// this one.
///
///     Task serve(zkrecipes::FairMutex& mutex) {             // Task: any coroutine type
///       zkrecipes::Hold hold = co_await mutex.acquire_async();
///       write(hold.token());
///     }
///
/// Threads: the coroutine continues on the thread where callbacks of the connection run (ConnectionOptions::executor),
/// also when the hold was there already. On a thread of the library it must not block, as a callback must not; a
/// coroutine that wants to go on elsewhere moves there.
///
/// Lifetime: destroying the suspended coroutine leaves the queue, and nothing resumes it any more. As with each
/// coroutine, nobody may destroy it while it runs or is about to be resumed on another thread: a program that destroys
/// coroutines while they wait runs callbacks on its own thread (ConnectionOptions::executor) and destroys them there.
#pragma once

#if __has_include(<version>)
#include <version>
#endif
#if !defined(__cpp_impl_coroutine) || !defined(__cpp_lib_coroutine)
#error \
    "zkrecipes/coroutine.h needs the coroutines of C++20: a compiler and a standard library that have them, and -std=c++20"
#endif

#include <coroutine>
#include <utility>

#include "zkrecipes/acquire_result.h"
#include "zkrecipes/hold.h"
#include "zkrecipes/pending_hold.h"

namespace zkrecipes {

namespace detail {

class ResultAwaiter {
 public:
  explicit ResultAwaiter(PendingHold&& pending) noexcept : pending_(std::move(pending)) {}
  bool await_ready() const noexcept { return false; }
  /// Throws std::logic_error, in the coroutine, for an empty PendingHold and for one whose result was taken. The
  /// coroutine may already have ended on another thread when on_ready() returns.
  void await_suspend(std::coroutine_handle<> coroutine) {
    pending_.on_ready([this, coroutine](AcquireResult result) {
      result_ = std::move(result);
      coroutine.resume();
    });
  }
  AcquireResult await_resume() noexcept { return std::move(result_); }

 private:
  AcquireResult result_;
  PendingHold pending_;  // destroyed first: no callback from there on
};

class HoldAwaiter : public ResultAwaiter {
 public:
  using ResultAwaiter::ResultAwaiter;
  Hold await_resume() { return ResultAwaiter::await_resume().value(); }
};

}  // namespace detail

/// Gives the Hold, and throws as PendingHold::get() does.
inline auto operator co_await(PendingHold&& pending) noexcept {
  return detail::HoldAwaiter(std::move(pending));
}

/// For co_await, too: gives the AcquireResult, which says why there is no hold instead of throwing.
///
///     zkrecipes::AcquireResult hold = co_await zkrecipes::result_of(mutex.acquire_async(options));
inline auto result_of(PendingHold pending) noexcept {
  return detail::ResultAwaiter(std::move(pending));
}

}  // namespace zkrecipes
