// SPDX-License-Identifier: Apache-2.0
//
// A resource outside ZooKeeper: a number in a file, which clients read and write over TCP on loopback. With "gated" as
// second argument it lets a FencingGate decide who may. The third is a history file, for the writes that it accepted.
//
//   read NAME TOKEN          -> the number, or "refused"
//   write NAME TOKEN NUMBER  -> "ok" or "refused"
//   reader                   -> who has read and not written since, or "-"
//   summary                  -> NUMBER ACCEPTED REFUSED
//
// Says its port and ends with its standard input.
#include <arpa/inet.h>
#include <atomic>
#include <fstream>
#include <iostream>
#include <mutex>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "tests/support/history.h"
#include "zkrecipes/fencing_gate.h"

namespace {

using namespace zkrecipes;

class Counter {
 public:
  Counter(std::string file, bool gated, const std::string& history)
      : file_(std::move(file)), gated_(gated), history_(history, "counter") {
    store(0);
  }

  std::string answer(const std::string& line) {
    std::istringstream in(line);
    std::string verb;
    std::string name;
    std::string token_text;
    in >> verb >> name >> token_text;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (verb == "reader") return reader_.empty() ? "-" : reader_;
    if (verb == "summary")
      return std::to_string(load()) + " " + std::to_string(accepted_) + " " + std::to_string(refused_);
    const auto token = FencingToken::parse(token_text);
    if (!token || (verb != "read" && verb != "write")) return "error";
    // Reads pass the gate, too: a holder that has read must not be overtaken by an older one's write.
    if (gated_ && !gate_.admit(*token)) {
      if (verb == "write") ++refused_;
      return "refused";
    }
    if (verb == "read") {
      reader_ = name;
      return std::to_string(load());
    }
    long number = 0;
    in >> number;
    store(number);
    ++accepted_;
    history_.append(accepted_, zkrecipes::testing::HistoryEvent::Kind::write, LockMode::exclusive,
                    zkrecipes::testing::history_time(), token->zxid);
    if (reader_ == name) reader_.clear();
    return "ok";
  }

 private:
  long load() const {
    long number = 0;
    std::ifstream(file_) >> number;
    return number;
  }
  void store(long number) const { std::ofstream(file_) << number << '\n'; }

  const std::string file_;
  const bool gated_;
  const zkrecipes::testing::HistoryWriter history_;
  std::mutex mutex_;
  // guarded by mutex_, the file too
  FencingGate gate_;
  std::string reader_;
  long accepted_ = 0;
  long refused_ = 0;
};

void serve(Counter& counter, int socket) {
  std::string received;
  char buffer[512];
  for (ssize_t count = 0; (count = recv(socket, buffer, sizeof buffer, 0)) > 0;) {
    received.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = received.find('\n')) != std::string::npos; received.erase(0, end + 1)) {
      const std::string reply = counter.answer(received.substr(0, end)) + "\n";
      if (send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) == -1) break;
    }
  }
  close(socket);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " FILE gated|open HISTORY\n";
    return 2;
  }
  Counter counter(argv[1], std::string(argv[2]) == "gated", argv[3]);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, length) != 0 || listen(listener, 16) != 0 ||
      getsockname(listener, generic, &length) != 0) {
    std::cout << "error cannot listen" << std::endl;
    return 1;
  }
  std::cout << "listening " << ntohs(address.sin_port) << std::endl;
  std::thread([&] {
    for (;;) {
      const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (client != -1) std::thread([&counter, client] { serve(counter, client); }).detach();
    }
  }).detach();
  for (std::string line; std::getline(std::cin, line);) {
  }
  std::_Exit(0);  // the threads still use what a return would destroy
}
