// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/guardian_process.h"

#include <algorithm>
#include <cerrno>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tools/zklock/boot_clock.h"
#include "tools/zklock/child.h"
#include "tools/zklock/descriptor.h"
#include "tools/zklock/process_name.h"
#include "tools/zklock/process_tree.h"
#include "tools/zklock/terminal.h"

namespace zklock {
namespace {

constexpr std::chrono::milliseconds kMoment{20};
/// How long a process whose parent, the command, has exited has to leave the session. In daemon(3) the parent exits
/// first, and the child calls setsid() then.
constexpr std::chrono::milliseconds kTimeToLeave{200};

/// Who a signal is for.
enum class Scope {
  all,      ///< everything below the guardian, daemons included
  session,  ///< without processes that have left the session on purpose (setsid), as daemons do
};

class GuardianProcess {
 public:
  GuardianProcess(int socket, const GuardianSettings& settings, SharedLease& lease)
      : socket_(socket), settings_(settings), lease_(lease) {
    // Not found by "pkill -9 zklock": whoever kills zklock must not kill the one that then ends the command.
    rename_process("lock-guard");
    checked(::prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
    // So that Ctrl-C, while zklock waits for the lock, is not for the guardian, too.
    checked(::setpgid(0, 0), "setpgid");
    ::signal(SIGCHLD, SIG_DFL);  // whoever ignores it is not told how children end
    sigset_t children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    checked(::sigprocmask(SIG_BLOCK, &children, nullptr), "sigprocmask");
    alarm_ = Descriptor(checked(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"));
    child_events_ = Descriptor(checked(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
  }

  /// Until zklock is done, or dead.
  int run() {
    while (!over_) {
      set_alarm();
      wait_readable({socket_, child_events_.get(), alarm_.get()}, next_time());
      reap();
      read_orders();
      look_at_the_time();
    }
    return 0;
  }

 private:
  void read_orders() {
    while (!over_) {
      const ssize_t got = ::recv(socket_, packet_.data(), packet_.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (got <= 0) {
        if (!clean_) end_without_zklock();
        over_ = true;
        return;
      }
      obey(static_cast<Order>(packet_[0]), packet_.substr(1, static_cast<std::size_t>(got) - 1));
    }
  }

  void end_without_zklock() {
    // At once: a script around zklock goes on by now, and would be stopped when it reads from the terminal.
    take_terminal_back(command_, group_of_zklock_);
    kill_descendants();
    // If the command was a shell, one of its jobs may have had the terminal.
    take_terminal_back(command_, group_of_zklock_);
  }

  void obey(Order order, const std::string& rest) {
    switch (order) {
      case Order::start:
        return start(rest);
      case Order::signal:
        return pass_on(static_cast<unsigned char>(rest.at(0)));
      case Order::lost:
        return lose();
      case Order::end:
        return end(SIGTERM, kill_after(), Scope::all);
      case Order::finish:
        finishing_ = true;
        finish_by_ = Clock::now() + kill_after();
        leave_by_ = Clock::now() + kTimeToLeave;
        if (rest.at(0) == '1') scope_ = Scope::all;
        return;
      case Order::done:
        over_ = true;
        return;
    }
  }

  void start(const std::string& rest) {
    const bool needs_lease = settings_.on_lost != OnLost::ignore;
    // zklock, or this process, may have been stopped since the lock was granted.
    if (needs_lease && BootClock::now() >= lease_end()) return report(Report::Kind::too_late, 0);
    ChildSpec spec;
    spec.command = settings_.command;
    spec.signal_mask = settings_.original_mask;
    spec.ignores_pipe = settings_.ignores_pipe;
    spec.takes_terminal = rest.at(0) == '1';
    for (std::size_t at = 1; at < rest.size();) {
      const std::size_t end = rest.find('\0', at);
      spec.environment.push_back(rest.substr(at, end - at));
      at = end + 1;
    }
    const StartedChild child = start_child(spec);
    if (child.error != 0) return report(Report::Kind::not_started, child.error);
    command_ = child.process;
    watching_lease_ = needs_lease;
    report(Report::Kind::started, child.process);
  }

  void pass_on(int signal) const {
    if (command_ == 0) return;
    ::kill(-command_, signal);
    // A process that is stopped would not notice before somebody continues it.
    if (signal == SIGTERM || signal == SIGHUP) ::kill(-command_, SIGCONT);
  }

  void lose() {
    watching_lease_ = false;
    if (settings_.on_lost == OnLost::ignore) return;
    end(settings_.on_lost == OnLost::kill ? SIGKILL : SIGTERM,
        settings_.kill_after.value_or(std::chrono::milliseconds(lease_.grace)), Scope::all);
  }

  void reap() {
    signalfd_siginfo info{};
    while (::read(child_events_.get(), &info, sizeof info) > 0) continue;
    int status = 0;
    for (pid_t ended; (ended = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
      if (ended != command_) continue;
      if (WIFSTOPPED(status)) {
        report(Report::Kind::stopped, WSTOPSIG(status));
      } else {
        command_ = 0;
        report(Report::Kind::ended, status);
      }
    }
  }

  /// The first signal now, SIGKILL after a while. If that is already under way, the earlier time counts, and the first
  /// signal is sent again only if it is for more processes than before.
  void end(int signal, std::chrono::milliseconds kill_after, Scope scope) {
    const bool for_more = scope == Scope::all && scope_ != Scope::all;
    if (for_more) scope_ = Scope::all;
    const auto kill_at = signal == SIGKILL ? Clock::now() : Clock::now() + kill_after;
    kill_at_ = ending_ ? std::min(kill_at_, kill_at) : kill_at;
    if (std::exchange(ending_, true) && !for_more && signal != SIGKILL) return;
    send(signal);
    send(SIGCONT);
  }

  void look_at_the_time() {
    const Clock::time_point now = Clock::now();
    if (watching_lease_ && BootClock::now() >= lease_end()) {
      report(Report::Kind::lease_over, 0);
      lose();
    }
    if (ending_ && now >= kill_at_) send(SIGKILL);
    if (!finishing_ || command_ != 0) return;
    const Descendants left = targets();
    // Look again.
    if (left.found.empty() && (child_has_ended() || (!left.complete && now < finish_by_))) return;
    if (left.found.empty()) {
      finishing_ = false;
      watching_lease_ = false;
      ending_ = false;
      clean_ = true;
      report(Report::Kind::clean, 0);
    } else if (!ending_ && (scope_ == Scope::all || now >= leave_by_)) {
      report(Report::Kind::leftovers, static_cast<std::int32_t>(left.found.size()));
      end(SIGTERM, kill_after(), scope_);
    }
  }

  /// Since reap(). A list of processes that was made meanwhile may lack those that this child has started: they were
  /// not there yet when the names were read, and it was not there any more when its turn came.
  static bool child_has_ended() {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
  }

  /// Of a signal that ends.
  Descendants targets() const {
    Descendants result = descendants(::getpid());
    if (scope_ == Scope::all) return result;
    const pid_t session = ::getsid(0);
    const auto left_session = [&](const Process& each) { return each.session != session; };
    result.found.erase(std::remove_if(result.found.begin(), result.found.end(), left_session), result.found.end());
    return result;
  }

  /// Once to each: a command may take a second TERM for impatience.
  void send(int signal) const {
    std::vector<pid_t> others;
    for (const Process& each : targets().found) others.push_back(each.id);
    // The command and its group are known without a list of processes, which may fail, and lacks those that the group
    // has started meanwhile.
    if (command_ != 0) {
      ::kill(-command_, signal);
      if (std::find(others.begin(), others.end(), command_) == others.end()) others.push_back(command_);
    }
    for (const pid_t each : others)
      if (command_ == 0 || ::getpgid(each) != command_) ::kill(each, signal);
  }

  std::chrono::milliseconds kill_after() const { return settings_.kill_after.value_or(kKillAfter); }

  BootClock::time_point lease_end() const {
    return BootClock::time_point(std::chrono::nanoseconds(lease_.valid_until.load()));
  }

  /// For the end of the lease as it is known now. The time that poll() waits for does not go on while the machine is
  /// suspended.
  void set_alarm() const {
    itimerspec when{};  // none
    if (watching_lease_) {
      constexpr std::int64_t kSecond = 1'000'000'000;
      const std::int64_t end = std::max<std::int64_t>(lease_end().time_since_epoch().count(), 1);  // 0 would be none
      when.it_value = {end / kSecond, end % kSecond};
    }
    checked(::timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &when, nullptr), "timerfd_settime");
  }

  Clock::time_point next_time() const {
    Clock::time_point next = Clock::time_point::max();
    // What is to be ended may go on starting processes; and there is no event for the end of a grandchild.
    if (ending_) next = std::min(next, std::max(kill_at_, Clock::now() + kMoment));
    if (finishing_) next = std::min(next, Clock::now() + kMoment);
    return next;
  }

  void report(Report::Kind kind, std::int32_t value) const {
    const Report report{kind, value};
    // If zklock is dead, the next recv() says so. If it is stopped for so long that the socket is full, it has lost the
    // lock, and what it misses does not matter any more.
    ::send(socket_, &report, sizeof report, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  const int socket_;
  const pid_t group_of_zklock_ = ::getpgrp();  // before this process has left it
  const GuardianSettings& settings_;
  SharedLease& lease_;
  Descriptor child_events_;
  Descriptor alarm_;                                 // for the end of the lease
  std::string packet_ = std::string(1 << 18, '\0');  // more than a Unix socket takes in one piece
  pid_t command_ = 0;                                // 0: not started, or reaped
  bool watching_lease_ = false;
  bool finishing_ = false;
  bool clean_ = false;  // what is there now may stay
  bool over_ = false;
  bool ending_ = false;
  Scope scope_ = Scope::session;  // of what is to be ended; only grows
  Clock::time_point kill_at_;     // while ending_
  Clock::time_point finish_by_;   // while finishing_
  Clock::time_point leave_by_;    // likewise
};

}  // namespace

int run_guardian(int socket, const GuardianSettings& settings, SharedLease& lease) noexcept {
  try {
    return GuardianProcess(socket, settings, lease).run();
  } catch (...) {
    // Without a guardian there must be no command.
    kill_descendants();
    return 1;
  }
}

}  // namespace zklock
