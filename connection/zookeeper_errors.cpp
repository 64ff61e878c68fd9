// SPDX-License-Identifier: Apache-2.0
#include "connection/zookeeper_errors.h"

#include <zookeeper/zookeeper.h>

namespace zkrecipes::detail {

Status status_of(int rc) noexcept {
  switch (rc) {
    case ZOK:
    case ZNOWATCHER:  // only said of a watch that is to be removed
      return Status::ok;
    case ZNONODE:
      return Status::no_node;
    case ZNODEEXISTS:
      return Status::node_exists;
    case ZNOTEMPTY:
      return Status::not_empty;
    case ZBADVERSION:
      return Status::bad_version;
    case ZNOCHILDRENFOREPHEMERALS:
      return Status::no_children_for_ephemerals;
    case ZNOAUTH:
    case ZAUTHFAILED:
    case ZSESSIONCLOSEDREQUIRESASLAUTH:
      return Status::not_authorized;
    case ZINVALIDACL:
    case ZBADARGUMENTS:
    case ZINVALIDCALLBACK:
      return Status::invalid;
    case ZUNIMPLEMENTED:
    case ZEPHEMERALONLOCALSESSION:
      return Status::unsupported;
    case ZSYSTEMERROR:
    case ZRUNTIMEINCONSISTENCY:
    case ZDATAINCONSISTENCY:
    case ZCONNECTIONLOSS:
    case ZMARSHALLINGERROR:
    case ZOPERATIONTIMEOUT:
    case ZINVALIDSTATE:
    case ZSESSIONEXPIRED:
    case ZCLOSING:
    case ZSESSIONMOVED:
    case ZNOTREADONLY:
    case ZTHROTTLEDOP:
    case ZSSLCONNECTIONERROR:
      return Status::connection_loss;
    default:
      return Status::rejected;
  }
}

bool is_answer(int rc) noexcept {
  switch (rc) {
    case ZOK:
    case ZNONODE:
    case ZNODEEXISTS:
    case ZNOTEMPTY:
    case ZBADVERSION:
    case ZNOCHILDRENFOREPHEMERALS:
    case ZNOAUTH:
    case ZINVALIDACL:
      return true;
    default:
      return false;
  }
}

const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::no_node:
      return "no such node";
    case Status::node_exists:
      return "node exists";
    case Status::not_empty:
      return "node has children";
    case Status::bad_version:
      return "version conflict";
    case Status::no_children_for_ephemerals:
      return "ephemeral nodes cannot have children";
    case Status::not_authorized:
      return "not authorized";
    case Status::invalid:
      return "invalid arguments or ACL";
    case Status::unsupported:
      return "not supported by the server";
    case Status::rejected:
      return "rejected by the server";
    case Status::too_many_watches:
      return "too many watches on one connection";
    case Status::too_large:
      return "too large for the server";
    case Status::occupied:
      return "another kind of lock uses the path";
    case Status::no_parent:
      return "no parent";
    case Status::no_chroot:
      return "no such chroot";
    case Status::connection_loss:
      return "connection lost";
    case Status::session_over:
      return "session over";
    case Status::closed:
      return "connection closed";
  }
  return "unknown";
}

}  // namespace zkrecipes::detail
