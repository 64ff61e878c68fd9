// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/driver.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <iostream>
#include <sstream>

#include "bench/driver/process_usage.h"
#include "testkit/command_line.h"

namespace bench {

namespace {

namespace po = boost::program_options;

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<std::string> names_of(const std::map<std::string, WorkloadFactory>& workloads) {
  std::vector<std::string> names;
  names.reserve(workloads.size());
  for (const auto& entry : workloads) names.push_back(entry.first);
  return names;
}

void require_known(const std::string& name, const char* what, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw std::invalid_argument(std::string("no ") + what + " '" + name + "'; there are: " + list(known));
}

/// One measured run, as a line of JSON.
std::string measure(Workload& workload, const std::string& peer, const DriverOptions& options) {
  const ProcessUsage before = process_usage();
  const auto started = std::chrono::steady_clock::now();
  workload.run(options.cycles);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  const ProcessUsage after = process_usage();

  std::ostringstream line;
  line << R"({"peer": ")" << peer << R"(", "workload": ")" << options.workload << R"(", "cycles": )" << options.cycles
       << R"(, "peak_rss_kb": )" << after.peak_rss_kb;
  if (const std::optional<double> part = workload.measured_seconds())
    line << R"(, "seconds": )" << *part << R"(, "cpu_seconds": null, "requests": null, "bytes": null)";
  else
    line << R"(, "seconds": )" << took.count() << R"(, "cpu_seconds": )" << after.cpu_seconds - before.cpu_seconds;
  for (const auto& [name, value] : workload.figures()) line << ", \"" << name << "\": " << value;
  line << "}";
  return line.str();
}

void serve_commands(Workload& workload, const std::string& peer, const DriverOptions& options) {
  bool prepared = false;
  const auto prepare = [&] {
    if (!prepared) workload.prepare(options.cycles);
    prepared = true;
  };
  for (std::string command; std::getline(std::cin, command);) {
    if (command == "prepare") {
      prepare();
      std::cout << "ready" << std::endl;
    } else if (command == "run") {
      prepare();
      prepared = false;
      std::cout << measure(workload, peer, options) << std::endl;
    } else {
      throw std::invalid_argument("unknown command '" + command + "'");
    }
  }
}

}  // namespace

int drive(int argc, char** argv, const std::string& peer, const std::map<std::string, WorkloadFactory>& workloads,
          const std::vector<std::string>& locks) {
  DriverOptions options;
  po::options_description description("Measures " + peer + ". Commands on standard input: prepare, run.\n\nOptions");
  auto add = description.add_options();
  add("server", po::value(&options.server)->required(),
      "host:port of a ZooKeeper server, or several with commas between");
  add("workload", po::value(&options.workload)->required(), list(names_of(workloads)).c_str());
  add("root", po::value(&options.root)->default_value("/bench/" + peer), "below it are the lock paths");
  add("cycles", po::value(&options.cycles)->default_value(1000), "per run");
  add("warmup", po::value(&options.warmup)->default_value(0), "cycles before the first run");
  add("contenders", po::value(&options.contenders)->default_value(8),
      "threads or connections, where there are several");
  if (!locks.empty()) add("lock", po::value(&options.lock)->default_value(locks.front()), list(locks).c_str());
  try {
    if (!testkit::parse_command_line(argc, argv, description)) return 0;
    require_known(options.workload, "workload", names_of(workloads));
    if (!locks.empty()) require_known(options.lock, "lock", locks);
    const auto workload = workloads.at(options.workload)(options);
    if (options.warmup > 0) {
      workload->prepare(options.warmup);
      workload->run(options.warmup);
    }
    serve_commands(*workload, peer, options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << peer << " driver: " << error.what() << "\n";
    return 1;
  }
}

}  // namespace bench
