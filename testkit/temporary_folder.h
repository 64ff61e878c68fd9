// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace testkit {

/// A folder for the data of servers and workers that are started for the occasion, in memory where the system offers
/// that. Removed with its contents by the destructor, and by remove_temporary_folders().
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ / name; }
  std::vector<std::string> files() const;  ///< those that exist now, sorted

 private:
  std::filesystem::path path_;
};

/// Removes all that are left. A thread that makes another one from then on blocks until this program ends.
void remove_temporary_folders() noexcept;

}  // namespace testkit
