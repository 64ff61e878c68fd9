// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <zookeeper/zookeeper.h>

#include "bench/peers/raw_c/raw_session.h"

namespace bench {

/// The least that a fair lock must do with the C client, as the limit to compare with: create and list together, watch
/// the one ahead, delete. No retries, no recovery of lost replies, no token, no validity: not for use.
///
/// One thread, one connection, one lock at a time. Fails by ending the process.
class RawLock {
 public:
  RawLock(const std::string& address, std::string path);

  void lock();
  void unlock();            ///< does not wait for the server
  void unlock_confirmed();  ///< does

 private:
  static void on_created(int rc, const char* path, const Stat* stat, const void* self);
  static void on_listed(int rc, const String_vector* names, const void* self);
  static void on_predecessor_read(int rc, const char* value, int length, const Stat* stat, const void* self);
  static void on_predecessor_event(zhandle_t* handle, int type, int state, const char* path, void* self);
  static void on_deleted(int rc, const void* self);

  void list();
  void decide(const String_vector& names);
  void predecessor_gone();
  void set(bool RawLock::*flag);
  void await(bool RawLock::*flag);

  const std::string path_;
  const std::string prefix_;

  // Of the completion thread while lock() waits, else of the caller's.
  std::string node_;
  bool only_one_ahead_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool granted_ = false;  // guarded by mutex_, as the flag below
  bool deleted_ = false;
  RawSession session_;  // destroyed first: its thread uses all of the above
};

}  // namespace bench
