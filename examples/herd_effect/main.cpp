// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "examples/herd_effect/chart.h"
#include "examples/herd_effect/page.h"
#include "examples/herd_effect/race.h"
#include "examples/herd_effect/table.h"
#include "examples/support/crew.h"
#include "examples/support/program.h"

namespace {

using Connections = std::vector<std::shared_ptr<zkrecipes::Connection>>;
constexpr int kMostLanes = 16;  // more are no longer told apart on the timeline

/// 2, 4, 8 and so on, up to `most` itself.
std::vector<int> sizes_up_to(int most) {
  std::vector<int> sizes;
  for (int size = 2; size < most; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

Connections connect_all(examples::Program& program, int count) {
  program.servers();  // once, before the threads ask for it
  Connections connections(static_cast<std::size_t>(count));
  examples::Crew crew;
  for (std::size_t i = 0; i < connections.size(); ++i)
    crew.start([&, i] { connections[i] = program.connect("contender " + std::to_string(i)); });
  crew.join();
  return connections;
}

void report(const std::vector<herd_effect::Races>& races, const std::filesystem::path& folder) {
  const auto& largest = races.back();
  const int contenders = largest.front().contenders;
  const auto table = make_table(largest);
  const std::string sentence = conclusion(largest);
  std::cout << "\n"
            << contenders << " contenders\n"
            << as_text(table) << '\n'
            << herd_effect::kHowCounted << "\n"
            << std::endl;

  std::filesystem::create_directories(folder);
  const auto lanes = std::find_if(races.rbegin(), races.rend(),
                                  [](const herd_effect::Races& each) { return each.front().contenders <= kMostLanes; });
  const auto& timeline = lanes == races.rend() ? races.front() : *lanes;
  herd_effect::PageContent content;
  content.contenders = contenders;
  content.timeline_contenders = timeline.front().contenders;
  content.events_svg = folder / "herd_events.svg";
  content.timeline_svg = folder / "herd_timeline.svg";
  content.table = table;
  content.conclusion = sentence;
  draw_events(races, folder / "herd_events");
  draw_timeline(timeline, folder / "herd_timeline");
  write_page(content, folder / "herd_effect.html");
  std::cout << "charts: " << (folder / "herd_events.png").string() << ", " << (folder / "herd_timeline.png").string()
            << "\npage:   " << std::filesystem::absolute(folder / "herd_effect.html").lexically_normal().string()
            << "\n\n"
            << sentence << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program(
      "herd_effect",
      "How many waiters wake when a lock is released? The same work under the simple lock, under the\n"
      "fair mutex, and under the fair mutex with look-ahead, with 2, 4, 8 ... contenders, each with a\n"
      "connection of its own: a table, two charts and a page that explains them.");
  int contenders = 64;
  int rounds = 2;
  int work = 10;
  std::string folder = "herd_effect_report";
  program.options().number("contenders", &contenders, 2, 256, "the largest number of them");
  program.options().number("rounds", &rounds, 1, 100, "turns of each contender, on average");
  program.options().number("work", &work, 0, 1000, "milliseconds of work under the lock");
  program.options().text("output", &folder, "folder for charts and page");

  return program.run(argc, argv, [&] {
    const Connections connections = connect_all(program, contenders + 1);
    const std::vector<int> sizes = sizes_up_to(contenders);
    int turns = 0;
    for (const int size : sizes) turns += static_cast<int>(std::size(herd_effect::kLockKinds)) * (rounds + 1) * size;
    std::vector<herd_effect::Races> races;
    {
      herd_effect::Progress progress(turns);
      for (const int size : sizes) {
        herd_effect::RaceSpec spec;
        spec.contenders = size;
        spec.rounds = rounds;
        spec.work = std::chrono::milliseconds(work);
        spec.servers = program.servers();
        herd_effect::Races of_this_size;
        for (const herd_effect::LockKind lock : herd_effect::kLockKinds) {
          spec.lock = lock;
          of_this_size.push_back(run_race(spec, connections, progress));
        }
        races.push_back(std::move(of_this_size));
      }
    }
    report(races, folder);
  });
}
