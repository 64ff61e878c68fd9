// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <future>
#include <iostream>
#include <memory>
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
          "this library, of Curator, kazoo and others. SINCE says when each joined the queue. The names of\n"
          "the nodes are below PATH; zklock revoke and zklock break take them together with PATH.\n",
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
/// Each look runs on a thread of its own, so that a server that does not answer keeps nobody from ending it.
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
      begin_look();
      while (!looked_) {
        if (const auto signal = wait(signals, Clock::now() + kTick)) return end(*signal);
        if (!looked_ && Clock::now() - began_ > silence_to_mention()) mention_silence();
      }
      finish_look();
      const auto next = Clock::now() + interval_;
      while (Clock::now() < next)
        if (const auto signal = wait(signals, next)) return end(*signal);
    }
  }

 private:
  static constexpr std::chrono::milliseconds kTick{1'000};

  /// Returns when something has happened or the time is over. A signal that ends the program is returned.
  std::optional<int> wait(const Signals& signals, Clock::time_point deadline) {
    wait_readable({signals.get(), look_ended_.get()}, deadline);
    look_ended_.clear();
    bool resized = false;
    while (const auto signal = signals.next()) {
      if (Signals::ends(*signal)) return signal;
      resized = true;
    }
    if (resized && redraws_) draw();
    return std::nullopt;
  }

  void begin_look() {
    began_ = Clock::now();
    looked_ = false;
    const auto deadline = std::max(session_.patience(), began_ + interval_);
    look_ = std::async(std::launch::async, [this, deadline] {
      // Also when it ends with an exception.
      const std::shared_ptr<void> ended(nullptr, [this](void*) {
        looked_ = true;
        look_ended_.notify();
      });
      return zkrecipes::list_lock(session_.connection(), path_, deadline);
    });
  }

  void finish_look() {
    try {
      zkrecipes::LockListing found = look_.get();
      took_ = Clock::now() - began_;
      answered_ = std::chrono::system_clock::now();
      trouble_.clear();
      if (!redraws_) print(found);
      known_ = std::move(found);
    } catch (const zkrecipes::Error& error) {
      if (error.code() != zkrecipes::ErrorCode::timed_out) throw;
      return mention_silence();
    }
    if (redraws_) draw();
  }

  /// A long queue takes its time, which is no reason for a remark. An outage before, which the last look has waited
  /// out, must not hide the next one.
  Clock::duration silence_to_mention() const {
    return std::clamp<Clock::duration>(2 * took_, std::chrono::seconds(1), std::chrono::seconds(5));
  }

  void mention_silence() {
    const bool first = trouble_.empty();
    trouble_ = "no answer from the servers" +
               (known_ ? " since " + local_time(answered_) + "; this is what was known then" : std::string());
    if (first && !redraws_) say(trouble_);
    if (redraws_) draw();
  }

  /// Says good-bye to the servers, so that the session ends, but does not wait for servers that do not answer: there is
  /// nothing that the session could leave behind.
  int end(int signal) {
    const int status = signal == SIGINT ? int{kSuccess} : kSignalled + signal;
    const auto deadline = Clock::now() + std::chrono::milliseconds(500);
    const auto closing = std::async(std::launch::async, [this] { session_.connection().close(); });
    if (closing.wait_until(deadline) != std::future_status::ready) ::_exit(status);  // all output is written
    return status;
  }

  void print(const zkrecipes::LockListing& lock) {
    const std::string now = utc_time(std::chrono::system_clock::now());
    if (as_json_) {
      const std::string json = listing_json(lock, path_);
      if (json != last_json_) write(json + "\n");
      last_json_ = json;
      return;
    }
    if (!known_) write(now + "  " + path_ + "  " + summary(lock) + "\n");
    for (const std::string& each : changes(known_ ? known_->contenders : Contenders(), lock.contenders))
      write(now + "  " + printable(each) + "\n");
  }

  void draw() const {
    const Size size = terminal_size();
    const std::string state = known_ ? summary(*known_) + "  " + local_time(answered_) : "not known yet";
    // Trouble has a line of its own: behind a long path nobody would see it.
    std::string page = shortened(path_ + "  " + state, size.columns) + "\n" + shortened(trouble_, size.columns) + "\n";
    if (known_ && !known_->contenders.empty()) page += listing(known_->contenders, path_, answered_, size.columns);
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
  std::optional<zkrecipes::LockListing> known_;  // the last answer
  std::chrono::system_clock::time_point answered_;
  Clock::duration took_{};
  std::string last_json_;
  std::string trouble_;

  Clock::time_point began_;  // of the look that is under way
  std::atomic<bool> looked_{true};
  const Wakeup look_ended_;
  std::future<zkrecipes::LockListing> look_;  // last: its destructor waits for the thread
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
  const zkrecipes::LockListing found = zkrecipes::list_lock(session.connection(), path, session.patience());
  if (line.has("json")) {
    write(listing_json(found, path) + "\n");
    return kSuccess;
  }
  if (!found.exists) {
    write(path + ": there is no such node: free, or the path or chroot is wrong\n");
  } else if (found.contenders.empty()) {
    write(path + (found.not_understood == 0 ? ": free, nobody waits\n" : ": " + summary(found) + "\n"));
  } else {
    write(listing(found.contenders, path, std::chrono::system_clock::now()));
  }
  for (const std::string& each : remarks(found)) say(each);
  return kSuccess;
}

}  // namespace zklock
