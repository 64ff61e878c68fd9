// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace comparison {

/// A port of 127.0.0.1 that nobody uses at this moment, below those that the kernel gives to outgoing connections: a
/// server that is restarted finds it free again. Throws std::runtime_error if there is none.
int free_port();

}  // namespace comparison
