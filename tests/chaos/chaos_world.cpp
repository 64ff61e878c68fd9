// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/chaos_world.h"

#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/chaos/chaos_recipes.h"
#include "tests/support/plain_client.h"

namespace zkrecipes::testing {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

namespace {

/// A fault that lasts; the clients go on meanwhile.
void let_it_last(milliseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace

ChaosWorld::ChaosWorld(ChaosOptions options, std::string history_directory)
    : options_(std::move(options)), directory_(std::move(history_directory)) {
  for (int i = 0; i < options_.processes; ++i) {
    Client client;
    for (int member = 0; member < ensemble_.size(); ++member)
      client.proxies.push_back(std::make_unique<FaultProxy>(ensemble_.address(member)));
    start(client);
    clients_.push_back(std::move(client));
  }
  for (Client& client : clients_) client.process->expect("ready");
}

ChaosWorld::~ChaosWorld() = default;

void ChaosWorld::start(Client& client) {
  client.name = "p" + std::to_string(++started_);
  std::string servers;
  for (const auto& proxy : client.proxies) servers += (servers.empty() ? "" : ",") + proxy->address();
  std::string recipes;
  for (const std::string& recipe : options_.recipes) recipes += (recipes.empty() ? "" : ",") + recipe;
  const unsigned seed = options_.seed * 1'000 + static_cast<unsigned>(started_) * 10;
  client.process = std::make_unique<ChildProcess>(
      std::vector<std::string>{options_.worker, servers, directory_, client.name,
                               std::to_string(options_.session_timeout.count()), std::to_string(seed), recipes});
}

void ChaosWorld::inflict(const PlannedFault& fault) {
  const milliseconds session = options_.session_timeout;
  Client& client = clients_[fault.client % clients_.size()];
  ++counts_[fault.kind];
  switch (fault.kind) {
    case FaultKind::reply_dropped:
      drop_reply(client, fault);
      break;
    case FaultKind::connection_cut:
      for (auto& proxy : client.proxies) fault.severity < 50 ? proxy->cut() : proxy->reset();
      break;
    case FaultKind::black_hole:
      for (auto& proxy : client.proxies)
        proxy->black_hole(fault.severity % 3 == 0   ? Direction::to_server
                          : fault.severity % 3 == 1 ? Direction::to_client
                                                    : Direction::both);
      let_it_last(session * (10 + fault.severity / 2) / 100);
      for (auto& proxy : client.proxies) proxy->heal();
      break;
    case FaultKind::delay:
      for (auto& proxy : client.proxies) proxy->delay(milliseconds(5 + fault.severity));
      let_it_last(milliseconds(300 + 5 * fault.severity));
      for (auto& proxy : client.proxies) proxy->heal();
      break;
    case FaultKind::session_expiry:
      for (auto& proxy : client.proxies) proxy->black_hole();
      let_it_last(session * 14 / 10);
      for (auto& proxy : client.proxies) proxy->heal();
      break;
    case FaultKind::server_kill: {
      const int leader = ensemble_.leader();
      const int member = (leader + 1 + static_cast<int>(fault.server % 2)) % ensemble_.size();
      ensemble_.kill(member);
      let_it_last(milliseconds(5 * fault.severity));
      ensemble_.restart(member);
      break;
    }
    case FaultKind::leader_kill: {
      const int member = ensemble_.kill_leader();
      let_it_last(milliseconds(5 * fault.severity));
      ensemble_.restart(member);
      break;
    }
    case FaultKind::rolling_restart:
      for (int i = 0; i < ensemble_.size(); ++i)
        ensemble_.restart((static_cast<int>(fault.server) + i) % ensemble_.size());
      break;
    case FaultKind::client_pause:
      client.process->pause();
      let_it_last(session * (110 + fault.severity / 2) / 100);
      client.process->resume();
      break;
    case FaultKind::client_kill:
      replace(client);
      break;
  }
  let_it_last(fault.pause_after);
}

void ChaosWorld::drop_reply(Client& client, const PlannedFault& fault) {
  for (auto& proxy : client.proxies) proxy->drop_reply(fault.request, 1 + fault.severity % 3);
  const auto limit = SteadyClock::now() + milliseconds(500);
  const auto fired = [&] {
    for (auto& proxy : client.proxies)
      if (proxy->armed() == 0) return true;
    return false;
  };
  while (!fired() && SteadyClock::now() < limit) std::this_thread::sleep_for(milliseconds(5));
  for (auto& proxy : client.proxies) proxy->clear_faults();
}

void ChaosWorld::replace(Client& client) {
  const std::int64_t time = client.process->kill();
  for (const std::string& recipe : options_.recipes)
    for (int thread = 0; thread < kChaosConnections * kChaosThreads; ++thread)
      HistoryWriter(chaos_history_file(directory_, recipe, client.name), chaos_thread_name(client.name, thread))
          .append(0, HistoryEvent::Kind::died, LockMode::exclusive, time);
  start(client);
  client.process->expect("ready");
}

void ChaosWorld::stop_clients() {
  for (Client& client : clients_) client.process->send("stop");
  for (Client& client : clients_) client.process->expect("stopped", std::chrono::seconds(60));
}

std::vector<std::string> ChaosWorld::orphans() {
  PlainClient plain(ensemble_.addresses());
  const auto limit = SteadyClock::now() + std::chrono::seconds(15);
  std::vector<std::string> left = plain.ephemerals_below("/chaos");
  while (!left.empty() && SteadyClock::now() < limit) {
    std::this_thread::sleep_for(milliseconds(100));
    left = plain.ephemerals_below("/chaos");
  }
  return left;
}

bool ChaosWorld::finish_clients() {
  bool well = true;
  for (Client& client : clients_) well = client.process->finish() && well;
  return well;
}

History ChaosWorld::history(const std::string& recipe) const {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory_))
    if (entry.path().stem() == recipe) files.push_back(entry.path().string());
  return read_history_files(files);
}

}  // namespace zkrecipes::testing
