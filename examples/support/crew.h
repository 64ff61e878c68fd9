// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace examples {

/// Threads whose exceptions are not lost: join() throws the first of them. Destroyed: joined.
class Crew {
 public:
  Crew() = default;
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start(std::function<void()> work);
  void join();

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::exception_ptr first_error_;  // guarded by mutex_
};

}  // namespace examples
