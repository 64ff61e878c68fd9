// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace examples {

/// A folder for the data of servers that are started for the occasion, in memory where the system offers that. Goes
/// with this object, and on Ctrl-C.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// All that are left. From then on none can be made: who tries waits for the end of the program.
void remove_temporary_folders() noexcept;

}  // namespace examples
