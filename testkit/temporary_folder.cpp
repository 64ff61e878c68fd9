// SPDX-License-Identifier: Apache-2.0
#include "testkit/temporary_folder.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace testkit {
namespace {

namespace fs = std::filesystem;

std::mutex mutex;
std::set<fs::path> folders;  // guarded by mutex
bool ending = false;         // guarded by mutex; no more folders

fs::path parent() {
  const fs::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
}

/// Looks again, because children of a server may still write files while the folder is removed.
void remove_tree(const fs::path& folder) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(3);
  for (;;) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (!fs::exists(folder, error) || std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = parent() / "zkrecipes-XXXXXX";
  std::unique_lock lock(mutex);
  while (ending) {
    lock.unlock();
    ::pause();
    lock.lock();
  }
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make a temporary folder " + name);
  path_ = name;
  folders.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  const std::lock_guard lock(mutex);
  remove_tree(path_);
  folders.erase(path_);
}

std::vector<std::string> TemporaryFolder::files() const {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path_)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

void remove_temporary_folders() noexcept {
  const std::lock_guard lock(mutex);
  ending = true;
  for (const fs::path& folder : folders) remove_tree(folder);
}

}  // namespace testkit
