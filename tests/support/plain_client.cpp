// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plain_client.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "tests/support/answer.h"

namespace zkrecipes::testing {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, int rc) {
  throw std::runtime_error("plain client: " + what + " " + path + ": " + zerror(rc));
}

bool is_lost(int rc) {
  return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT;
}

/// For calls that may be repeated: a test may cut any connection at any time.
template <class Call>
int repeat_while_lost(Call call) {
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  int rc = call();
  while (is_lost(rc) && std::chrono::steady_clock::now() < deadline) rc = call();
  return rc;
}

std::string join(const std::string& parent, const std::string& child) {
  return parent == "/" ? "/" + child : parent + "/" + child;
}

}  // namespace

PlainClient::PlainClient(const std::string& servers, std::chrono::milliseconds session_timeout) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = zookeeper_init2(servers.c_str(), &PlainClient::watch, static_cast<int>(session_timeout.count()), nullptr,
                            this, ZOO_NO_LOG_CLIENTENV, [](const char*) {});
  if (handle_ == nullptr) throw std::runtime_error("plain client: no handle for " + servers);
  if (!wait_for_state(ZOO_CONNECTED_STATE, kLimit)) {
    zookeeper_close(handle_);
    throw std::runtime_error("plain client: cannot connect to " + servers);
  }
}

PlainClient::~PlainClient() {
  zookeeper_close(handle_);
}

void PlainClient::watch(zhandle_t* /*handle*/, int type, int state, const char* path, void* context) {
  auto* const self = static_cast<PlainClient*>(context);
  std::lock_guard<std::mutex> lock(self->mutex_);
  self->events_.push_back({type, state, path == nullptr ? "" : path});
  if (type == ZOO_SESSION_EVENT) self->state_ = state;
  self->changed_.notify_all();
}

std::vector<PlainClient::Event> PlainClient::events() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return events_;
}

bool PlainClient::wait_for_state(int state, std::chrono::milliseconds limit) const {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return state_ == state; });
}

void PlainClient::create(const std::string& path, const std::string& data, int mode) {
  const int rc = zoo_create(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), &ZOO_OPEN_ACL_UNSAFE,
                            mode, nullptr, 0);
  if (rc != ZOK) fail("create", path, rc);
}

void PlainClient::create_all(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); !path.empty() && path != "/"; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    const int rc = repeat_while_lost([&] {
      return zoo_create(handle_, part.c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, nullptr, 0);
    });
    if (rc != ZOK && rc != ZNODEEXISTS) fail("create", part, rc);
    if (slash == std::string::npos) return;
  }
}

bool PlainClient::remove(const std::string& path) {
  const int rc = repeat_while_lost([&] { return zoo_delete(handle_, path.c_str(), -1); });
  if (rc != ZOK && rc != ZNONODE) fail("delete", path, rc);
  return rc == ZOK;
}

void PlainClient::remove_all(const std::string& path) {
  for (;;) {
    for (const std::string& child : children(path)) remove_all(join(path, child));
    const int rc = repeat_while_lost([&] { return zoo_delete(handle_, path.c_str(), -1); });
    if (rc == ZOK || rc == ZNONODE) return;
    if (rc != ZNOTEMPTY) fail("delete", path, rc);
  }
}

void PlainClient::set(const std::string& path, const std::string& data) {
  const int rc = zoo_set(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), -1);
  if (rc != ZOK) fail("set", path, rc);
}

std::optional<Stat> PlainClient::stat(const std::string& path, bool watch) const {
  Stat stat{};
  const int rc = repeat_while_lost([&] { return zoo_exists(handle_, path.c_str(), watch ? 1 : 0, &stat); });
  if (rc == ZNONODE) return std::nullopt;
  if (rc != ZOK) fail("exists", path, rc);
  return stat;
}

std::optional<std::string> PlainClient::data(const std::string& path) const {
  std::string data(64 * 1024, '\0');
  int length = 0;
  const int rc = repeat_while_lost([&] {
    length = static_cast<int>(data.size());
    return zoo_get(handle_, path.c_str(), 0, data.data(), &length, nullptr);
  });
  if (rc == ZNONODE) return std::nullopt;
  if (rc != ZOK) fail("get", path, rc);
  data.resize(static_cast<std::size_t>(std::max(length, 0)));
  return data;
}

std::vector<std::string> PlainClient::children(const std::string& path) const {
  String_vector names{};
  const int rc = repeat_while_lost([&] { return zoo_get_children(handle_, path.c_str(), 0, &names); });
  if (rc == ZNONODE) return {};
  if (rc != ZOK) fail("list", path, rc);
  std::vector<std::string> result(names.data, names.data + names.count);
  deallocate_String_vector(&names);
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> PlainClient::ephemerals_below(const std::string& path) const {
  std::vector<std::string> found;
  const auto own = stat(path);
  // The server marks containers with an owner that is no session.
  if (own && own->ephemeralOwner != 0 && own->ephemeralOwner != std::numeric_limits<std::int64_t>::min())
    found.push_back(path);
  for (const std::string& child : children(path)) {
    const auto below = ephemerals_below(join(path, child));
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

}  // namespace zkrecipes::testing
