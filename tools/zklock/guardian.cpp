// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/guardian.h"

#include <cerrno>
#include <csignal>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "tools/zklock/exit_codes.h"
#include "tools/zklock/guardian_process.h"

namespace zklock {
namespace {

/// For the guardian, to end.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

Guardian::Guardian(const GuardianSettings& settings) : inherited_(descendants(::getpid()).found) {
  void* memory = ::mmap(nullptr, sizeof(SharedLease), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap");
  lease_ = new (memory) SharedLease;
  int ends[2];
  checked(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
  socket_ = Descriptor(ends[0]);
  Descriptor others(ends[1]);
  // If the guardian is killed, what it has started comes to us.
  checked(::prctl(PR_SET_CHILD_SUBREAPER, 1), "prctl");
  process_ = checked(::fork(), "fork");
  if (process_ == 0) {
    socket_.reset();
    ::_exit(run_guardian(others.get(), settings, *lease_));
  }
}

Guardian::~Guardian() {
  stop();
  ::munmap(lease_, sizeof *lease_);
}

bool Guardian::is_stopped() const noexcept {
  siginfo_t info{};
  return process_ != 0 && ::waitid(P_PID, static_cast<id_t>(process_), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

void Guardian::stop() noexcept {
  socket_.reset();
  if (process_ == 0) return;
  const auto deadline = Clock::now() + kPatience;
  while (::waitpid(process_, nullptr, WNOHANG) == 0) {
    if (is_stopped() || Clock::now() >= deadline) return kill();
    ::poll(nullptr, 0, 1);
  }
  process_ = 0;
}

void Guardian::kill() noexcept {
  socket_.reset();
  if (process_ != 0) {
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = 0;
  }
  if (!clean_) kill_descendants(inherited_);
}

std::optional<Report> Guardian::next() {
  Report report;
  const ssize_t got = ::recv(socket_.get(), &report, sizeof report, MSG_DONTWAIT);
  if (got == static_cast<ssize_t>(sizeof report)) {
    clean_ = clean_ || report.kind == Report::Kind::clean;
    return report;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  kill_descendants(inherited_);
  throw Failure(kFailure, std::string("the guardian process was killed; ") +
                              (started_ ? "the command was ended" : "the command was not started"));
}

void Guardian::start(const std::vector<std::string>& environment, bool with_terminal) {
  std::string rest(1, with_terminal ? '1' : '0');
  for (const std::string& each : environment) rest.append(each).push_back('\0');
  started_ = true;
  order(Order::start, rest);
}

void Guardian::pass_on(int signal) {
  order(Order::signal, std::string(1, static_cast<char>(signal)));
}

void Guardian::order(Order order, const std::string& rest) {
  if (!socket_) return;  // it was stopped
  const std::string packet = static_cast<char>(order) + rest;
  if (::send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return;
  if (errno == EPIPE || errno == ECONNRESET) return;  // next() says so
  // It is stopped, and many signals have been passed on since. Without `done` it ends in the same way, see stop().
  if (errno == EAGAIN && order != Order::start && order != Order::finish) return;
  throw std::system_error(errno, std::generic_category(), "the guardian process cannot be reached");
}

}  // namespace zklock
