// SPDX-License-Identifier: Apache-2.0
//
// Random inputs for all targets, the same for the same seed; and random commands for the test server's control.
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

#include "testkit/command_line.h"
#include "tests/fuzz/targets.h"
#include "tests/support/test_server.h"

namespace {

namespace po = boost::program_options;
using namespace zkrecipes::testing;
using SteadyClock = std::chrono::steady_clock;

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string next(const std::vector<std::string>& examples) {
    std::string text = examples[below(examples.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(text, examples);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void change(std::string& text, const std::vector<std::string>& examples) {
    static const std::string kTelling = "0123456789-_/.:,[]% \n\xff";
    const std::size_t at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 1:
        text.insert(at, 1, kTelling[below(kTelling.size())]);
        break;
      case 2:
        if (at < text.size()) text[at] = kTelling[below(kTelling.size())];
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 4:
        text.erase(at, below(text.size() - at + 1));
        break;
      case 5:
        if (text.size() < 4'096) text.insert(at, text.substr(below(text.size() + 1), below(64)));
        break;
      default:
        text = text.substr(0, at) + examples[below(examples.size())];
        if (text.size() > 8'192) text.resize(8'192);
    }
  }

  std::mt19937 random_;
};

void show(const std::string& input) {
  std::cout << "  input:";
  for (const char byte : input)
    std::cout << ' ' << std::hex << std::setw(2) << std::setfill('0')
              << static_cast<int>(static_cast<unsigned char>(byte));
  std::cout << std::dec << std::endl;
}

bool fuzz(const FuzzTarget& target, std::uint32_t seed, std::chrono::milliseconds time) {
  Mutator mutator(seed);
  const auto end = SteadyClock::now() + time;
  long inputs = 0;
  for (const std::string& example : target.examples) target.run(example);
  while (SteadyClock::now() < end) {
    for (int i = 0; i < 100; ++i, ++inputs) {
      const std::string input = mutator.next(target.examples);
      try {
        target.run(input);
      } catch (const std::exception& error) {
        std::cout << "  " << target.name << ": " << error.what() << '\n';
        show(input);
        return false;
      }
    }
  }
  std::cout << "  " << target.name << ": " << inputs << " inputs" << std::endl;
  return true;
}

/// The control answers every line with one line and continues to work.
bool fuzz_control(std::uint32_t seed, std::chrono::milliseconds time) {
  if (external_servers()) return true;
  Mutator mutator(seed);
  TestServerProcess process;
  // Without verbs that do what they say: a server started here, or the end of the process, would be no finding.
  const std::vector<std::string> examples{"ping",        "kill 1 leader", "restart 1 0",  "leader 99",
                                          "expire 1 0x", "info 1 -1",     "close 123456", "stop 1 99999999999"};
  const auto end = SteadyClock::now() + time;
  long lines = 0;
  while (SteadyClock::now() < end) {
    std::string line = mutator.next(examples);
    for (char& byte : line)
      if (byte == '\n' || byte == '\r' || byte == '\0') byte = ' ';
    if (line.find("quit") != std::string::npos || line.find("start ") == 0) continue;
    try {
      process.command(line);
    } catch (const std::runtime_error& error) {
      if (std::string(error.what()).find(": error") == std::string::npos) {
        std::cout << "  control: " << error.what() << '\n';
        show(line);
        return false;
      }
    }
    ++lines;
  }
  process.command("ping");
  std::cout << "  control: " << lines << " commands" << std::endl;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  double seconds = 1;
  std::uint32_t seed = 1;
  po::options_description description("fuzz_driver: random inputs for all parsers of input from outside");
  auto add = description.add_options();
  add("seconds", po::value(&seconds)->default_value(1), "for each target");
  add("seed", po::value(&seed)->default_value(1), "the same seed, the same inputs");
  try {
    if (!testkit::parse_command_line(argc, argv, description)) return 0;
  } catch (const po::error& error) {
    std::cerr << "fuzz_driver: " << error.what() << " (see --help)\n";
    return 2;
  }
  const std::chrono::milliseconds time(static_cast<long>(seconds * 1'000));
  bool clean = true;
  for (const FuzzTarget& target : fuzz_targets()) clean = fuzz(target, seed, time) && clean;
  clean = fuzz_control(seed, time) && clean;
  std::cout << (clean ? "fuzz: nothing found" : "fuzz: FOUND SOMETHING") << std::endl;
  return clean ? 0 : 1;
}
