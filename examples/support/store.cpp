// SPDX-License-Identifier: Apache-2.0
#include "examples/support/store.h"

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <zkrecipes/fencing_gate.h>

namespace examples {

using boost::asio::ip::tcp;

namespace {

constexpr int kFirstValue = 100;

/// One request after the other, so that check and write are one step.
std::string answer(const std::string& request, bool fenced, zkrecipes::FencingGate& gate, int& value) {
  std::istringstream words(request);
  std::string verb, token_text;
  int new_value = 0;
  words >> verb;
  if (verb == "read") return "value " + std::to_string(value);
  if (verb != "write" || !(words >> new_value >> token_text)) return "error what?";
  const auto token = zkrecipes::FencingToken::parse(token_text);
  if (!token) return "error no token";
  if (fenced && !gate.admit(*token)) return "refused " + gate.highest().to_string();
  value = new_value;
  return "ok";
}

}  // namespace

void serve_store(bool fenced) {
  boost::asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  std::cout << acceptor.local_endpoint().port() << std::endl;
  zkrecipes::FencingGate gate;
  int value = kFirstValue;
  for (;;) {
    tcp::iostream client(acceptor.accept());
    std::string request;
    if (std::getline(client, request)) client << answer(request, fenced, gate, value) << std::endl;
  }
}

void serve_store(std::istream& words) {
  std::string variant;
  words >> variant;
  serve_store(variant == "fenced");
}

StoreClient::StoreClient(std::string port) : port_(std::move(port)) {}

std::string StoreClient::ask(const std::string& request) const {
  tcp::iostream store;
  store.expires_after(std::chrono::seconds(30));
  store.connect("127.0.0.1", port_);
  store << request << std::endl;
  std::string reply;
  if (!std::getline(store, reply)) throw std::runtime_error("the store does not answer");
  return reply;
}

int StoreClient::read() const {
  const std::string reply = ask("read");
  if (reply.rfind("value ", 0) != 0) throw std::runtime_error("the store says: " + reply);
  return std::stoi(reply.substr(6));
}

bool StoreClient::write(int value, zkrecipes::FencingToken token) const {
  const std::string reply = ask("write " + std::to_string(value) + " " + token.to_string());
  if (reply == "ok") return true;
  if (reply.rfind("refused", 0) == 0) return false;
  throw std::runtime_error("the store says: " + reply);
}

}  // namespace examples
