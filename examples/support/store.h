// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <istream>
#include <string>
#include <zkrecipes/fencing_token.h>

namespace examples {

/// The service that owns the data: one number. Serves on a port of 127.0.0.1, which it prints, until it is ended.
/// `fenced`: whether it looks at the tokens that come with the writes.
void serve_store(bool fenced);
/// The same as a role: the word "fenced" or another one.
void serve_store(std::istream& words);

/// How to talk to it. One line each way: "read" -> "value N"; "write N TOKEN" -> "ok" or "refused NEWEST_TOKEN".
class StoreClient {
 public:
  explicit StoreClient(std::string port);
  int read() const;
  bool write(int value, zkrecipes::FencingToken token) const;  ///< false: refused

 private:
  std::string ask(const std::string& request) const;
  const std::string port_;
};

}  // namespace examples
