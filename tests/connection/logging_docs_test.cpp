// SPDX-License-Identifier: Apache-2.0
// The code of docs/logging.md, compiled; all but the first are also run. The included files are made from the page.
#include <glog/logging.h>
#include <gtest/gtest.h>

#include "zkrecipes/zkrecipes.h"

namespace zkrecipes::testing {

/// The program's.
struct Logger {
  void write(const std::string& severity, const std::string& line) { last = severity + ": " + line; }
  std::string last;
};

void set_up_as_in_the_docs(char** argv){
#include <logging_1.inc>  // not run
}

std::function<void(LogSeverity, const std::string&)> sink_of_the_docs(Logger& logger) {
#include <logging_2.inc>
  return options.log;
}

ConnectionOptions silent_as_in_the_docs() {
#include <logging_3.inc>
  return options;
}

TEST(LoggingDocs, TheSink_WritesToTheLogger) {
  Logger logger;
  sink_of_the_docs(logger)(LogSeverity::warning, "a line");
  EXPECT_EQ(logger.last, "warning: a line");
}

TEST(LoggingDocs, Silence_IsASinkThatDoesNothing) {
  EXPECT_TRUE(silent_as_in_the_docs().log);
}

}  // namespace zkrecipes::testing
