// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>
#include <zkrecipes/contenders.h>

#include "tools/zklock/command_line.h"
#include "tools/zklock/commands.h"
#include "tools/zklock/exit_codes.h"
#include "tools/zklock/listing.h"
#include "tools/zklock/say.h"
#include "tools/zklock/session.h"
#include "tools/zklock/signals.h"
#include "tools/zklock/text.h"

namespace zklock {

namespace po = boost::program_options;

namespace {

CommandText text() {
  return {"zklock ls PATH [options]",
          "Shows who holds the lock at PATH and who waits for it, in the order of the queue: clients of\n"
          "this library, of Curator, kazoo and others. The names of the nodes are below PATH; zklock revoke\n"
          "and zklock break take them together with PATH.\n",
          "  zklock ls /locks/backup\n"
          "  zklock ls /locks/backup --json | jq -r '.contenders[] | select(.holds) | .identity'\n"
          "  zklock ls /locks/backup --watch               # until Ctrl-C\n"};
}

void write(const std::string& text) {
  std::cout << text << std::flush;
  if (!std::cout) throw Failure(kFailure, "standard output cannot be written to");
}

struct Size {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

std::string first_lines(const std::string& text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at = text.find('\n', at) + 1;
  return text.substr(0, at);
}

/// Shows the queue again and again until a signal ends it: redraws a terminal, and elsewhere prints what has changed.
class Watch {
 public:
  Watch(Session& session, std::string path, bool as_json, std::chrono::milliseconds interval)
      : session_(session),
        path_(std::move(path)),
        as_json_(as_json),
        interval_(interval),
        redraws_(!as_json && ::isatty(STDOUT_FILENO) != 0) {}

  int run(const Signals& signals) {
    session_.connect(signals);
    for (;;) {
      look();
      const auto next = Clock::now() + interval_;
      while (Clock::now() < next) {
        wait_readable({signals.get()}, next);
        bool resized = false;
        while (const auto signal = signals.next()) {
          if (Signals::ends(*signal)) return *signal == SIGINT ? kSuccess : kSignalled + *signal;
          resized = true;
        }
        if (resized && redraws_) draw();
      }
    }
  }

 private:
  void look() {
    std::string trouble;
    try {
      const auto deadline = Clock::now() + std::max(interval_, std::chrono::milliseconds(1'000));
      Contenders line = zkrecipes::contenders(session_.connection(), path_, deadline);
      if (!redraws_) print(line);
      line_ = std::move(line);
    } catch (const zkrecipes::Error& error) {
      if (error.code() != zkrecipes::ErrorCode::timed_out) throw;
      trouble = "no answer from the servers; this is what was known before";
      if (trouble != trouble_ && !redraws_) say(trouble);
    }
    trouble_ = trouble;
    if (redraws_) draw();
  }

  void print(const Contenders& line) {
    const std::string now = utc_time(std::chrono::system_clock::now());
    if (as_json_) {
      const std::string json = listing_json(line, path_);
      if (json != last_json_) write(json + "\n");
      last_json_ = json;
      return;
    }
    if (first_) write(now + "  " + path_ + "  " + summary(line) + "\n");
    first_ = false;
    for (const std::string& each : changes(line_, line)) write(now + "  " + printable(each) + "\n");
  }

  void draw() const {
    const Size size = terminal_size();
    const auto now = std::chrono::system_clock::now();
    std::string page = shortened(path_ + "  " + summary(line_) + "  " + local_time(now) +
                                     (trouble_.empty() ? "" : "  (" + trouble_ + ")"),
                                 size.columns) +
                       "\n\n";
    if (!line_.empty()) page += listing(line_, path_, now, size.columns);
    page = first_lines(page, size.lines - 1);
    // Each line is cleared to its end, and the rest of the screen at the end: that does not flicker.
    std::string out = "\x1b[H";
    for (const char each : page) out += each == '\n' ? std::string("\x1b[K\n") : std::string(1, each);
    write(out + "\x1b[J");
  }

  Session& session_;
  const std::string path_;
  const bool as_json_;
  const std::chrono::milliseconds interval_;
  const bool redraws_;
  Contenders line_;
  std::string last_json_;
  std::string trouble_;
  bool first_ = true;
};

}  // namespace

int ls(const std::vector<std::string>& words) {
  CommandLine line(text());
  line.add_argument("PATH");
  line.add()("json", "one JSON object")("watch", "go on and show changes until Ctrl-C")(
      "interval", po::value<std::string>()->value_name("TIME")->default_value("1s"), "how often --watch looks");
  if (!line.parse(words)) return kSuccess;
  const std::string path = line.text("PATH");
  const auto interval = std::max(*line.duration("interval"), std::chrono::milliseconds(100));
  if (line.has("watch")) {
    const Signals signals;
    Session session(line.connection());
    try {
      return Watch(session, path, line.has("json"), interval).run(signals);
    } catch (const Interrupted& interrupted) {
      return kSignalled + interrupted.signal;
    }
  }
  Session session(line.connection());
  session.connect();
  const Contenders found = zkrecipes::contenders(session.connection(), path, session.patience());
  if (line.has("json")) {
    write(listing_json(found, path) + "\n");
  } else if (found.empty()) {
    write(path + ": free, nobody waits\n");
  } else {
    write(listing(found, path, std::chrono::system_clock::now()));
  }
  return kSuccess;
}

}  // namespace zklock
