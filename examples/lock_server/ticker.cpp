// SPDX-License-Identifier: Apache-2.0
#include "examples/lock_server/ticker.h"

#include <algorithm>
#include <utility>

#include "examples/support/say.h"

namespace examples {

Ticker::Ticker(boost::asio::io_context& io, std::function<std::string()> progress)
    : progress_(std::move(progress)), timer_(io) {
  wait();
}

void Ticker::stop() {
  is_stopped_ = true;  // a tick that is already due does not hear of the cancellation
  timer_.cancel();
}

void Ticker::wait() {
  timer_.expires_after(std::chrono::milliseconds(1));
  timer_.async_wait([this](const boost::system::error_code&) {
    if (is_stopped_) return;
    const auto now = Clock::now();
    longest_gap_ = std::max(longest_gap_, std::chrono::duration_cast<std::chrono::milliseconds>(now - last_tick_));
    last_tick_ = now;
    if (now - last_progress_ > std::chrono::seconds(2)) {
      last_progress_ = now;
      say("server", progress_());
    }
    wait();
  });
}

}  // namespace examples
