// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connection/client.h"
#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// The node that all paths of a connection stand below. Missing parents above it and itself are made only if that is
/// wanted, else the answer is `no_chroot`.
struct Chroot {
  std::string path;
  bool may_be_made = true;
  std::function<void()> made;  ///< called when it has been made
};
using ChrootPtr = std::shared_ptr<const Chroot>;  // null: there is none

/// Makes the node of `spec` exactly once. After a lost reply it looks for the guid (behind a sync, since the session
/// may have moved to a server that lags behind) and takes a node only if the current session owns it. With the guid in
/// the name, a node that an earlier session left is removed. With the guid in the data nothing is ever removed: the
/// path is shared, and between a look and a removal another client could take it.
void create_protected(RequestSender& sender, const SessionPtr& session, CreateSpec spec, Client::CreateHandler done,
                      ChrootPtr chroot = nullptr);

}  // namespace zkrecipes::detail
