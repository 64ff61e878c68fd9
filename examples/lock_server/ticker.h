// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>

namespace examples {

/// Ticks on the thread of an io_context, and remembers the longest gap between two ticks: if something blocked the
/// thread, it would show here.
class Ticker {
 public:
  /// `progress` gives the text that is printed every two seconds.
  Ticker(boost::asio::io_context& io, std::function<std::string()> progress);
  void stop();
  std::chrono::milliseconds longest_gap() const noexcept { return longest_gap_; }

 private:
  using Clock = std::chrono::steady_clock;
  void wait();

  const std::function<std::string()> progress_;
  boost::asio::steady_timer timer_;
  bool is_stopped_ = false;
  Clock::time_point last_tick_ = Clock::now();
  Clock::time_point last_progress_ = Clock::now();
  std::chrono::milliseconds longest_gap_{0};
};

}  // namespace examples
