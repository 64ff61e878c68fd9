// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <string>

namespace comparison {

/// A random value that tells this contender's lock from others'.
inline std::string make_owner() {
  return boost::uuids::to_string(boost::uuids::random_generator()());
}

}  // namespace comparison
