// SPDX-License-Identifier: Apache-2.0
#include "examples/support/interrupt.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#include "testkit/child_process.h"
#include "testkit/temporary_folder.h"

namespace examples {
namespace {

std::atomic<bool> interrupted{false};

std::mutex mutex;
std::vector<std::weak_ptr<zkrecipes::Connection>> connections;  // guarded by mutex

void close_connections() {
  std::vector<std::thread> closers;  // side by side: a server that does not answer costs seconds, but only once
  const std::lock_guard lock(mutex);
  for (const auto& weak : connections)
    if (auto connection = weak.lock()) closers.emplace_back([connection] { connection->close(); });
  for (std::thread& closer : closers) closer.join();
}

}  // namespace

void clean_up_on_interrupt() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  // Blocked here and in all threads to come, so that only the thread below takes them.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    interrupted = true;
    if (signal == SIGINT) std::cerr << "\ninterrupted: closing sessions and ending child processes" << std::endl;
    close_connections();
    testkit::end_children();
    testkit::remove_temporary_folders();
    ::_exit(128 + signal);
  }).detach();
}

void close_on_interrupt(const std::shared_ptr<zkrecipes::Connection>& connection) {
  const std::lock_guard lock(mutex);
  connections.erase(
      std::remove_if(connections.begin(), connections.end(), [](const auto& weak) { return weak.expired(); }),
      connections.end());
  connections.push_back(connection);
}

void yield_to_interrupt() {
  while (interrupted) ::pause();
}

}  // namespace examples
