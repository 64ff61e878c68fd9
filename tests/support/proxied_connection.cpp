// SPDX-License-Identifier: Apache-2.0
#include "tests/support/proxied_connection.h"

#include <algorithm>
#include <glog/logging.h>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace zkrecipes::testing {

void ProxyShared::saw(Message message, long connection) {
  Observed observed{std::move(message), connection, std::chrono::steady_clock::now()};
  ledger.update([&](Ledger& now) {
    switch (observed.sort) {
      case Message::Sort::request:
        ++now.counts.requests[observed.kind];
        break;
      case Message::Sort::reply:
        ++now.counts.replies;
        break;
      case Message::Sort::watch_event:
        ++now.counts.watch_events;
        break;
    }
    if (now.trace.size() == FaultProxy::kTraceLength) {
      now.trace.pop_front();
    }
    now.trace.push_back(observed);
  });
  if (observer) {
    observer(observed);
  }
}

ProxiedConnection::ProxiedConnection(testkit::RelayState& state, ProxyShared& shared, long number, Socket client)
    : RelayedConnection(state, std::move(client)), shared_(shared), number_(number) {
  shared_.ledger.update([](Ledger& now) {
    ++now.counts.connections;
    ++now.open_connections;
  });
}

void ProxiedConnection::received(Lane& lane, std::string_view bytes) {
  FrameSplitter& splitter = lane.to_server ? requests_ : replies_;
  try {
    splitter.append(bytes);
    while (!is_over()) {
      const std::optional<std::string_view> frame = splitter.next();
      if (!frame) return;
      if (lane.to_server) {
        take_request(*frame);
      } else {
        take_reply(*frame);
      }
    }
  } catch (const MalformedFrame& malformed) {
    LOG(WARNING) << "fault proxy closes connection " << number_ << ": " << malformed.what()
                 << (lane.to_server ? " from the client" : " from the server");
    close();
  }
}

void ProxiedConnection::handing_on(const Lane& lane, std::size_t bytes) {
  shared_.ledger.update([&](Ledger& now) {
    (lane.to_server ? now.counts.bytes_to_server : now.counts.bytes_to_client) += static_cast<long>(bytes);
  });
}

void ProxiedConnection::client_closed() {
  shared_.ledger.update([](Ledger& now) { --now.open_connections; });
}

void ProxiedConnection::closed() {
  std::for_each(faults_.rbegin(), faults_.rend(), [this](const auto& entry) { shared_.plan.arm_again(entry.second); });
  faults_.clear();
}

void ProxiedConnection::take_request(std::string_view frame) {
  const Message request = conversation_.request(frame);
  shared_.saw(request, number_);
  if (is_black(to_server())) {
    return;
  }
  const std::optional<Fault> fault = shared_.plan.take_for(request.kind);
  if (!fault) {
    enqueue(to_server(), frame);
    return;
  }
  switch (fault->action) {
    case Fault::Action::drop_reply:
    case Fault::Action::hold_reply:
      faults_.emplace(request.ordinal, *fault);
      enqueue(to_server(), frame);
      break;
    case Fault::Action::answer_with_error:
      faults_.emplace(request.ordinal, *fault);
      enqueue(to_server(), request.kind == RequestKind::auth ? std::string(frame) : harmless_request(request.xid));
      break;
    case Fault::Action::cut_half_way:
      enqueue(to_server(), frame.substr(0, frame.size() / 2));
      finish(to_server());
      shared_.fired();
      break;
    case Fault::Action::cut_before:
      finish(to_server());
      shared_.fired();
      break;
  }
}

void ProxiedConnection::forget_faults() {
  for (auto fault = faults_.begin(); fault != faults_.end();)
    fault = fault->second.action == Fault::Action::answer_with_error ? std::next(fault) : faults_.erase(fault);
}

void ProxiedConnection::take_reply(std::string_view frame) {
  Message reply = conversation_.reply(frame);
  const auto fault = faults_.find(reply.ordinal);
  const bool is_replaced = fault != faults_.end() && fault->second.action == Fault::Action::answer_with_error;
  if (is_replaced) {
    reply.error = fault->second.error;
  }
  shared_.saw(reply, number_);
  if (is_black(to_client())) {
    return;
  }
  if (fault == faults_.end()) {
    enqueue(to_client(), frame);
    return;
  }
  const Fault::Action action = fault->second.action;
  faults_.erase(fault);
  if (is_replaced) {
    enqueue(to_client(), error_reply(frame, reply.error));
  } else if (action == Fault::Action::drop_reply) {
    finish(to_client());
  } else {
    enqueue(to_client(), frame, true);
  }
  shared_.fired();
}

}  // namespace zkrecipes::testing
