// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <string>

#include "examples/support/program.h"

namespace pause_example {

/// A process that takes the lock, reads the number in the store, and writes it back with `amount` added.
struct WriterSpec {
  char name = '?';
  int amount = 0;
  bool checks_validity = false;
  std::string waits_before = "nothing";  ///< "check", "write" or "nothing": where it reports and waits for a word
  int session_timeout = 0;               ///< milliseconds
  std::string path;                      ///< of the lock
  std::string store_port;

  std::string encode() const;
  static WriterSpec decode(std::istream& words);
};

/// Reports each step on standard output. Ends when the update is in the store, or when standard input does.
void run_writer(examples::Program& program, const WriterSpec& spec);

}  // namespace pause_example
