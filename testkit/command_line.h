// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/program_options/options_description.hpp>

namespace testkit {

/// Reads the command line into the variables of `options`, to which it adds --help. Returns false if that was given;
/// the text has been printed then. Throws boost::program_options::error.
bool parse_command_line(int argc, const char* const* argv, boost::program_options::options_description& options);

}  // namespace testkit
