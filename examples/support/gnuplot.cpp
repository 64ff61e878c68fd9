// SPDX-License-Identifier: Apache-2.0
#include "examples/support/gnuplot.h"

#include <sstream>
#include <stdexcept>
#include <system_error>

#include "testkit/child_process.h"

namespace examples {

void draw(const std::string& plot, const std::string& stem, int width, int height) {
  std::ostringstream script;
  const std::string size = " size " + std::to_string(width) + "," + std::to_string(height);
  script << "set encoding utf8\n"
         << "set terminal svg" << size << " dynamic enhanced font 'DejaVu Sans,13' background '#ffffff'\n"
         << "set output '" << stem << ".svg'\n"
         << plot << "\nset output\n"
         << "set terminal pngcairo" << size << " enhanced font 'DejaVu Sans,10' background '#ffffff'\n"
         << "set output '" << stem << ".png'\n"
         << plot << "\nset output\n";
  try {
    testkit::ChildProcess gnuplot({"gnuplot", "-"});
    gnuplot.write(script.str());
    gnuplot.close_input();
    const int status = gnuplot.wait(std::chrono::seconds(60));
    if (status != 0) throw std::runtime_error("gnuplot could not draw " + stem + " (its message is above)");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::no_such_file_or_directory) throw;
    throw std::runtime_error("no charts, because there is no gnuplot: apt install gnuplot-nox (or scripts/setup demo)");
  }
}

}  // namespace examples
