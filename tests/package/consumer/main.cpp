// SPDX-License-Identifier: Apache-2.0
//
// A user's program in small. It needs no server: that bad input is refused proves that the library is linked and works.

#include <iostream>
#include <stdexcept>
#include <string>
#include <zkrecipes/connection.h>

int main() {
  try {
    zkrecipes::Connection connection{std::string()};
  } catch (const std::invalid_argument& refused) {
    std::cout << "an empty server list is refused: " << refused.what() << '\n';
    return 0;
  }
  std::cerr << "an empty server list was accepted\n";
  return 1;
}
