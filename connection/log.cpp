// SPDX-License-Identifier: Apache-2.0
// The one place that knows glog.
#include "connection/log.h"

#include <cstdio>
#include <glog/logging.h>
#include <string_view>

namespace zkrecipes {

const char* to_string(LogSeverity severity) noexcept {
  switch (severity) {
    case LogSeverity::info:
      return "info";
    case LogSeverity::warning:
      return "warning";
    case LogSeverity::error:
      return "error";
  }
  return "unknown";
}

namespace detail {

namespace {

// Not a std::string: threads may log while the program exits and static objects are destroyed.
constexpr std::string_view kName = "zkrecipes: ";

/// Texts of exceptions have the name of the library in front; lines of a sink have not.
std::string without_name(const std::string& line) {
  return line.compare(0, kName.size(), kName) == 0 ? line.substr(kName.size()) : line;
}

/// Before the program has set up its logging, glog would print a banner about that in front of the first line.
void write_to_stderr(LogSeverity severity, const std::string& line) {
  // A program that has not set up its logging wants to hear only what is wrong.
  if (severity == LogSeverity::info) return;
  std::string text(kName);
  text.append(to_string(severity)).append(": ").append(line).push_back('\n');
  std::fwrite(text.data(), 1, text.size(), stderr);  // in one piece, beside other threads
}

void write_to_glog(LogSeverity severity, const std::string& line) {
  if (!google::IsGoogleLoggingInitialized()) return write_to_stderr(severity, line);
  switch (severity) {
    case LogSeverity::info:
      LOG(INFO) << kName << line;
      break;
    case LogSeverity::warning:
      LOG(WARNING) << kName << line;
      break;
    case LogSeverity::error:
      LOG(ERROR) << kName << line;
      break;
  }
}

}  // namespace

void remove_end(std::string& line) {
  line.erase(line.find_last_not_of(" .\t\r\n") + 1);
}

void Log::write(LogSeverity severity, const std::string& line) const noexcept {
  try {
    std::string text = without_name(line);
    remove_end(text);
    if (sink_)
      sink_(severity, text);
    else
      write_to_glog(severity, text);
  } catch (...) {
    // There is nobody left to report it to.
  }
}

bool Log::shows_details() const noexcept {
  return !sink_ && google::IsGoogleLoggingInitialized() && VLOG_IS_ON(1);
}

void Log::detail(const std::string& line) const noexcept {
  if (!shows_details()) return;
  try {
    VLOG(1) << kName << line;
  } catch (...) {
    // As above.
  }
}

const Log& process_log() noexcept {
  static const auto* const log = new Log(nullptr);  // never destroyed: threads may log while the program exits
  return *log;
}

}  // namespace detail
}  // namespace zkrecipes
