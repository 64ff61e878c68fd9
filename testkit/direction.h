// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace testkit {

/// Which way bytes take through a relay.
enum class Direction { to_server, to_client, both };

}  // namespace testkit
