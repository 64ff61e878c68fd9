// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>
#include <zkrecipes/connection_options.h>

namespace zklock {

/// What --help prints besides the options.
struct CommandText {
  std::string usage;                  ///< "zklock ls [options] PATH"
  std::string about;                  ///< one or more sentences, broken into lines
  std::string examples;               ///< lines
  std::string advice = "see --help";  ///< when there is an option that does not exist
};

/// The command line of one command: its own options, those that all commands have, and its arguments. All failures are
/// Failure(kUsage), except those about secrets.
class CommandLine {
 public:
  explicit CommandLine(CommandText text);

  /// For adding options. Those with a default show it in --help.
  boost::program_options::options_description_easy_init add() { return own_.add_options(); }
  /// One more argument that must be given, "PATH".
  void add_argument(const std::string& name);

  /// False: the help was printed, and there is nothing to do.
  bool parse(const std::vector<std::string>& words);

  bool has(const std::string& option) const { return values_.count(option) != 0; }
  std::string text(const std::string& option) const;  ///< "" if it was not given
  std::optional<std::chrono::milliseconds> duration(const std::string& option) const;
  /// Throws Failure unless it is a number in these bounds.
  std::optional<int> number(const std::string& option, int least, int most) const;

  /// Servers, session timeout, credentials and log as the common options say.
  zkrecipes::ConnectionOptions connection() const;

 private:
  void print_help() const;

  const CommandText text_;
  boost::program_options::options_description own_{"Options"};
  boost::program_options::options_description common_{"Options of all commands"};
  std::vector<std::string> arguments_;
  boost::program_options::variables_map values_;
};

}  // namespace zklock
