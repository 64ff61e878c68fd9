// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// The command line that all peers' drivers share.
struct DriverOptions {
  std::string server;  ///< host:port, or several with commas between
  std::string workload;
  std::string root;  ///< below it are the lock paths
  long cycles = 0;   ///< per run
  long warmup = 0;   ///< cycles before the first run
  int contenders = 0;
  std::string lock;  ///< which one, of peers that have several
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
  /// Seconds of the last run that count, where only a part of it is measured. CPU time, requests and bytes, which are
  /// those of the whole run, are then not reported.
  virtual std::optional<double> measured_seconds() const { return std::nullopt; }
  /// Further figures of the last run, by name.
  virtual std::map<std::string, double> figures() const { return {}; }
};

using WorkloadFactory = std::function<std::unique_ptr<Workload>(const DriverOptions&)>;

/// main() of a driver. Reads commands from standard input and answers each with one line:
///   prepare   "ready"
///   run       a line of JSON with what the run took; prepares first if that was not done
/// The end of the input ends the process.
/// `locks`: the names for option --lock, the default first; the option exists only where there are any.
int drive(int argc, char** argv, const std::string& peer, const std::map<std::string, WorkloadFactory>& workloads,
          const std::vector<std::string>& locks = {});

}  // namespace bench
