// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/server_status.h"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <sstream>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include "tools/zklock/descriptor.h"

namespace zklock {
namespace {

using Deadline = Clock::time_point;

/// False when the time is over.
bool wait_for(int socket, short events, Deadline deadline) {
  pollfd polled{socket, events, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left > 0 && ::poll(&polled, 1, static_cast<int>(left)) > 0;
}

/// Not connected if `trouble` says why.
Descriptor connect(const std::string& host, const std::string& port, Deadline deadline, std::string& trouble) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) {
    trouble = ::gai_strerror(error);
    return {};
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &::freeaddrinfo);
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Descriptor socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int error = ::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      socklen_t size = sizeof error;
      error = ETIMEDOUT;
      if (wait_for(socket.get(), POLLOUT, deadline)) ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) return socket;
    trouble = std::generic_category().message(error);
  }
  return {};
}

/// The whole answer, until the server closes the connection.
std::string ask(int socket, const std::string& word, Deadline deadline, std::string& trouble) {
  std::string answer;
  if (::send(socket, word.data(), word.size(), MSG_NOSIGNAL) < 0) {
    trouble = std::generic_category().message(errno);
    return answer;
  }
  char buffer[4096];
  for (;;) {
    if (!wait_for(socket, POLLIN, deadline)) {
      trouble = "accepts connections but does not answer";
      return answer;
    }
    const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
    if (got <= 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
}

void read_answer(const std::string& answer, ServerStatus& status) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    const std::string value = line.substr(colon + 2);
    if (name == "Zookeeper version") status.version = value.substr(0, value.find('-'));
    if (name == "Mode") status.mode = value;
    if (name == "Connections") status.connections = value;
    if (name == "Node count") status.nodes = value;
  }
}

}  // namespace

std::vector<std::string> server_addresses(const std::string& servers) {
  std::vector<std::string> result;
  std::istringstream list(servers.substr(0, servers.find('/')));
  for (std::string each; std::getline(list, each, ',');) {
    // The library permits blanks, too.
    constexpr const char* kBlanks = " \t\r\n";
    each.erase(0, each.find_first_not_of(kBlanks));
    each.erase(each.find_last_not_of(kBlanks) + 1);
    if (each.empty()) continue;
    const std::size_t colon = each.rfind(':');
    const bool has_port = colon != std::string::npos && each.find(']', colon) == std::string::npos;
    result.push_back(has_port ? each : each + ":2181");
  }
  return result;
}

ServerStatus ask_server(const std::string& address, std::chrono::milliseconds limit) {
  const Deadline deadline = Clock::now() + limit;
  ServerStatus status;
  status.address = address;
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  const Descriptor socket = connect(host, address.substr(colon + 1), deadline, status.trouble);
  if (!socket) return status;
  status.trouble.clear();
  const std::string answer = ask(socket.get(), "srvr", deadline, status.trouble);
  status.answers = !answer.empty();
  read_answer(answer, status);
  if (status.answers && status.mode.empty())
    status.trouble = answer.find("whitelist") != std::string::npos
                         ? "does not permit srvr (4lw.commands.whitelist)"
                         : "serves no requests at the moment: " + answer.substr(0, answer.find('\n'));
  if (!status.answers && status.trouble.empty()) status.trouble = "closes connections without an answer";
  return status;
}

}  // namespace zklock
