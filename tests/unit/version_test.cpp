// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/version.h"

#include <gtest/gtest.h>
#include <string>

namespace zkrecipes {
namespace {

TEST(Version, LibraryHeadersAndBuildAgree) {
  EXPECT_STREQ(version(), ZKRECIPES_VERSION);
  EXPECT_STREQ(version(), ZKRECIPES_PROJECT_VERSION) << "the version of the CMake project";
}

TEST(Version, TextIsMadeOfTheNumbers) {
  EXPECT_EQ(ZKRECIPES_VERSION, std::to_string(ZKRECIPES_VERSION_MAJOR) + "." + std::to_string(ZKRECIPES_VERSION_MINOR) +
                                   "." + std::to_string(ZKRECIPES_VERSION_PATCH));
}

}  // namespace
}  // namespace zkrecipes
