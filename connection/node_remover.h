// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "connection/request_sender.h"

namespace zkrecipes::detail {

/// By what our node is recognised, beside its owner, at a path that others use, too.
struct NodeMark {
  std::int64_t czxid = 0;    ///< 0: not known
  std::string guid_in_data;  ///< of a node whose create was never answered
  bool empty() const { return czxid == 0 && guid_in_data.empty(); }
};

/// Removes a node for certain: lost replies and outages are sat out, with pauses that grow, until the node is gone
/// (ok), its session is over and so the server removes it (session_over), or the server refuses for good.
///
/// `czxid` is 0 where the name is unique. Otherwise, after a lost reply the node is removed only if the session owns it
/// and it has this czxid, which is read behind a sync and on the connection that the removal is then sent on.
/// (The first attempt needs no look: the server takes it only while the session lives, and so does its node.)
///
/// `removed` is called before `done` if the server has said that this removal did it. Not if the node was gone before,
/// or if the answer was lost. Both may be null.
void remove_for_certain(RequestSender& sender, const SessionPtr& session, std::string path, std::int64_t czxid,
                        std::function<void(Status)> done, std::function<void()> removed = nullptr);

/// The same where it is not known whether the path still leads to our node: looks before the first attempt, too.
void remove_if_ours(RequestSender& sender, const SessionPtr& session, std::string path, NodeMark mark,
                    std::function<void(Status)> done, std::function<void()> removed = nullptr);

}  // namespace zkrecipes::detail
