// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/chart.h"

#include <algorithm>
#include <sstream>

#include "examples/support/gnuplot.h"

namespace herd_effect {
namespace {

// Told apart by people who do not see colours alike, too.
constexpr const char* kSimple = "#d55e00";
constexpr const char* kFair = "#0072b2";
constexpr const char* kWaiting = "#d9dde2";
constexpr const char* kHolding = "#009e73";
constexpr const char* kForNothing = "#d55e00";

constexpr const char* kLook =
    "set border 3 linecolor '#888888'\n"
    "set tics nomirror textcolor '#333333'\n"
    "set grid ytics linecolor '#e6e6e6' linewidth 1\n";

void boxes(std::ostream& plot, const std::string& name, const RaceLog& log, bool holding) {
  plot << '$' << name << " << EOD\n";
  for (const Turn& turn : log.turns) {
    const double from = holding ? turn.granted : turn.asked;
    const double to = holding ? turn.released : turn.granted;
    plot << std::max(0.0, from) << ' ' << turn.contender + 1 << ' ' << std::max(0.0, from) << ' ' << to << ' '
         << turn.contender + 1 - (holding ? 0.38 : 0.14) << ' ' << turn.contender + 1 + (holding ? 0.38 : 0.14) << '\n';
  }
  plot << "EOD\n";
}

void wakeups_for_nothing(std::ostream& plot, const std::string& name, const RaceLog& log) {
  plot << '$' << name << " << EOD\n-1 -1 0 0.6\n";  // gnuplot refuses an empty set
  for (const Turn& turn : log.turns) {
    const auto times = wakeup_times(turn, log);
    for (std::size_t i = 0; i + 1 < times.size(); ++i)  // the last one got the lock
      plot << times[i] << ' ' << turn.contender + 1 - 0.3 << " 0 0.6\n";
  }
  plot << "EOD\n";
}

void panel(std::ostream& plot, const std::string& prefix, const std::string& title) {
  plot << "set label 1 '" << title << "' at graph 0,1.07 left\n"
       << "plot $" << prefix << "_waiting using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '" << kWaiting
       << "' fillstyle solid noborder title 'waiting', \\\n"
       << " $" << prefix << "_idle using 1:2:3:4 with vectors nohead linewidth 2 linecolor rgb '" << kForNothing
       << "' title 'woken for nothing', \\\n"
       << " $" << prefix << "_holding using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '" << kHolding
       << "' fillstyle solid noborder title 'holding'\n"
       << "unset key\n";
}

}  // namespace

void draw_events(const std::vector<Pair>& races, const std::string& stem) {
  std::ostringstream plot;
  plot << "$simple << EOD\n";
  for (const Pair& pair : races)
    plot << pair.simple.contenders << ' ' << evaluate(pair.simple).events_per_release << '\n';
  plot << "EOD\n$fair << EOD\n";
  for (const Pair& pair : races) plot << pair.fair.contenders << ' ' << evaluate(pair.fair).events_per_release << '\n';
  const int most = races.back().simple.contenders;
  plot << "EOD\n"
       << kLook << "set title 'Who wakes when the lock is released' font ',15'\n"
       << "set xlabel 'contenders'\nset ylabel 'watch events per release'\n"
       << "set xrange [0:" << most * 1.08 << "]\nset yrange [0:*]\nset offsets 0, 0, graph 0.06, 0\n"
       << "set key top left Left reverse samplen 2 spacing 1.3\n"
       << "plot $simple using 1:2 with linespoints pointtype 7 pointsize 0.9 linewidth 2.5 linecolor rgb '" << kSimple
       << "' title 'simple lock: everybody who waits', \\\n"
       << " $simple using 1:2:($1 * 8 < " << most
       << " ? '' : sprintf('%.1f', $2)) with labels right offset -1,0.5 textcolor rgb '" << kSimple << "' notitle, \\\n"
       << " $fair using 1:2 with linespoints pointtype 5 pointsize 0.9 linewidth 2.5 linecolor rgb '" << kFair
       << "' title 'fair mutex: the next one', \\\n"
       << " $fair using 1:2:(sprintf('%.1f', $2)) every ::" << races.size() - 1
       << " with labels center offset 0,1 textcolor rgb '" << kFair << "' notitle\n";
  examples::draw(plot.str(), stem, 760, 440);
}

void draw_timeline(const Pair& races, const std::string& stem) {
  // Both panels on one scale, long enough for two turns of each contender.
  const auto end_of_round = [](const RaceLog& log) {
    return log.turns[std::min(log.turns.size() - 1, static_cast<std::size_t>(log.contenders) * 2)].released;
  };
  const double end = std::max(end_of_round(races.simple), end_of_round(races.fair));
  std::ostringstream plot;
  for (const RaceLog* log : {&races.simple, &races.fair}) {
    const std::string prefix = log->is_simple ? "simple" : "fair";
    boxes(plot, prefix + "_waiting", *log, false);
    boxes(plot, prefix + "_holding", *log, true);
    wakeups_for_nothing(plot, prefix + "_idle", *log);
  }
  plot << "set multiplot layout 2,1 margins 0.07,0.98,0.09,0.90 spacing 0.12\n"
       << kLook << "set xrange [0:" << end << "]\nset yrange [" << races.simple.contenders << ".6:0.4]\n"
       << "set ytics 1," << std::max(1, races.simple.contenders / 8) << "\nset ylabel 'contender'\n"
       << "set key at screen 0.98,0.985 right top horizontal Left reverse samplen 1.5 width 1\n";
  panel(plot, "simple", "Simple lock: each release wakes all, one wins");
  plot << "set xlabel 'seconds since the lock was opened'\n";
  panel(plot, "fair", "Fair mutex: each release wakes the next in line");
  plot << "unset multiplot\nunset xlabel\nunset label\n";
  examples::draw(plot.str(), stem, 900, 640);
}

}  // namespace herd_effect
