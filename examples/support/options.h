// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options.hpp>
#include <stdexcept>
#include <string>

namespace examples {

/// A wrong command line; what() says what would be right.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The options of one example. The variables given to number() and text() hold the defaults, and the values after
/// parse(); they must live until then.
class Options {
 public:
  Options(std::string name, std::string purpose);

  void number(const char* option, int* value, int lowest, int highest, const std::string& help);
  void text(const char* option, std::string* value, const std::string& help);
  void hidden_text(const char* option, std::string* value);  ///< for the program's own child processes

  /// False when only help was asked for, which has been printed then. Throws UsageError.
  bool parse(int argc, const char* const* argv);

  const std::string& name() const noexcept { return name_; }

 private:
  const std::string name_;
  const std::string purpose_;
  boost::program_options::options_description visible_;
  boost::program_options::options_description all_;
};

}  // namespace examples
