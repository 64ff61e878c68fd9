// SPDX-License-Identifier: Apache-2.0
#include "examples/pause/chart.h"

#include <algorithm>
#include <sstream>

#include "examples/support/gnuplot.h"

namespace pause_example {
namespace {

constexpr const char* kWaiting = "#d9dde2";
constexpr const char* kHolding = "#009e73";
constexpr const char* kStopped = "#555b66";
constexpr const char* kBad = "#c0392b";
constexpr const char* kGood = "#00694e";

struct Bar {
  double from;
  double to;
  const char* colour;
};

/// Time starts when A gets the lock; what it takes to get there is not the point.
double zero_of(const Outcome& outcome) {
  return std::find_if(outcome.events.begin(), outcome.events.end(),
                      [](const Event& event) { return event.what == What::granted; })
      ->at;
}

/// The times at which one writer was waiting, holding (as far as it knew), or stopped.
std::vector<Bar> bars(const Outcome& outcome, char who) {
  std::vector<Bar> result;
  const double zero = zero_of(outcome);
  const char* colour = nullptr;
  double since = 0;
  const auto change = [&](double at, const char* next) {
    if (colour != nullptr && at > zero) result.push_back({std::max(0.0, since - zero), at - zero, colour});
    colour = next;
    since = at;
  };
  for (const Event& event : outcome.events) {
    if (event.who != who) continue;
    if (event.what == What::started) change(event.at, kWaiting);
    if (event.what == What::granted) change(event.at, kHolding);
    if (event.what == What::stopped) change(event.at, kStopped);
    if (event.what == What::woken || event.what == What::done) change(event.at, nullptr);
  }
  return result;
}

int lane(char who) {
  return who == 'A' ? 2 : 1;
}

void labels(std::ostream& plot, const Outcome& outcome) {
  const double zero = zero_of(outcome);
  for (const Event& event : outcome.events) {
    std::string text;
    const char* colour = kGood;
    if (event.what == What::wrote) {
      text = "writes " + event.detail;
      if (event.who == 'A' && outcome.lost_update()) colour = kBad;
    } else if (event.what == What::refused) {
      text = event.detail + " refused";
    } else if (event.what == What::gave_up) {
      text = "does not write";
    } else {
      continue;
    }
    const bool written = event.what == What::wrote;
    plot << "set label '" << text << "' at " << event.at - zero << ',' << lane(event.who) + 0.34
         << (written ? " left offset 0.4,0.35" : " right offset -0.8,0.35") << " front textcolor rgb '" << colour
         << "' point pointtype " << (written ? 7 : 2) << " pointsize 1.1 linewidth 2.5 linecolor rgb '" << colour
         << "'\n";
  }
}

void panel(std::ostream& plot, const Outcome& outcome) {
  for (const char who : {'A', 'B'})
    for (const Bar& bar : bars(outcome, who))
      plot << "set object rectangle from " << bar.from << ',' << lane(who) - 0.3 << " to " << bar.to << ','
           << lane(who) + 0.3 << " fillcolor rgb '" << bar.colour << "' fillstyle solid noborder\n";
  labels(plot, outcome);
  plot << "set label \"" << outcome.guard->title << ": "
       << (outcome.lost_update() ? "B's update is lost" : "nothing is lost")
       << "\" at graph 0,1.04 left noenhanced textcolor rgb '" << (outcome.lost_update() ? kBad : kGood) << "'\n"
       << "plot NaN notitle\nunset label\nunset object\n";
}

}  // namespace

void draw_outcomes(const std::vector<Outcome>& outcomes, const std::string& stem) {
  double end = 0;
  for (const Outcome& outcome : outcomes) end = std::max(end, outcome.events.back().at - zero_of(outcome));
  std::ostringstream plot;
  plot << "set multiplot layout " << outcomes.size() << ",1 margins 0.05,0.98,0.08,0.90 spacing 0.075\n"
       << "set border 1 linecolor '#888888'\nset tics nomirror\nset xrange [0:" << end * 1.12 << "]\n"
       << "set yrange [0.5:2.85]\nset ytics ('A' 2, 'B' 1) scale 0\nset xtics textcolor '#333333'\n";
  const struct {
    const char* text;
    const char* colour;
  } legend[] = {{"waiting", kWaiting}, {"holding", kHolding}, {"stopped", kStopped}};
  double x = 0.62;
  for (const auto& entry : legend) {
    plot << "set object rectangle from screen " << x << ",0.965 to screen " << x + 0.02 << ",0.985 fillcolor rgb '"
         << entry.colour << "' fillstyle solid noborder\n"
         << "set label '" << entry.text << "' at screen " << x + 0.027 << ",0.975 left\n";
    x += 0.125;
  }
  plot << "set xtics format ''\n";
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (i + 1 == outcomes.size()) plot << "set xtics format '%g'\nset xlabel 'seconds'\n";
    panel(plot, outcomes[i]);
  }
  plot << "unset multiplot\nunset xlabel\n";
  examples::draw(plot.str(), stem, 900, 700);
}

}  // namespace pause_example
