// SPDX-License-Identifier: Apache-2.0
#include "tests/prometheus/scrape.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <prometheus/text_serializer.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace zkrecipes::testing {

namespace {

/// `name="value",other="value"`, without escapes.
Labels parse_labels(const std::string& text) {
  Labels labels;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t equals = text.find("=\"", at);
    const std::size_t end = text.find('"', equals + 2);
    if (equals == std::string::npos || end == std::string::npos) throw std::runtime_error("no labels: " + text);
    labels[text.substr(at, equals - at)] = text.substr(equals + 2, end - equals - 2);
    at = end + 2;
  }
  return labels;
}

std::string get(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (socket < 0) throw std::runtime_error("no socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  std::string answer;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0;)
      answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  ::close(socket);
  return answer;
}

}  // namespace

Scrape::Scrape(const std::string& text) : text_(text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# TYPE ", 0) == 0) families_.insert(line.substr(7, line.find(' ', 7) - 7));
    if (line.empty() || line[0] == '#') continue;
    const std::size_t brace = line.find('{');
    const std::size_t space = line.rfind(' ');
    Sample sample;
    sample.name = line.substr(0, std::min(brace, space));
    if (brace != std::string::npos) sample.labels = parse_labels(line.substr(brace + 1, line.rfind('}') - brace - 1));
    sample.value = std::stod(line.substr(space + 1));
    samples_.push_back(std::move(sample));
  }
}

bool Scrape::has(const std::string& name, const Labels& labels) const {
  return std::any_of(samples_.begin(), samples_.end(), [&](const Sample& sample) {
    return sample.name == name &&
           std::includes(sample.labels.begin(), sample.labels.end(), labels.begin(), labels.end());
  });
}

double Scrape::value(const std::string& name, const Labels& labels) const {
  if (!has(name, labels)) ADD_FAILURE() << "no " << name << " in\n" << text_;
  double sum = 0;
  for (const Sample& sample : samples_)
    if (sample.name == name && std::includes(sample.labels.begin(), sample.labels.end(), labels.begin(), labels.end()))
      sum += sample.value;
  return sum;
}

std::set<std::string> Scrape::families() const {
  return families_;
}

std::set<std::string> Scrape::samples() const {
  std::set<std::string> names;
  for (const Sample& sample : samples_) names.insert(sample.name);
  return names;
}

Scrape scrape_of(const prometheus::Registry& registry) {
  return Scrape(prometheus::TextSerializer().Serialize(registry.Collect()));
}

Exposed::Exposed() {
  exposer_.RegisterCollectable(registry_);
}

Scrape Exposed::scrape() const {
  const std::string answer = get(exposer_.GetListeningPorts().front());
  const std::size_t body = answer.find("\r\n\r\n");
  if (answer.rfind("HTTP/1.1 200", 0) != 0 || body == std::string::npos)
    throw std::runtime_error("no scrape but: " + answer);
  const std::string text = answer.substr(body + 4);
  // The page also has what prometheus-cpp says about itself.
  std::string ours;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("zkrecipes_") != std::string::npos) ours += line + "\n";
  return Scrape(ours);
}

}  // namespace zkrecipes::testing
