// SPDX-License-Identifier: Apache-2.0
#include "examples/support/options.h"

#include <iostream>
#include <utility>

namespace examples {

namespace po = boost::program_options;

Options::Options(std::string name, std::string purpose)
    : name_(std::move(name)), purpose_(std::move(purpose)), visible_("options", 100) {
  visible_.add_options()("help,h", "show this and end");
}

void Options::number(const char* option, int* value, int lowest, int highest, const std::string& help) {
  const std::string range = std::to_string(lowest) + " to " + std::to_string(highest);
  const auto check = [=](int given) {
    if (given < lowest || given > highest)
      throw UsageError(std::string("--") + option + " must be " + range + ", not " + std::to_string(given));
  };
  visible_.add_options()(option, po::value(value)->default_value(*value)->value_name("N")->notifier(check),
                         (help + " (" + range + ")").c_str());
}

void Options::text(const char* option, std::string* value, const std::string& help) {
  auto* semantic = po::value(value)->value_name("TEXT");
  visible_.add_options()(option, value->empty() ? semantic : semantic->default_value(*value), help.c_str());
}

void Options::hidden_text(const char* option, std::string* value) {
  all_.add_options()(option, po::value(value));
}

bool Options::parse(int argc, const char* const* argv) {
  all_.add(visible_);
  try {
    po::variables_map values;
    const po::positional_options_description none;
    po::store(po::command_line_parser(argc, argv).options(all_).positional(none).run(), values);
    if (values.count("help") != 0) {
      std::cout << "usage: " << name_ << " [OPTION...]\n\n" << purpose_ << "\n\n" << visible_;
      return false;
    }
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return true;
}

}  // namespace examples
