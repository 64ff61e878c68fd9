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

constexpr int kSmallestTimeoutAt = 2;  // the member with the smallest maximal session timeout

/// A server that receives nothing from the others continues to serve for twice as long as a session lasts, so its
/// answers prove nothing meanwhile.
ServerOptions server_options(milliseconds session_timeout) {
  ServerOptions options;
  options.controlled_links = true;
  options.sync_limit = static_cast<int>(2 * session_timeout / options.tick_time);
  // Members that disagree for a moment about who leads wait that long for each other before they elect again.
  options.init_limit = options.sync_limit;
  options.max_session_timeouts = {std::chrono::minutes(1), std::chrono::minutes(1), session_timeout / 2};
  return options;
}

}  // namespace

ChaosWorld::ChaosWorld(ChaosOptions options, std::string history_directory)
    : options_(std::move(options)),
      directory_(std::move(history_directory)),
      ensemble_(3, server_options(options_.session_timeout)) {
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
  client.process = std::make_unique<WorkerProcess>(
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
      const int member = a_follower(fault);
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
    case FaultKind::follower_cut_off:
      cut_off_a_follower(fault);
      break;
    case FaultKind::leader_deposed:
      depose_the_leader(fault);
      break;
    case FaultKind::lagging_follower:
      let_a_follower_lag(fault);
      break;
    case FaultKind::smaller_timeout:
      move_to_the_smaller_timeout(client, fault);
      break;
    case FaultKind::moved_address:
      move_addresses(client, fault);
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
    for (int thread = 0; thread < kChaosThreadsOfProcess; ++thread)
      HistoryWriter(chaos_history_file(directory_, recipe, client.name), chaos_thread_name(client.name, thread))
          .append(0, HistoryEvent::Kind::died, LockMode::exclusive, time);
  start(client);
  client.process->expect("ready");
}

int ChaosWorld::a_follower(const PlannedFault& fault) {
  return (ensemble_.leader() + 1 + static_cast<int>(fault.server % 2)) % ensemble_.size();
}

/// Brings all clients but one to a member that is about to be cut off: clients avoid servers that failed them, so after
/// a few faults there would be nobody to be misled. The one that stays away is the rival of those that are.
void ChaosWorld::gather_at(int member, const PlannedFault& fault) {
  const auto here = static_cast<std::size_t>(member);
  const auto refuse_elsewhere = [&](Client& client, bool on) {
    for (std::size_t other = 0; other < client.proxies.size(); ++other)
      if (other != here) client.proxies[other]->refuse(on);
  };
  const std::size_t rival = fault.client % clients_.size();
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if (i == rival)
      clients_[i].proxies[here]->cut();
    else
      refuse_elsewhere(clients_[i], true);
  }
  const auto limit = SteadyClock::now() + options_.session_timeout / 2;
  for (std::size_t i = 0; i < clients_.size(); ++i)
    if (i != rival)
      clients_[i].proxies[here]->wait_until_open_connections(
          kChaosConnections + 1, std::chrono::duration_cast<milliseconds>(limit - SteadyClock::now()));
  for (Client& client : clients_) refuse_elsewhere(client, false);
}

void ChaosWorld::cut_off_a_follower(const PlannedFault& fault) {
  const int member = a_follower(fault);
  gather_at(member, fault);
  ensemble_.isolate_silently(member);
  let_it_last(options_.session_timeout * (150 + fault.severity * 8 / 10) / 100);
  ensemble_.heal();
}

void ChaosWorld::depose_the_leader(const PlannedFault& fault) {
  const int former = ensemble_.leader();
  gather_at(former, fault);
  const auto start = SteadyClock::now();
  if (fault.severity < 70)
    ensemble_.isolate_unnoticed(former);
  else if (fault.severity < 85)
    ensemble_.isolate_silently(former);
  else
    ensemble_.isolate(former);
  ensemble_.leader_after(former);
  // The next leader lets sessions that it hears nothing of expire after a full timeout of its own.
  std::this_thread::sleep_until(start + options_.session_timeout * 2);
  ensemble_.heal();
}

void ChaosWorld::let_a_follower_lag(const PlannedFault& fault) {
  const int follower = a_follower(fault);
  ensemble_.delay_link(ensemble_.leader(), follower, milliseconds(50 + 5 * fault.severity));
  let_it_last(options_.session_timeout * 3 / 4);
  // Clients of the others come to a server whose data is behind what they have seen.
  for (Client& client : clients_)
    for (int member = 0; member < ensemble_.size(); ++member)
      if (member != follower) client.proxies[static_cast<std::size_t>(member)]->reset();
  let_it_last(options_.session_timeout * 3 / 4);
  ensemble_.heal();
}

void ChaosWorld::move_to_the_smaller_timeout(Client& client, const PlannedFault& fault) {
  for (int member = 0; member < ensemble_.size(); ++member)
    if (member != kSmallestTimeoutAt) client.proxies[static_cast<std::size_t>(member)]->refuse(true);
  FaultProxy& left = *client.proxies[kSmallestTimeoutAt];
  left.wait_until_open_connections(kChaosConnections + 1, options_.session_timeout);
  let_it_last(milliseconds(3 * fault.severity));
  left.black_hole();
  let_it_last(options_.session_timeout);
  for (auto& proxy : client.proxies) proxy->heal();
}

void ChaosWorld::move_addresses(Client& client, const PlannedFault& fault) {
  const int size = ensemble_.size();
  const int by = 1 + fault.severity % (size - 1);
  for (int member = 0; member < size; ++member)
    client.proxies[static_cast<std::size_t>(member)]->set_upstream(ensemble_.address((member + by) % size));
  for (auto& proxy : client.proxies) proxy->reset();
  let_it_last(milliseconds(500));
  for (int member = 0; member < size; ++member)
    client.proxies[static_cast<std::size_t>(member)]->set_upstream(ensemble_.address(member));
  for (auto& proxy : client.proxies) proxy->reset();
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
