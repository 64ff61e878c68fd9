// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "connection/requests.h"

namespace zkrecipes::detail {

/// A return code of the C client in our words. Everything after which nobody can know whether the request was applied
/// is connection_loss.
Status status_of(int rc) noexcept;

/// True when a server has answered in this session, so the session was alive as far as that server knew.
bool is_answer(int rc) noexcept;

}  // namespace zkrecipes::detail
