// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of the headers that a program is compiled with. CMake reads it here, so this is the only place that has
/// it.
#define ZKRECIPES_VERSION_MAJOR 0
#define ZKRECIPES_VERSION_MINOR 1
#define ZKRECIPES_VERSION_PATCH 0

#define ZKRECIPES_TEXT_OF_(x) #x
#define ZKRECIPES_TEXT_OF(x) ZKRECIPES_TEXT_OF_(x)
/// The same as text, "major.minor.patch".
#define ZKRECIPES_VERSION                    \
  ZKRECIPES_TEXT_OF(ZKRECIPES_VERSION_MAJOR) \
  "." ZKRECIPES_TEXT_OF(ZKRECIPES_VERSION_MINOR) "." ZKRECIPES_TEXT_OF(ZKRECIPES_VERSION_PATCH)

namespace zkrecipes {

/// The version of the library that a program is linked with, "major.minor.patch". With a shared library it can differ
/// from ZKRECIPES_VERSION. Before 1.0, headers and library must have the same major and minor version.
const char* version() noexcept;

}  // namespace zkrecipes
