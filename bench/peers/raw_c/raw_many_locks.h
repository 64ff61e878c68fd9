// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/driver/driver.h"
#include "bench/peers/raw_c/raw_session.h"
#include "bench/workloads/countdown.h"

namespace bench {

/// As many different locks as there are cycles, all asked for at once: create and list, and delete when they are
/// answered. Over when the last delete is confirmed.
class RawManyLocks : public Workload {
 public:
  explicit RawManyLocks(const DriverOptions& options);
  void run(long cycles) override;

 private:
  struct Lock {
    RawManyLocks* owner;
    std::string path;
    std::string prefix;
    std::string node;  // of the completion thread
  };
  static void on_parent_created(int rc, const char* path, const void* lock);
  static void on_created(int rc, const char* path, const Stat* stat, const void* lock);
  static void on_listed(int rc, const String_vector* names, const void* lock);
  static void on_deleted(int rc, const void* lock);

  std::vector<std::unique_ptr<Lock>> locks_;
  Countdown left_;
  RawSession session_;  // destroyed first: its thread uses all of the above
};

}  // namespace bench
