// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace bench {

/// The command line that all peers' drivers share.
struct DriverOptions {
  std::string server;  ///< host:port
  std::string workload;
  std::string root;  ///< below it are the lock paths
  long cycles = 0;   ///< per run
  long warmup = 0;   ///< cycles before the first run
  int contenders = 0;
};

/// Something to be measured, of one peer. Connected once constructed.
class Workload {
 public:
  Workload() = default;
  virtual ~Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  /// Preparations of a run, which are not measured.
  virtual void prepare(long /*cycles*/) {}
  virtual void run(long cycles) = 0;
  /// Further figures of the last run, by name.
  virtual std::map<std::string, double> figures() const { return {}; }
};

using WorkloadFactory = std::function<std::unique_ptr<Workload>(const DriverOptions&)>;

/// main() of a driver. Reads commands from standard input and answers each with one line:
///   prepare   "ready"
///   run       a line of JSON with what the run took; prepares first if that was not done
/// The end of the input ends the process.
int drive(int argc, char** argv, const std::string& peer, const std::map<std::string, WorkloadFactory>& workloads);

}  // namespace bench
