// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_threads.h"

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>

namespace {
std::atomic<int> refusing{0};
}

namespace zkrecipes::testing {

NoThreads::NoThreads() {
  ++refusing;
}

NoThreads::~NoThreads() {
  --refusing;
}

}  // namespace zkrecipes::testing

// Takes the place of the C library's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return refusing > 0 ? EAGAIN : real(thread, attributes, start, argument);
}
