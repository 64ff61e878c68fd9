// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/fault_schedule.h"
#include "tests/interop/worker_process.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/history.h"
#include "tests/support/test_server.h"

namespace zkrecipes::testing {

struct ChaosOptions {
  std::string worker;  ///< the client program
  std::vector<std::string> recipes;
  int processes = 4;
  std::chrono::milliseconds session_timeout{2'000};
  std::uint32_t seed = 1;
};

/// One ensemble of three servers, client processes whose connections are spread over them, and a proxy between each
/// process and each server.
class ChaosWorld {
 public:
  ChaosWorld(ChaosOptions options, std::string history_directory);
  ~ChaosWorld();

  /// Does it and undoes it, so that the next one finds a world that works. Throws when the world cannot be mended.
  void inflict(const PlannedFault& fault);

  /// All clients stop acquiring; their sessions live on. Throws if one does not.
  void stop_clients();
  /// Ephemeral nodes that are there although nobody holds or waits any more; waits a while for them to go.
  std::vector<std::string> orphans();
  /// True if all ended well.
  bool finish_clients();

  History history(const std::string& recipe) const;
  const std::map<FaultKind, int>& counts() const { return counts_; }

 private:
  struct Client {
    std::string name;
    std::vector<std::unique_ptr<FaultProxy>> proxies;
    std::unique_ptr<WorkerProcess> process;
  };

  void start(Client& client);
  void drop_reply(Client& client, const PlannedFault& fault);
  void replace(Client& client);
  void cut_off_a_follower(const PlannedFault& fault);
  void depose_the_leader(const PlannedFault& fault);
  void let_a_follower_lag(const PlannedFault& fault);
  void move_to_the_smaller_timeout(Client& client, const PlannedFault& fault);
  void move_addresses(Client& client, const PlannedFault& fault);
  int a_follower(const PlannedFault& fault);
  void gather_at(int member, const PlannedFault& fault);

  const ChaosOptions options_;
  const std::string directory_;
  TestEnsemble ensemble_;
  std::vector<Client> clients_;
  int started_ = 0;
  std::map<FaultKind, int> counts_;
};

}  // namespace zkrecipes::testing
