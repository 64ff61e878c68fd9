// SPDX-License-Identifier: Apache-2.0
#include "tests/support/history.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <ostream>
#include <sstream>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace zkrecipes::testing {

namespace {

using Kind = HistoryEvent::Kind;

constexpr std::array kKinds{Kind::invoke,  Kind::ok,   Kind::fail, Kind::unknown, Kind::valid,
                            Kind::release, Kind::lost, Kind::died, Kind::write};
constexpr std::array kModes{LockMode::exclusive, LockMode::read, LockMode::write, LockMode::permit};

std::optional<std::int64_t> parse_number(const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

HistoryEvent parse_line(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() != 6) throw MalformedHistory("has " + std::to_string(words.size()) + " fields, not 6");

  HistoryEvent event;
  event.process = words[0];
  const auto operation = parse_number(words[1]);
  if (!operation) throw MalformedHistory("operation '" + words[1] + "' is no number");
  event.operation = *operation;
  bool known = false;
  for (const Kind kind : kKinds)
    if (words[2] == to_string(kind)) {
      event.kind = kind;
      known = true;
    }
  if (!known) throw MalformedHistory("unknown event '" + words[2] + "'");
  known = event.kind == Kind::died && words[3] == "-";
  for (const LockMode mode : kModes)
    if (words[3] == to_string(mode)) {
      event.mode = mode;
      known = true;
    }
  if (!known) throw MalformedHistory("unknown mode '" + words[3] + "'");
  const auto time = parse_number(words[4]);
  if (!time) throw MalformedHistory("time '" + words[4] + "' is no number");
  event.time = *time;
  if (words[5] != "-") {
    event.token = parse_number(words[5]);
    if (!event.token) throw MalformedHistory("token '" + words[5] + "' is no number");
  }
  if (event.kind == Kind::write && !event.token) throw MalformedHistory("a write has no token");
  return event;
}

}  // namespace

const char* to_string(HistoryEvent::Kind kind) noexcept {
  switch (kind) {
    case Kind::invoke:
      return "invoke";
    case Kind::ok:
      return "ok";
    case Kind::fail:
      return "fail";
    case Kind::unknown:
      return "unknown";
    case Kind::valid:
      return "valid";
    case Kind::release:
      return "release";
    case Kind::lost:
      return "lost";
    case Kind::died:
      return "died";
    case Kind::write:
      return "write";
  }
  return "";
}

std::string to_line(const HistoryEvent& event) {
  std::ostringstream line;
  line << event;
  return line.str();
}

std::ostream& operator<<(std::ostream& out, const HistoryEvent& event) {
  out << event.process << ' ' << event.operation << ' ' << to_string(event.kind) << ' '
      << (event.kind == Kind::died ? "-" : to_string(event.mode)) << ' ' << event.time << ' ';
  if (event.token) return out << *event.token;
  return out << '-';
}

History read_history(std::istream& in, const std::string& name) {
  History history;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    try {
      history.push_back(parse_line(line));
    } catch (const MalformedHistory& error) {
      throw MalformedHistory(name + ", line " + std::to_string(number) + ": " + error.what());
    }
  }
  return history;
}

History read_history_files(const std::vector<std::string>& files) {
  History history;
  for (const std::string& file : files) {
    std::ifstream in(file);
    if (!in) throw MalformedHistory(file + " cannot be read");
    std::string text(std::istreambuf_iterator<char>(in), {});
    // A worker may be writing (or have been killed while writing) the last line.
    text.resize(text.rfind('\n') + 1);
    std::istringstream lines(text);
    History part = read_history(lines, file);
    history.insert(history.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  }
  return history;
}

std::int64_t history_time() {
  return history_time(std::chrono::steady_clock::now());
}

std::int64_t history_time(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

HistoryWriter::HistoryWriter(const std::string& file, std::string process)
    : file_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)), process_(std::move(process)) {
  if (file_ == -1) throw std::system_error(errno, std::generic_category(), file);
}

HistoryWriter::~HistoryWriter() {
  close(file_);
}

void HistoryWriter::append(std::int64_t operation, HistoryEvent::Kind kind, LockMode mode, std::int64_t time,
                           std::optional<std::int64_t> token) const {
  const std::string line = to_line({process_, operation, kind, mode, time, token}) + "\n";
  if (write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error(errno, std::generic_category(), "history of " + process_);
}

}  // namespace zkrecipes::testing
