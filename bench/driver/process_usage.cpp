// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/process_usage.h"

#include <fstream>
#include <malloc.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace bench {

namespace {

/// getrusage() would also count what the process that started this one had used.
long peak_rss_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    long value = 0;
    if (name == "VmHWM:" && status >> value) return value;
  }
  return 0;
}

}  // namespace

ProcessUsage process_usage() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), peak_rss_kb()};
}

long settled_rss_kb() {
  malloc_trim(0);
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace bench
