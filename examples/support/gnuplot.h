// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace examples {

/// Draws with gnuplot what `plot` says, as `stem`.svg and `stem`.png, `width` by `height` pixels. `plot` has everything
/// but the terminal and the output.
/// @throws std::runtime_error that says what to install if there is no gnuplot, or what it complained about
void draw(const std::string& plot, const std::string& stem, int width, int height);

}  // namespace examples
