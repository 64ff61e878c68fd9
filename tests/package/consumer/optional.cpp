// SPDX-License-Identifier: Apache-2.0
//
// The headers that a program may leave alone are installed, too. One of them needs C++20, which the library does not.

#if __has_include(<version>)
#include <version>
#endif
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <zkrecipes/asio.h>
#include <zkrecipes/fair_mutex.h>

#if !__has_include(<zkrecipes/coroutine.h>)
#error "zkrecipes/coroutine.h is not installed"
#endif
#if defined(__cpp_impl_coroutine) && defined(__cpp_lib_coroutine)
#include <zkrecipes/coroutine.h>
#endif

void wait_with_asio(zkrecipes::FairMutex& mutex, boost::asio::io_context& io) {
  zkrecipes::async_acquire(mutex, {},
                           boost::asio::bind_executor(io, [](const std::exception_ptr&, zkrecipes::Hold) {}));
}
