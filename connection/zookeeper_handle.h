// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "connection/handle.h"
#include "zkrecipes/connection.h"

namespace zkrecipes::detail {

/// A handle of libzookeeper_mt, which knows one address only. Throws Error when the C client cannot make one.
std::unique_ptr<Handle> open_zookeeper_handle(const HandleSettings& settings,
                                              const std::weak_ptr<HandleListener>& listener);

/// The program's own. Closing the result leaves `existing` open.
std::unique_ptr<Handle> borrow_zookeeper_handle(zhandle_t* existing, const std::weak_ptr<HandleListener>& listener);

/// False when the installed C client was built without TLS.
bool tls_available() noexcept;

}  // namespace zkrecipes::detail
