// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "connection/world.h"

namespace zkrecipes::detail {

/// The world of a program: the system's clocks and resolver, real threads, random numbers of the kernel, and the C
/// client. There is one.
std::shared_ptr<World> system_world();

}  // namespace zkrecipes::detail
