// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <boost/property_tree/ptree.hpp>
#include <chrono>
#include <curl/curl.h>
#include <memory>
#include <optional>
#include <string>

namespace comparison {

/// etcd's version 3 interface through its own HTTP gateway: JSON in, JSON out. One connection, used by one thread,
/// requests() excepted.
class EtcdClient {
 public:
  explicit EtcdClient(const std::string& endpoint);  ///< "host:port"

  /// Empty if the server cannot be reached, refuses, or does not answer in time (zero: waits for ever).
  std::optional<boost::property_tree::ptree> post(const std::string& method, const std::string& body,
                                                  std::chrono::milliseconds timeout = std::chrono::seconds(5));
  long requests() const noexcept { return requests_; }

 private:
  const std::string base_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_;
  std::atomic<long> requests_{0};
};

/// Keys and names are bytes, which the gateway takes and gives in base 64.
std::string to_base64(const std::string& bytes);

}  // namespace comparison
