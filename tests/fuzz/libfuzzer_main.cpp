// SPDX-License-Identifier: Apache-2.0
//
// One target for libFuzzer: the one named by the environment variable ZKRECIPES_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/fuzz/targets.h"

namespace {

const zkrecipes::testing::FuzzTarget& chosen() {
  const char* name = std::getenv("ZKRECIPES_FUZZ_TARGET");
  for (const auto& target : zkrecipes::testing::fuzz_targets())
    if (name != nullptr && std::string(name) == target.name) return target;
  std::cerr << "ZKRECIPES_FUZZ_TARGET names no target\n";
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& target = chosen();
  target.run(std::string(reinterpret_cast<const char*>(data), size));  // a broken promise ends it as a crash would
  return 0;
}
