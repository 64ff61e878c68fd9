// SPDX-License-Identifier: Apache-2.0
#include "examples/herd_effect/chart.h"

#include <algorithm>
#include <sstream>

#include "examples/support/gnuplot.h"

namespace herd_effect {
namespace {

// Told apart by people who do not see colours alike, too.
constexpr const char* kWaiting = "#d9dde2";
constexpr const char* kHolding = "#009e73";
constexpr const char* kForNothing = "#d55e00";
constexpr const char* kMovesUp = "#cc79a7";

/// How a lock is drawn.
struct Style {
  const char* colour;
  int point_type;
  const char* who_wakes;    ///< in the chart of the events
  const char* panel_title;  ///< in the timeline
};

Style style_of(LockKind lock) {
  switch (lock) {
    case LockKind::simple:
      return {"#d55e00", 7, "simple lock: everybody who waits", "Simple lock: each release wakes all, one wins"};
    case LockKind::fair:
      return {"#0072b2", 5, "fair mutex: the next one", "Fair mutex: each release wakes the next in line"};
    case LockKind::look_ahead:
      return {"#cc79a7", 9, "with look-ahead: the next one, and the one behind it",
              "Fair mutex with look-ahead: each release wakes the next in line, and the one that moves up"};
  }
  return {};
}

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

void earlier_wakeups(std::ostream& plot, const std::string& name, const RaceLog& log) {
  plot << '$' << name << " << EOD\n-1 -1 0 0.6\n";  // gnuplot refuses an empty set
  for (const Turn& turn : log.turns) {
    const auto times = wakeup_times(turn, log);
    for (std::size_t i = 0; i + 1 < times.size(); ++i)  // the last one got the lock
      plot << times[i] << ' ' << turn.contender + 1 - 0.3 << " 0 0.6\n";
  }
  plot << "EOD\n";
}

void panel(std::ostream& plot, LockKind lock) {
  const std::string prefix = name_of(lock);
  const bool looks_ahead = lock == LockKind::look_ahead;
  plot << "set label 1 '" << style_of(lock).panel_title << "' at graph 0,1.09 left\n"
       << "plot $" << prefix << "_waiting using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '" << kWaiting
       << "' fillstyle solid noborder title 'waiting', \\\n"
       << " $" << prefix << "_woken using 1:2:3:4 with vectors nohead linewidth 2 linecolor rgb '"
       << (looks_ahead ? kMovesUp : kForNothing) << "' title 'woken for nothing', \\\n"
       << " NaN with lines linewidth 2 linecolor rgb '" << kMovesUp << "' title 'woken to move up', \\\n"
       << " $" << prefix << "_holding using 1:2:3:4:5:6 with boxxyerror fillcolor rgb '" << kHolding
       << "' fillstyle solid noborder title 'holding'\n"
       << "unset key\n";
}

}  // namespace

void draw_events(const std::vector<Races>& races, const std::string& stem) {
  std::ostringstream plot;
  for (const LockKind lock : kLockKinds) {
    plot << '$' << name_of(lock) << " << EOD\n";
    for (const Races& size : races) {
      const RaceLog& log = size[static_cast<std::size_t>(lock)];
      plot << log.contenders << ' ' << evaluate(log).events_per_release << '\n';
    }
    plot << "EOD\n";
  }
  const int most = races.back().front().contenders;
  plot << kLook << "set title 'Who wakes when the lock is released' font ',15'\n"
       << "set xlabel 'contenders'\nset ylabel 'watch events per release'\n"
       << "set xrange [0:" << most * 1.08 << "]\nset yrange [0:*]\nset offsets 0, 0, graph 0.06, 0\n"
       << "set key top left Left reverse samplen 2 spacing 1.3\n";
  const char* separator = "plot";
  for (const LockKind lock : kLockKinds) {
    const Style style = style_of(lock);
    plot << separator << " $" << name_of(lock) << " using 1:2 with linespoints pointtype " << style.point_type
         << " pointsize 0.9 linewidth 2.5 linecolor rgb '" << style.colour << "' title '" << style.who_wakes << '\'';
    separator = ", \\\n";
  }
  plot << separator << " $simple using 1:2:($1 * 8 < " << most
       << " ? '' : sprintf('%.1f', $2)) with labels right offset -1,0.5 textcolor rgb '"
       << style_of(LockKind::simple).colour << "' notitle";
  for (const LockKind lock : {LockKind::fair, LockKind::look_ahead})  // beside their last points, which are close
    plot << separator << " $" << name_of(lock) << " using 1:2:(sprintf('%.1f', $2)) every ::" << races.size() - 1
         << " with labels left offset 0.8," << (lock == LockKind::fair ? "-0.2" : "0.5") << " textcolor rgb '"
         << style_of(lock).colour << "' notitle";
  plot << '\n';
  examples::draw(plot.str(), stem, 760, 440);
}

void draw_timeline(const Races& races, const std::string& stem) {
  std::ostringstream plot;
  double end = 0;  // all panels on one scale, long enough for two turns of each contender
  for (const RaceLog& log : races) {
    const auto last = std::min(log.turns.size() - 1, static_cast<std::size_t>(log.contenders) * 2);
    end = std::max(end, log.turns[last].released);
    const std::string prefix = name_of(log.lock);
    boxes(plot, prefix + "_waiting", log, false);
    boxes(plot, prefix + "_holding", log, true);
    earlier_wakeups(plot, prefix + "_woken", log);
  }
  const int contenders = races.front().contenders;
  plot << "set multiplot layout 3,1 margins 0.07,0.98,0.06,0.93 spacing 0.08\n"
       << kLook << "set xrange [0:" << end << "]\nset yrange [" << contenders << ".6:0.4]\n"
       << "set ytics 1," << std::max(1, contenders / 8) << "\nset ylabel 'contender'\n"
       << "set key at screen 0.98,0.99 right top horizontal Left reverse samplen 1.5 width 1\n";
  for (const RaceLog& log : races) {
    if (log.lock == races.back().lock) plot << "set xlabel 'seconds since the lock was opened'\n";
    panel(plot, log.lock);
  }
  plot << "unset multiplot\nunset xlabel\nunset label\n";
  examples::draw(plot.str(), stem, 900, 940);
}

}  // namespace herd_effect
