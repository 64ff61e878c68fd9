// SPDX-License-Identifier: Apache-2.0
#include "recipes/reentrant_hold.h"

#include <utility>

namespace zkrecipes::detail {

ReentrantHold::Entry ReentrantHold::enter_write() {
  if (writes_ > 0) {
    ++writes_;
    return Entry::counted;
  }
  return reads_ > 0 ? Entry::refused : Entry::acquire;
}

ReentrantHold::Entry ReentrantHold::enter_read() {
  if (writes_ == 0 && reads_ == 0) return Entry::acquire;
  ++reads_;
  return Entry::counted;
}

void ReentrantHold::granted_write(Hold hold, LockOptions options) {
  hold_ = std::make_shared<DowngradableHold>(std::move(hold), std::move(options));
  writes_ = 1;
}

void ReentrantHold::granted_read(Hold hold) {
  hold_ = std::make_shared<DowngradableHold>(std::move(hold), LockOptions());
  reads_ = 1;
}

ReentrantHold::Exit ReentrantHold::leave_write() {
  if (writes_ == 0) return Exit::not_inside;
  if (--writes_ > 0) return Exit::inside;
  if (reads_ == 0) return Exit::over;
  hold_->downgrade();
  return Exit::inside;
}

ReentrantHold::Exit ReentrantHold::leave_read() {
  if (reads_ == 0) return Exit::not_inside;
  return --reads_ > 0 || writes_ > 0 ? Exit::inside : Exit::over;
}

}  // namespace zkrecipes::detail
