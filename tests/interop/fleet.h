// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/interop/child_process.h"
#include "tests/support/history.h"
#include "tests/support/history_checker.h"

namespace zkrecipes::testing {

enum class Language { cpp, java, python };
inline constexpr std::array kLanguages{Language::cpp, Language::java, Language::python};

const char* to_string(Language language) noexcept;

/// A directory that is removed, with what is in it, when this object is destroyed.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> files() const;

 private:
  std::string path_;
};

/// Worker processes of several languages and the history that they write together. All end with this object.
class Fleet {
 public:
  Fleet(std::string servers, std::chrono::milliseconds session_timeout);
  ~Fleet();

  /// Started, not yet connected; await_ready() waits for that. Its name is new each time.
  ChildProcess& start(Language language);
  static void await_ready(ChildProcess& worker) { worker.expect("ready", std::chrono::seconds(60)); }
  ChildProcess& start_ready(Language language);

  /// As kill -9; its death is in the history.
  void kill(ChildProcess& worker);
  /// In order; true if it ended well.
  bool finish(ChildProcess& worker);

  History history() const { return read_history_files(scratch_.files()); }

 private:
  struct Member {
    std::string name;
    std::unique_ptr<ChildProcess> process;
  };
  std::size_t index_of(const ChildProcess& worker) const;

  const std::string servers_;
  const std::chrono::milliseconds session_timeout_;
  const ScratchDirectory scratch_;
  std::map<Language, int> started_;
  std::vector<Member> members_;
};

}  // namespace zkrecipes::testing
