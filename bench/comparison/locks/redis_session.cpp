// SPDX-License-Identifier: Apache-2.0
#include "bench/comparison/locks/redis_session.h"

#include <stdexcept>
#include <utility>

namespace comparison {
namespace {

constexpr timeval kPatience{0, 500'000};

}  // namespace

RedisSession::RedisSession(std::string endpoint) : endpoint_(std::move(endpoint)) {}

bool RedisSession::connect() {
  const std::size_t colon = endpoint_.rfind(':');
  context_.reset(
      redisConnectWithTimeout(endpoint_.substr(0, colon).c_str(), std::stoi(endpoint_.substr(colon + 1)), kPatience));
  return context_ != nullptr && context_->err == 0 && redisSetTimeout(context_.get(), kPatience) == REDIS_OK;
}

std::optional<RedisReply> RedisSession::command(const std::vector<std::string>& words) {
  if ((context_ == nullptr || context_->err != 0) && !connect()) return std::nullopt;
  std::vector<const char*> arguments;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words) {
    arguments.push_back(word.data());
    lengths.push_back(word.size());
  }
  ++commands_;
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(
          redisCommandArgv(context_.get(), static_cast<int>(words.size()), arguments.data(), lengths.data())),
      &freeReplyObject);
  if (reply == nullptr) return std::nullopt;
  RedisReply result;
  result.is_nil = reply->type == REDIS_REPLY_NIL;
  result.number = reply->integer;
  if (reply->str != nullptr) result.text.assign(reply->str, reply->len);
  if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error("Redis at " + endpoint_ + " says: " + result.text);
  return result;
}

}  // namespace comparison
