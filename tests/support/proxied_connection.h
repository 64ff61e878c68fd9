// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string_view>

#include "testkit/relayed_connection.h"
#include "tests/support/proxy_faults.h"
#include "tests/support/zookeeper_frames.h"

namespace zkrecipes::testing {

/// A relayed connection that understands ZooKeeper's frames, passes them on when they are whole, and applies the faults
/// that are planned for them.
class ProxiedConnection : public testkit::RelayedConnection {
 public:
  ProxiedConnection(testkit::RelayState& state, ProxyShared& shared, long number, Socket client);

  /// Except those whose request was already replaced by a harmless one: its answer says nothing about the request.
  void forget_faults();

 private:
  void received(Lane& lane, std::string_view bytes) override;
  void handing_on(const Lane& lane, std::size_t bytes) override;
  void client_closed() override;
  void closed() override;

  void take_request(std::string_view frame);
  void take_reply(std::string_view frame);

  ProxyShared& shared_;
  const long number_;
  FrameSplitter requests_;
  FrameSplitter replies_;
  Conversation conversation_;
  std::map<long, Fault> faults_;  // by the ordinal of the request whose reply they wait for
};

}  // namespace zkrecipes::testing
