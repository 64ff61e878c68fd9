// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace zkrecipes::testing {

/// Names that exist in this program only. The definition of getaddrinfo() in fake_names.cpp stands before the system's,
/// also for the C client, and passes on what it does not know. Thread-safe. The names vanish with this object.
class FakeNames {
 public:
  FakeNames() = default;
  ~FakeNames();
  FakeNames(const FakeNames&) = delete;
  FakeNames& operator=(const FakeNames&) = delete;

  /// Numeric addresses; none: the name does not resolve.
  void set(const std::string& name, std::vector<std::string> addresses);
  /// How often the name was looked up so far.
  int lookups(const std::string& name) const;
};

}  // namespace zkrecipes::testing
