// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testkit/temporary_folder.h"
#include "tests/interop/worker_process.h"
#include "tests/support/history.h"
#include "tests/support/history_checker.h"

namespace zkrecipes::testing {

enum class Language { cpp, java, python };
inline constexpr std::array kLanguages{Language::cpp, Language::java, Language::python};

const char* to_string(Language language) noexcept;

/// Worker processes of several languages and the history that they write together. All end with this object.
class Fleet {
 public:
  Fleet(std::string servers, std::chrono::milliseconds session_timeout);
  ~Fleet();

  /// Started, not yet connected; await_ready() waits for that. Its name is new each time.
  WorkerProcess& start(Language language);
  static void await_ready(WorkerProcess& worker) { worker.expect("ready", std::chrono::seconds(60)); }
  WorkerProcess& start_ready(Language language);

  /// As kill -9; its death is in the history.
  void kill(WorkerProcess& worker);
  /// In order; true if it ended well.
  bool finish(WorkerProcess& worker);

  History history() const { return read_history_files(scratch_.files()); }

 private:
  struct Member {
    std::string name;
    std::unique_ptr<WorkerProcess> process;
  };
  std::size_t index_of(const WorkerProcess& worker) const;

  const std::string servers_;
  const std::chrono::milliseconds session_timeout_;
  const testkit::TemporaryFolder scratch_;
  std::map<Language, int> started_;
  std::vector<Member> members_;
};

}  // namespace zkrecipes::testing
