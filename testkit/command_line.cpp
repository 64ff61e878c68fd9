// SPDX-License-Identifier: Apache-2.0
#include "testkit/command_line.h"

#include <boost/program_options/parsers.hpp>
#include <boost/program_options/variables_map.hpp>
#include <iostream>

namespace testkit {

namespace po = boost::program_options;

bool parse_command_line(int argc, const char* const* argv, po::options_description& options) {
  options.add_options()("help", "this text");
  po::variables_map values;
  po::store(po::parse_command_line(argc, argv, options), values);
  if (values.count("help") != 0) {
    std::cout << options;
    return false;
  }
  po::notify(values);
  return true;
}

}  // namespace testkit
