// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/credentials.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sstream>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "tools/zklock/exit_codes.h"
#include "tools/zklock/say.h"

namespace zklock {
namespace {

std::optional<rlimit> core_limit_before;

std::string reason() {
  return std::generic_category().message(errno);
}

bool begins_with(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

/// Options of other tools that take a secret, and credentials in the place of anything else.
bool is_secret(const std::string& argument) {
  for (const char* name : {"--auth", "--password", "--passwd", "--secret", "--credentials", "--digest"})
    if (argument == name || begins_with(argument, std::string(name) + "=")) return true;
  const std::size_t equals = begins_with(argument, "--") ? argument.find('=') : std::string::npos;
  const std::string value = equals == std::string::npos ? argument : argument.substr(equals + 1);
  return begins_with(value, "digest:");
}

[[noreturn]] void throw_secret() {
  throw Failure(kUnsafeSecret,
                "a secret on the command line can be read by every user of this machine (ps): put it into a file "
                "(chmod 600) and use --auth-file FILE, or into the environment variable ZK_AUTH. Nothing was done; "
                "if the secret is a real one, change it");
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ >= 0) return;
    // "user:password" in the place of a file.
    const bool is_missing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
    if (is_missing && path.find(':') != std::string::npos) throw_secret();
    throw Failure(kUnsafeSecret, "the credentials in " + path + " cannot be read: " + reason());
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string content_of(const std::string& path) {
  const OpenFile file(path);
  // Of the open file, so that nobody can exchange it between the look and the reading.
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || S_ISDIR(status.st_mode))
    throw Failure(kUnsafeSecret, "the credentials in " + path + " cannot be read: not a file");
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRWXO)) != 0)
    throw Failure(kUnsafeSecret, path + " is open to every user of this machine; run: chmod 600 " + path);
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IWGRP)) != 0)
    say("warning: " + path + " is open to its group; chmod 600 closes it");
  std::string content;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0) throw Failure(kUnsafeSecret, "the credentials in " + path + " cannot be read: " + reason());
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > 1 << 20) throw Failure(kUnsafeSecret, path + " is too large for a file of credentials");
  }
}

/// With another one the line is a comment, or indented, or something else, and the servers would only refuse it.
bool is_scheme(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char each) {
    return (each < 0x80 && std::isalnum(each) != 0) || each == '_' || each == '-';
  });
}

std::vector<zkrecipes::Credential> parse(const std::string& text, const std::string& where) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // editors of Windows begin a file with it
  std::vector<zkrecipes::Credential> result;
  std::istringstream lines(begins_with(text, kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !is_scheme(line.substr(0, colon)) || colon + 1 == line.size())
      throw Failure(kUnsafeSecret,
                    "line " + std::to_string(number) + " of " + where +
                        " is no credential; write scheme:secret from its beginning, for example digest:user:password");
    // The servers would take it for the password of a user without a name, or the other way round, and refuse later.
    if (line.substr(0, colon) == "digest" && line.find(':', colon + 1) == std::string::npos)
      throw Failure(kUnsafeSecret,
                    "line " + std::to_string(number) + " of " + where + " has no password; write digest:user:password");
    result.push_back({line.substr(0, colon), line.substr(colon + 1)});
  }
  if (result.empty()) throw Failure(kUnsafeSecret, where + " has no credentials; write digest:user:password");
  return result;
}

}  // namespace

void refuse_secrets(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments)
    if (is_secret(argument)) throw_secret();
}

std::vector<zkrecipes::Credential> read_credentials(const std::string& file) {
  if (!file.empty()) return parse(content_of(file), file);
  const char* variable = std::getenv(kAuthVariable);
  if (variable == nullptr || *variable == '\0') return {};
  return parse(variable, kAuthVariable);
}

void forbid_core_files() {
  rlimit limit{};
  if (core_limit_before || ::getrlimit(RLIMIT_CORE, &limit) != 0) return;
  core_limit_before = limit;
  // At 0 the kernel still starts a program that receives cores (core(5)); at 1 it writes none either way.
  limit.rlim_cur = std::min<rlim_t>(1, limit.rlim_max);
  ::setrlimit(RLIMIT_CORE, &limit);
}

void permit_core_files_as_before() noexcept {
  if (core_limit_before) ::setrlimit(RLIMIT_CORE, &*core_limit_before);
}

}  // namespace zklock
