// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/etcd_client.h"

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <boost/property_tree/json_parser.hpp>
#include <sstream>

namespace comparison {
namespace {

CURL* new_handle() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL* const handle = initialised == CURLE_OK ? curl_easy_init() : nullptr;
  if (handle == nullptr) throw std::runtime_error("libcurl does not start");
  return handle;
}

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

}  // namespace

EtcdClient::EtcdClient(const std::string& endpoint)
    : base_("http://" + endpoint + "/v3/"),
      curl_(new_handle(), &curl_easy_cleanup),
      headers_(curl_slist_append(nullptr, "Content-Type: application/json"), &curl_slist_free_all) {
  CURL* const curl = curl_.get();
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &append);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // the server is local: ignore proxies of the environment
}

std::optional<boost::property_tree::ptree> EtcdClient::post(const std::string& method, const std::string& body,
                                                            std::chrono::milliseconds timeout) {
  std::string answer;
  CURL* const curl = curl_.get();
  curl_easy_setopt(curl, CURLOPT_URL, (base_ + method).c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  ++requests_;
  if (curl_easy_perform(curl) != CURLE_OK) return std::nullopt;
  boost::property_tree::ptree tree;
  std::istringstream text(answer);
  try {
    boost::property_tree::read_json(text, tree);
  } catch (const boost::property_tree::json_parser_error&) {
    return std::nullopt;  // cut off in the middle
  }
  return tree;
}

std::string to_base64(const std::string& bytes) {
  using namespace boost::archive::iterators;
  using Encoder = base64_from_binary<transform_width<std::string::const_iterator, 6, 8>>;
  std::string text(Encoder(bytes.begin()), Encoder(bytes.end()));
  while (text.size() % 4 != 0) text += '=';
  return text;
}

}  // namespace comparison
