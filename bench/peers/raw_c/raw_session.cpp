// SPDX-License-Identifier: Apache-2.0
#include "bench/peers/raw_c/raw_session.h"

#include <cstdio>
#include <cstdlib>

namespace bench {

void check(int rc, const char* what) {
  if (rc == ZOK) return;
  std::fprintf(stderr, "raw C client: %s: %s\n", what, zerror(rc));
  std::abort();
}

RawSession::RawSession(const std::string& address) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  handle_ = zookeeper_init(address.c_str(), &on_session, 30'000, nullptr, this, 0);
  if (handle_ == nullptr) check(ZSYSTEMERROR, "zookeeper_init");
  zoo_set_servers_resolution_delay(handle_, -1);
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return connected_; });
}

RawSession::~RawSession() {
  zookeeper_close(handle_);
}

void RawSession::make_path(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const int rc = zoo_create(handle_, path.substr(0, end).c_str(), nullptr, -1, &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
    if (rc != ZNODEEXISTS) check(rc, "creating the parents");
    if (end == std::string::npos) return;
  }
}

void RawSession::on_session(zhandle_t* /*handle*/, int type, int state, const char* /*path*/, void* self) {
  if (type != ZOO_SESSION_EVENT) return;
  if (state == ZOO_EXPIRED_SESSION_STATE) check(ZSESSIONEXPIRED, "session");
  if (state != ZOO_CONNECTED_STATE) return;
  auto* const session = static_cast<RawSession*>(self);
  std::lock_guard<std::mutex> lock(session->mutex_);
  session->connected_ = true;
  session->changed_.notify_all();
}

}  // namespace bench
