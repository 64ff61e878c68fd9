// SPDX-License-Identifier: Apache-2.0
#include "connection/synced_read.h"

#include <atomic>
#include <memory>
#include <utility>

namespace zkrecipes::detail {

namespace {

/// The two answers may come on different threads and in any order; the second one decides.
struct SyncedRead {
  explicit SyncedRead(ReplyHandler handler) : done(std::move(handler)) {}

  void answered() {
    if (open.fetch_sub(1) != 1) return;
    const bool found_out = read.status == Status::ok || read.status == Status::no_node;
    if (found_out && (sync.status == Status::connection_loss || sync.connection != read.connection))
      read.status = Status::connection_loss;
    else if (found_out && sync.status != Status::ok && sync.status != Status::no_node)
      read.status = sync.status;
    done(std::move(read));
  }

  const ReplyHandler done;
  std::atomic<int> open{2};
  Reply sync;
  Reply read;
};

}  // namespace

void read_synced(RequestSender& sender, const SessionPtr& session, Request read, ReplyHandler done) {
  const auto both = std::make_shared<SyncedRead>(std::move(done));
  sender.send(session, {RequestKind::sync, read.path}, [both](Reply reply) {
    both->sync = std::move(reply);
    both->answered();
  });
  sender.send(session, std::move(read), [both](Reply reply) {
    both->read = std::move(reply);
    both->answered();
  });
}

}  // namespace zkrecipes::detail
