// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zkrecipes::testing {

/// While one lives, the system has no thread to give: pthread_create() fails. For programs that are linked with
/// fake_threads.cpp.
class NoThreads {
 public:
  NoThreads();
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
};

}  // namespace zkrecipes::testing
