// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <zkrecipes/connection.h>

namespace examples {

/// From here on Ctrl-C (and SIGTERM, SIGHUP) leaves nothing behind: the sessions of all registered connections are
/// closed, which removes their lock nodes at once, all child processes are ended and all temporary folders removed;
/// then the program ends. To be called in main() before there are other threads.
void clean_up_on_interrupt();

/// The connection stays the caller's; it is forgotten by itself when destroyed.
void close_on_interrupt(const std::shared_ptr<zkrecipes::Connection>& connection);

/// Returns at once, unless an interrupt is being handled: then never. For those who are about to report an error that
/// may be a consequence of it.
void yield_to_interrupt();

}  // namespace examples
