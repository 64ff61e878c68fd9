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

template <class Lock>
void lock_in_time(Lock& lock) {
  static_cast<void>(lock.try_lock_for(std::chrono::seconds(1)));
  static_cast<void>(lock.try_lock_for(std::chrono::duration<float>(1.5F)));
  static_cast<void>(lock.try_lock_until(std::chrono::steady_clock::now()));
  static_cast<void>(lock.try_lock_until(std::chrono::system_clock::now()));
}

template <class Lock>
void lock_shared_in_time(Lock& lock) {
  static_cast<void>(lock.try_lock_shared_for(std::chrono::seconds(1)));
  static_cast<void>(lock.try_lock_shared_for(std::chrono::duration<float>(1.5F)));
  static_cast<void>(lock.try_lock_shared_until(std::chrono::steady_clock::now()));
  static_cast<void>(lock.try_lock_shared_until(std::chrono::system_clock::now()));
}

void wait_for_each_kind(zkrecipes::FairMutex& fair, zkrecipes::SimpleLock& simple, zkrecipes::Semaphore& semaphore) {
  wait_in_time(fair);
  wait_in_time(simple);
  wait_in_time(semaphore);
  static_cast<void>(semaphore.try_acquire_for(2, std::chrono::minutes(1)));
  static_cast<void>(semaphore.try_acquire_until(2, std::chrono::system_clock::now()));
}

void wait_for_each_side(zkrecipes::ReadWriteLock& lock) {
  static_cast<void>(lock.try_acquire_read_for(std::chrono::minutes(1)));
  static_cast<void>(lock.try_acquire_read_until(std::chrono::system_clock::now()));
  static_cast<void>(lock.try_acquire_write_for(std::chrono::minutes(1)));
  static_cast<void>(lock.try_acquire_write_until(std::chrono::system_clock::now()));
}

void lock_each_kind(zkrecipes::FairMutex& fair, zkrecipes::SimpleLock& simple, zkrecipes::ReadWriteLock& sides,
                    zkrecipes::RecursiveFairMutex& again, zkrecipes::RecursiveReadWriteLock& sides_again) {
  lock_in_time(fair);
  lock_in_time(simple);
  lock_in_time(sides);
  lock_in_time(again);
  lock_in_time(sides_again);
  lock_shared_in_time(sides);
  lock_shared_in_time(sides_again);
}

void release_in_time(zkrecipes::Hold& hold) {
  static_cast<void>(hold.release_for(std::chrono::microseconds(1)));
  static_cast<void>(hold.release_for(std::chrono::duration<float>(1.5F)));
  static_cast<void>(hold.release_until(std::chrono::system_clock::now()));
}

void ask_in_time(zkrecipes::Connection& connection) {
  const auto deadline = std::chrono::system_clock::now() + std::chrono::seconds(1);
  static_cast<void>(zkrecipes::contenders(connection, "/lock", deadline));
  static_cast<void>(zkrecipes::holder(connection, "/lock", deadline));
  static_cast<void>(zkrecipes::list_lock(connection, "/lock", deadline));
  static_cast<void>(zkrecipes::owner_of(connection, "/lock", deadline));
  zkrecipes::request_revoke(connection, "/lock/node", deadline);
}
