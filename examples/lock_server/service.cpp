// SPDX-License-Identifier: Apache-2.0
#include "examples/lock_server/service.h"

#include <sstream>
#include <stdexcept>
#include <thread>
#include <zkrecipes/contenders.h>
#include <zkrecipes/error.h>

namespace examples {

Request parse(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  Request request;
  int patience = 0;
  if (!(words >> word >> request.lock >> patience) || word != "LOCK")
    throw std::invalid_argument("not a request: " + line);
  request.patience = std::chrono::milliseconds(patience);
  return request;
}

std::string to_line(const Request& request) {
  return "LOCK " + std::to_string(request.lock) + ' ' + std::to_string(request.patience.count()) + '\n';
}

Service::Service(zkrecipes::Connection& connection, const std::string& folder, int locks,
                 std::chrono::milliseconds work)
    : connection_(connection), folder_(folder), work_(work), is_taken_(static_cast<std::size_t>(locks)) {
  for (int i = 0; i < locks; ++i)
    locks_.push_back(std::make_unique<zkrecipes::FairMutex>(connection, folder + "/lock-" + std::to_string(i)));
}

zkrecipes::AcquireOptions Service::options(const Request& request, const zkrecipes::StopToken& stop) {
  zkrecipes::AcquireOptions options;
  options.deadline = zkrecipes::deadline_after(request.patience);
  options.stop = stop;
  return options;
}

void Service::enter(const Request& request) {
  if (is_taken_.at(request.lock)) throw std::logic_error("two hold one lock");
  is_taken_.at(request.lock) = true;
}

void Service::leave(const Request& request) {
  is_taken_.at(request.lock) = false;
  ++served_;
}

void Service::refuse(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const zkrecipes::Cancelled&) {
    ++gone_;
  } catch (const zkrecipes::Error& why) {
    if (why.code() != zkrecipes::ErrorCode::timed_out && why.code() != zkrecipes::ErrorCode::busy) throw;
    ++timed_out_;
  }
}

std::string Service::summary() const {
  return std::to_string(answered()) + " requests: " + std::to_string(served_) + " served, " +
         std::to_string(timed_out_) + " timed out, " + std::to_string(gone_) + " gone";
}

std::size_t Service::nodes_left() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (true) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < locks_.size(); ++i)
      left += zkrecipes::contenders(connection_, folder_ + "/lock-" + std::to_string(i)).size();
    if (left == 0 || std::chrono::steady_clock::now() > end) return left;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace examples
