// SPDX-License-Identifier: Apache-2.0
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "bench/comparison/contender_role.h"
#include "bench/comparison/fault_scenarios.h"
#include "bench/comparison/table.h"
#include "bench/comparison/waiting_scenarios.h"
#include "examples/support/crew.h"
#include "examples/support/program.h"
#include "examples/support/role.h"
#include "examples/support/say.h"
#include "examples/support/store.h"

namespace {

using comparison::Design;
using comparison::RowResult;
using examples::say;

std::string all_keys() {
  std::string keys;
  for (const Design& design : comparison::designs()) keys += (keys.empty() ? "" : ",") + design.key;
  return keys;
}

std::vector<const Design*> chosen(const std::string& keys) {
  std::vector<std::string> words;
  boost::algorithm::split(words, keys, boost::algorithm::is_any_of(","));
  std::vector<const Design*> designs;
  for (const std::string& key : words) {
    const Design* const design = comparison::find_design(key);
    if (design == nullptr) throw examples::UsageError("--rows: there is no '" + key + "', but " + all_keys());
    designs.push_back(design);
  }
  return designs;
}

RowResult try_out(const Design& design, const std::string& zookeeper_servers, std::chrono::milliseconds lease) {
  say(design.key, "starting servers");
  const auto service = start_service(design, zookeeper_servers);
  const comparison::Trial trial{design, *service, lease};
  RowResult row;
  row.title = design.title;
  {
    examples::Crew crew;  // side by side, for most of the time is spent waiting for leases to run out
    crew.start([&] {
      row.death = kill_holder(trial);
      say(design.key, "holder killed: " + describe(row.death));
    });
    crew.start([&] {
      row.pause = pause_holder(trial);
      say(design.key, "holder paused: " + describe_holders(row.pause) + ", " + describe_update(row.pause));
    });
    crew.join();
  }
  row.waiting = watch_waiting(trial);
  say(design.key, "waiting: woken by " + describe_waking(row.waiting) + " after " + describe_delay(row.waiting) +
                      ", rounds in order: " + describe_order(row.waiting));
  row.failure = fail_servers(trial);  // last, for some do not come back
  say(design.key, "servers fail: " + describe(row.failure));
  return row;
}

void report(const std::vector<RowResult>& rows, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto file = folder / "comparison.md";
  std::ofstream markdown(file);
  std::cout << '\n';
  for (const comparison::Table& table : make_tables(rows)) {
    std::cout << as_text(table) << '\n';
    markdown << as_markdown(table) << '\n';
  }
  std::cout << conclusion(rows) << "\n\ntable: " << file.string() << std::endl;
  markdown << conclusion(rows) << std::endl;
  if (!markdown) throw std::runtime_error("cannot write " + file.string());
}

/// This program is also its own store and contenders. True if it was started as one of them.
bool play_role(const std::string& role) {
  return examples::play_role(
      role, {{"contender", [](std::istream& words) { run_contender(comparison::ContenderSpec::decode(words)); }},
             {"store", [](std::istream& words) { examples::serve_store(words); }}});
}

}  // namespace

int main(int argc, char** argv) {
  examples::Program program(
      "comparison",
      "The locks that people build on PostgreSQL, Redis, etcd and ZooKeeper, each on real servers\n"
      "that are started for the occasion: what happens when the holder dies, when it is paused for\n"
      "longer than its lease, when the servers fail, and while others wait? The table comes from\n"
      "what happened in the run, which takes about three minutes.");
  int lease = 2000;
  std::string keys = all_keys();
  std::string folder = "comparison_report";
  std::string role;
  program.options().text("rows", &keys, "which locks, in this order");
  program.options().number("lease", &lease, 1000, 60'000, "milliseconds; etcd rounds up to whole seconds");
  program.options().text("output", &folder, "folder for the table in Markdown");
  program.options().hidden_text("role", &role);

  return program.run(argc, argv, [&] {
    if (play_role(role)) return;
    const auto designs = chosen(keys);
    for (const Design* design : designs) check_programs(*design);
    if (!program.given_servers().empty()) program.connect("check");  // says so if nobody answers
    std::vector<RowResult> rows;
    rows.reserve(designs.size());
    for (const Design* design : designs)
      rows.push_back(try_out(*design, program.given_servers(), std::chrono::milliseconds(lease)));
    report(rows, folder);
  });
}
