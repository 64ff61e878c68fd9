// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/command_line.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <system_error>

#include "tools/zklock/credentials.h"
#include "tools/zklock/duration.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"

namespace zklock {

namespace po = boost::program_options;

namespace {

std::string servers_from(const std::string& option) {
  const char* variable = std::getenv("ZK_SERVERS");
  std::string servers = !option.empty() ? option : variable != nullptr ? variable : "";
  if (servers.empty())
    throw Failure(kUsage, "which servers? Use --servers zk1:2181,zk2:2181,zk3:2181 or set ZK_SERVERS");
  if (servers.find('@') != std::string::npos)
    throw Failure(kUnsafeSecret, "a list of servers has no user or password: use --auth-file FILE or ZK_AUTH");
  return servers;
}

/// Lines of the library. What went wrong is worth a line; the rest is for --verbose.
void log(zkrecipes::LogSeverity severity, const std::string& line) {
  if (severity == zkrecipes::LogSeverity::info && loudness() != Loudness::verbose) return;
  say(std::string(severity == zkrecipes::LogSeverity::error ? "error: " : "") + line);
}

/// With "--option=" as "--option" and an empty value, as from "--option=$EMPTY" in a shell, which the parser refuses.
std::vector<std::string> with_empty_values(const std::vector<std::string>& words,
                                           const po::options_description& options) {
  std::vector<std::string> result;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool is_empty = word.rfind("--", 0) == 0 && equals != std::string::npos && equals + 1 == word.size();
    const std::string name = is_empty ? word.substr(2, equals - 2) : "";
    const po::option_description* option = name.empty() ? nullptr : options.find_nothrow(name, false);
    if (option == nullptr || option->semantic()->max_tokens() == 0) {
      result.push_back(word);
    } else {
      result.push_back("--" + name);
      result.emplace_back();
    }
  }
  return result;
}

}  // namespace

CommandLine::CommandLine(CommandText text) : text_(std::move(text)) {
  common_.add_options()("servers", po::value<std::string>()->value_name("LIST"),
                        "host:port,host:port/chroot; default: $ZK_SERVERS")(
      "timeout", po::value<std::string>()->value_name("TIME")->default_value("10s"),
      "session timeout to ask for, and how long to wait for the first connection")(
      "auth-file", po::value<std::string>()->value_name("FILE"),
      "credentials, one scheme:secret per line; default: $ZK_AUTH")("quiet,q", "write errors only")(
      "verbose,v", "write what the connection does, too")("help,h", "this text");
}

void CommandLine::add_argument(const std::string& name) {
  arguments_.push_back(name);
}

bool CommandLine::parse(const std::vector<std::string>& words) {
  refuse_secrets(words);
  po::options_description all;
  all.add(own_).add(common_);
  po::options_description hidden;
  po::positional_options_description positions;
  for (const std::string& name : arguments_) {
    hidden.add_options()(name.c_str(), po::value<std::string>());
    positions.add(name.c_str(), 1);
  }
  po::options_description everything;
  everything.add(all).add(hidden);
  // No abbreviations: they would change their meaning when options are added.
  constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    po::store(po::command_line_parser(with_empty_values(words, all))
                  .options(everything)
                  .positional(positions)
                  .style(kStyle)
                  .run(),
              values_);
  } catch (const po::too_many_positional_options_error&) {
    throw Failure(kUsage, "too many arguments; usage: " + text_.usage);
  } catch (const po::unknown_option& error) {
    // Without its value, which may be a secret for an option of another tool.
    const std::string name = error.get_option_name();
    const bool is_long = name.rfind("--", 0) == 0;
    throw Failure(kUsage,
                  "unrecognised option '" + name.substr(0, is_long ? name.find('=') : 2) + "'; " + text_.advice);
  } catch (const po::error& error) {
    throw Failure(kUsage, std::string(error.what()) + "; see --help");
  }
  if (has("help")) {
    print_help();
    return false;
  }
  if (has("quiet")) set_loudness(Loudness::quiet);
  if (has("verbose")) set_loudness(Loudness::verbose);
  for (const std::string& name : arguments_)
    if (!has(name)) throw Failure(kUsage, "no " + name + " is given; usage: " + text_.usage);
  return true;
}

std::string CommandLine::text(const std::string& option) const {
  return has(option) ? values_[option].as<std::string>() : "";
}

std::optional<std::chrono::milliseconds> CommandLine::duration(const std::string& option) const {
  if (!has(option)) return std::nullopt;
  return parse_duration(text(option), "--" + option);
}

std::optional<int> CommandLine::number(const std::string& option, int least, int most) const {
  if (!has(option)) return std::nullopt;
  const std::string given = text(option);
  const bool digits = given.find_first_not_of("0123456789") == std::string::npos;
  int value = 0;
  const bool fits = std::from_chars(given.data(), given.data() + given.size(), value).ec == std::errc();
  if (!digits || !fits || value < least || value > most)
    throw Failure(kUsage, "--" + option + " must be a number from " + std::to_string(least) + " to " +
                              std::to_string(most) + ", not '" + given + "'");
  return value;
}

zkrecipes::ConnectionOptions CommandLine::connection() const {
  zkrecipes::ConnectionOptions options;
  // As from "--servers=$PROD": ZK_SERVERS may name other servers than those that were meant.
  if (has("servers") && text("servers").empty())
    throw Failure(kUsage, "--servers is empty; name the servers, or leave the option out");
  options.servers = servers_from(text("servers"));
  options.session_timeout = *duration("timeout");
  if (has("auth-file") && text("auth-file").empty())
    throw Failure(kUnsafeSecret, "--auth-file is empty; name a file, or leave the option out");
  options.credentials = read_credentials(text("auth-file"));
  if (!options.credentials.empty()) forbid_core_files();
  options.log = log;
  return options;
}

void CommandLine::print_help() const {
  po::options_description shown;
  if (!own_.options().empty()) shown.add(own_);
  shown.add(common_);
  std::cout << "usage: " << text_.usage << "\n\n" << text_.about << "\n" << shown << "\nExamples:\n" << text_.examples;
}

}  // namespace zklock
