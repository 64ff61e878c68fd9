// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>
#include <zkrecipes/connection_options.h>

namespace zklock {

/// The environment variable with credentials: "digest:user:password", several one per line.
inline constexpr const char* kAuthVariable = "ZK_AUTH";

/// Throws Failure(kUnsafeSecret) if an argument is or has a secret. Does not repeat the secret.
void refuse_secrets(const std::vector<std::string>& arguments);

/// From the file, one "scheme:secret" per line (a line that begins with "#" is a comment), or, without a file, from
/// kAuthVariable. Throws Failure(kUnsafeSecret) if the file cannot be read, may be read or written by everybody, or has
/// a line that is no credential; messages name the line by its number only. A file that does not exist and has a ':' in
/// its name is taken for a secret.
std::vector<zkrecipes::Credential> read_credentials(const std::string& file);

/// From now on a crash of this process, or of a child, leaves no core file, which would have the credentials in it.
void forbid_core_files();
/// For a command, as it was before. Safe in the child of a fork.
void permit_core_files_as_before() noexcept;

}  // namespace zklock
