// SPDX-License-Identifier: Apache-2.0
#include "connection/borrowed_nodes.h"

namespace zkrecipes::connection {

void BorrowedNodes::created(const std::string& path) {
  if (!borrowed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  nodes_.insert(path);
}

void BorrowedNodes::removed(const std::string& path) {
  if (!borrowed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  nodes_.erase(path);
}

void BorrowedNodes::in_doubt(const std::string& path) {
  if (!borrowed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  in_doubt_.insert(path);
}

BorrowedNodes::Leftovers BorrowedNodes::take() {
  if (!borrowed_) return {};
  std::lock_guard<std::mutex> lock(mutex_);
  Leftovers leftovers{{nodes_.begin(), nodes_.end()}, {in_doubt_.begin(), in_doubt_.end()}};
  nodes_.clear();
  in_doubt_.clear();
  return leftovers;
}

}  // namespace zkrecipes::connection
