// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace zklock {

/// What ps(1) and pkill(1) show and look for, with and without arguments. At most 15 characters. Needs /proc for the
/// arguments and leaves them as they are without it. Strings in argv are gone afterwards.
void rename_process(const char* name);

}  // namespace zklock
