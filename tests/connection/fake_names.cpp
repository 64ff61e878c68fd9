// SPDX-License-Identifier: Apache-2.0
#include "tests/connection/fake_names.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <netdb.h>
#include <utility>

namespace zkrecipes::testing {
namespace {

struct Name {
  std::vector<std::string> addresses;
  int lookups = 0;
};

std::mutex mutex;
std::map<std::string, Name> names;  // guarded by mutex

using Resolver = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

Resolver system_resolver() {
  static const auto resolver = reinterpret_cast<Resolver>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return resolver;
}

/// The addresses of the name, and true if it is one of ours.
std::pair<bool, std::vector<std::string>> look_up(const char* name) {
  if (name == nullptr) return {false, {}};
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = names.find(name);
  if (found == names.end()) return {false, {}};
  ++found->second.lookups;
  return {true, found->second.addresses};
}

}  // namespace

FakeNames::~FakeNames() {
  std::lock_guard<std::mutex> lock(mutex);
  names.clear();
}

void FakeNames::set(const std::string& name, std::vector<std::string> addresses) {
  std::lock_guard<std::mutex> lock(mutex);
  names[name].addresses = std::move(addresses);
}

int FakeNames::lookups(const std::string& name) const {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = names.find(name);
  return found == names.end() ? 0 : found->second.lookups;
}

}  // namespace zkrecipes::testing

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** result) {
  using zkrecipes::testing::look_up;
  using zkrecipes::testing::system_resolver;
  const auto [ours, addresses] = look_up(name);
  if (!ours) return system_resolver()(name, service, hints, result);
  addrinfo** end = result;
  *end = nullptr;
  for (const std::string& address : addresses) {
    if (const int failed = system_resolver()(address.c_str(), service, hints, end); failed != 0) return failed;
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return addresses.empty() ? EAI_AGAIN : 0;
}
