// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <glog/logging.h>

namespace zkrecipes::testing {

/// For tests that read the lines of the library with a google::LogSink: glog is given lines only when it is set up.
inline void set_up_glog() {
  FLAGS_logtostderr = true;
  if (!google::IsGoogleLoggingInitialized()) google::InitGoogleLogging("tests");
}

}  // namespace zkrecipes::testing
