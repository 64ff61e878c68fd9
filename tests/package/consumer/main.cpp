// SPDX-License-Identifier: Apache-2.0
//
// A user's program in small. It needs no server: that bad input is refused proves that the library is linked and works.
// Headers and library are of the version that it was told to expect, if any.

#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <zkrecipes/connection.h>
#include <zkrecipes/version.h>

#ifndef EXPECTED_VERSION
#define EXPECTED_VERSION ZKRECIPES_VERSION
#endif

int main() {
  if (std::strcmp(ZKRECIPES_VERSION, EXPECTED_VERSION) != 0 ||
      std::strcmp(zkrecipes::version(), EXPECTED_VERSION) != 0) {
    std::cerr << "headers " << ZKRECIPES_VERSION << ", library " << zkrecipes::version() << ", expected "
              << EXPECTED_VERSION << '\n';
    return 1;
  }
  try {
    zkrecipes::Connection connection{std::string()};
  } catch (const std::invalid_argument& refused) {
    std::cout << "an empty server list is refused: " << refused.what() << '\n';
    return 0;
  }
  std::cerr << "an empty server list was accepted\n";
  return 1;
}
