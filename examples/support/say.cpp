// SPDX-License-Identifier: Apache-2.0
#include "examples/support/say.h"

#include <chrono>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <sstream>

namespace examples {

void say(const std::string& who, const std::string& what) {
  static std::mutex mutex;
  static const auto start = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::ostringstream line;
  line << std::fixed << std::setprecision(3) << std::setw(7) << seconds.count() << " s  " << std::left << std::setw(10)
       << who << ' ' << what;
  std::cout << line.str() << std::endl;
}

}  // namespace examples
