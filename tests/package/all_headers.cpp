// SPDX-License-Identifier: Apache-2.0
//
// All public headers at once, and uses of their templates, so that a compiler can warn about them.

#if __has_include(<version>)
#include <version>
#endif
#include <all_headers.h>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <utility>

#if defined(__cpp_impl_coroutine) && defined(__cpp_lib_coroutine)
#include <zkrecipes/coroutine.h>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

Task wait_in_a_coroutine(zkrecipes::FairMutex& mutex) {
  const zkrecipes::Hold hold = co_await mutex.acquire_async();
  const zkrecipes::AcquireResult result = co_await zkrecipes::result_of(mutex.acquire_async());
}
#endif

#ifdef BOOST_ASIO_HAS_CO_AWAIT
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

boost::asio::awaitable<void> wait_in_asio(zkrecipes::FairMutex& mutex) {
  const zkrecipes::Hold first = co_await zkrecipes::async_acquire(mutex, {}, boost::asio::use_awaitable);
  const zkrecipes::Hold second = co_await zkrecipes::async_wait(mutex.acquire_async(), boost::asio::use_awaitable);
}
#endif

void wait_with_tokens(zkrecipes::FairMutex& mutex, boost::asio::io_context& io) {
  const auto handler = [] { return [only = std::make_unique<int>()](std::exception_ptr, zkrecipes::Hold) {}; };
  zkrecipes::async_acquire(mutex, {}, handler());
  zkrecipes::async_acquire(mutex, {}, boost::asio::bind_executor(io, handler()));
  zkrecipes::async_wait(mutex.acquire_async(), boost::asio::bind_executor(boost::asio::make_strand(io), handler()));
  std::future<zkrecipes::Hold> hold = zkrecipes::async_acquire(mutex, {}, boost::asio::use_future);
  boost::asio::spawn(io, [&mutex](boost::asio::yield_context yield) {
    const zkrecipes::Hold first = zkrecipes::async_acquire(mutex, {}, yield);
    const zkrecipes::Hold second = zkrecipes::async_wait(mutex.acquire_async(), yield);
  });
}

template <class Lock>
void wait_in_time(Lock& lock) {
  static_cast<void>(lock.try_acquire_for(std::chrono::minutes(1)));
  static_cast<void>(lock.try_acquire_for(std::chrono::duration<float>(1.5F)));
  static_cast<void>(lock.try_acquire_until(std::chrono::system_clock::now()));
  static_cast<void>(lock.acquire_async().wait_for(std::chrono::microseconds(1)));
}

void wait_for_each_kind(zkrecipes::FairMutex& fair, zkrecipes::SimpleLock& simple, zkrecipes::Semaphore& semaphore) {
  wait_in_time(fair);
  wait_in_time(simple);
  wait_in_time(semaphore);
  static_cast<void>(fair.try_lock_for(std::chrono::seconds(1)));
  static_cast<void>(fair.try_lock_until(std::chrono::steady_clock::now()));
}
