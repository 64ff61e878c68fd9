// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <istream>
#include <string>

namespace comparison {

/// The parameters of one contender.
struct ContenderSpec {
  std::string design;  ///< its key
  std::string endpoints;
  std::string lock_name;
  std::chrono::milliseconds lease{};
  std::string store_port = "0";

  std::string encode() const;
  static ContenderSpec decode(std::istream& words);
};

/// How long a contender holds the lock that takes a turn.
constexpr std::chrono::milliseconds kTurn{20};

/// A process that does what its parent says, so that it can be stopped and killed wherever it stands. One command per
/// line; each is answered with a line "WORD NANOSECONDS DETAIL", the time being that of the clock which all processes
/// of a machine share. Ends when its input does.
///   acquire  -> granted, when it is, with the token or "-"
///   release  -> released, with the time before it began, and "yes" or "no": whether it was still the holder
///   turn     -> granted and released: acquire, hold for kTurn, release
///   held     -> held, with "yes" or "no": what the lock's client believes
///   read     -> value, of the number in the store
///   write N  -> wrote, with "ok" or "refused"
///   requests -> requests, their number or "-"; answered also while it waits for the lock
void run_contender(const ContenderSpec& spec);

}  // namespace comparison
