// SPDX-License-Identifier: Apache-2.0
#include "zkrecipes/fencing_gate.h"

namespace zkrecipes {

bool FencingGate::admit(FencingToken token) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (token == FencingToken{} || token < highest_) return false;
  highest_ = token;
  return true;
}

FencingToken FencingGate::highest() const noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  return highest_;
}

void FencingGate::reset(FencingToken token) {
  std::lock_guard<std::mutex> lock(mutex_);
  highest_ = token;
}

}  // namespace zkrecipes
