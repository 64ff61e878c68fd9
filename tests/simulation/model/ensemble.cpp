// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model/ensemble.h"

#include <utility>

#include "tests/simulation/model/cluster.h"
#include "tests/simulation/model/endpoint.h"

namespace zkrecipes::simulation {

namespace {

/// What the owner of an endpoint holds.
class SimulatedHandle final : public detail::Handle {
 public:
  explicit SimulatedHandle(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}
  ~SimulatedHandle() override { endpoint_->close(); }
  SimulatedHandle(const SimulatedHandle&) = delete;
  SimulatedHandle& operator=(const SimulatedHandle&) = delete;

  std::uint32_t number() const noexcept override { return endpoint_->number(); }
  bool borrowed() const noexcept override { return false; }
  std::uint64_t next_request() noexcept override { return endpoint_->next_request(); }
  detail::Status issue(const detail::Request& request, std::uint64_t number) override {
    return endpoint_->issue(request, number);
  }
  detail::SessionEvent state() const override { return endpoint_->state(); }
  bool was_refused() const override { return endpoint_->was_refused(); }
  std::int64_t session_id() const override { return endpoint_->session_id(); }
  std::chrono::milliseconds session_timeout() const override { return endpoint_->session_timeout(); }
  detail::SessionKey hand_session_over() override { return endpoint_->hand_session_over(); }
  detail::Status listen_for_session_events(std::uint64_t number) override {
    return endpoint_->issue({detail::RequestKind::exists, "/"}, number);
  }
  void close() noexcept override { endpoint_->close(); }

 private:
  const std::shared_ptr<Endpoint> endpoint_;
};

const char* name_of(Ensemble::LinkFault fault) {
  switch (fault) {
    case Ensemble::LinkFault::none:
      return "works";
    case Ensemble::LinkFault::cut:
      return "is cut";
    case Ensemble::LinkFault::silent:
      return "is silent";
    case Ensemble::LinkFault::slow:
      return "is slow";
  }
  return "";
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return (a * 1'000 + b) * 1'000 + c;
}

}  // namespace

Ensemble::Ensemble(Scheduler& scheduler, Trace& trace, EnsembleOptions options)
    : cluster_(std::make_unique<Cluster>(scheduler, trace, std::move(options))) {
  for (int number = 0; number < size(); ++number) cluster_->server(number).start();
}

Ensemble::~Ensemble() = default;

int Ensemble::size() const {
  return cluster_->size();
}

const EnsembleOptions& Ensemble::options() const {
  return cluster_->options();
}

const std::string& Ensemble::address(int server) const {
  return cluster_->address(server);
}

std::vector<std::string> Ensemble::addresses() const {
  std::vector<std::string> result;
  result.reserve(static_cast<std::size_t>(size()));
  for (int number = 0; number < size(); ++number) result.push_back(address(number));
  return result;
}

void Ensemble::move_address(int server, const std::string& address) {
  cluster_->trace(EnsembleTrace::fault, mixed(1, static_cast<unsigned>(server), 0),
                  [&] { return "server " + std::to_string(server) + " moves to " + address; });
  cluster_->address(server) = address;
}

// ---- Servers ----

void Ensemble::kill(int server) {
  cluster_->trace(EnsembleTrace::fault, mixed(2, static_cast<unsigned>(server), 0),
                  [&] { return "server " + std::to_string(server) + " is killed"; });
  cluster_->server(server).kill();
}

void Ensemble::restart(int server) {
  if (is_alive(server)) return;
  cluster_->trace(EnsembleTrace::fault, mixed(3, static_cast<unsigned>(server), 0),
                  [&] { return "server " + std::to_string(server) + " is started"; });
  cluster_->server(server).start();
}

void Ensemble::pause(int server) {
  cluster_->trace(EnsembleTrace::fault, mixed(4, static_cast<unsigned>(server), 0),
                  [&] { return "server " + std::to_string(server) + " is paused"; });
  cluster_->server(server).pause();
}

void Ensemble::resume(int server) {
  if (!is_paused(server)) return;
  cluster_->trace(EnsembleTrace::fault, mixed(5, static_cast<unsigned>(server), 0),
                  [&] { return "server " + std::to_string(server) + " goes on"; });
  cluster_->server(server).resume();
}

bool Ensemble::is_up(int server) const {
  return cluster_->server(server).is_up();
}

bool Ensemble::is_paused(int server) const {
  return cluster_->server(server).is_alive() && cluster_->server(server).is_paused();
}

bool Ensemble::is_alive(int server) const {
  return cluster_->server(server).is_alive();
}

void Ensemble::set_lag(int server, Time lag) {
  cluster_->trace(EnsembleTrace::fault,
                  mixed(6, static_cast<unsigned>(server), static_cast<std::uint64_t>(lag.count())), [&] {
                    return "server " + std::to_string(server) + " lags by " +
                           std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(lag).count()) + " ms";
                  });
  cluster_->server(server).set_lag(lag);
}

// ---- Links ----

void Ensemble::set_server_link(int a, int b, LinkFault fault, Time extra) {
  set_server_link_one_way(a, b, fault, extra);
  set_server_link_one_way(b, a, fault, extra);
}

void Ensemble::set_server_link_one_way(int from, int to, LinkFault fault, Time extra) {
  cluster_->trace(
      EnsembleTrace::fault, mixed(7, static_cast<unsigned>(from * 100 + to), static_cast<std::uint64_t>(fault)), [&] {
        return "link from server " + std::to_string(from) + " to server " + std::to_string(to) + " " + name_of(fault);
      });
  Link& link = cluster_->server_link(from, to);
  const bool held_back = link.is_silent();
  link = {fault, fault == LinkFault::slow ? extra : Time::zero()};
  if (fault == LinkFault::cut) {
    for (const auto& connection : cluster_->peer_connections()) {
      const int follower = connection->follower().number();
      const int leader = connection->leader().number();
      if ((follower == from && leader == to) || (follower == to && leader == from)) connection->reset();
    }
  } else if (held_back) {
    cluster_->network().pump_all();
  }
}

void Ensemble::set_client_link(int process, int server, LinkFault fault, Time extra) {
  set_client_link_one_way(process, server, true, fault, extra);
  set_client_link_one_way(process, server, false, fault, extra);
}

void Ensemble::set_client_link_one_way(int process, int server, bool to_server, LinkFault fault, Time extra) {
  cluster_->trace(EnsembleTrace::fault,
                  mixed(8, static_cast<unsigned>(process * 100 + server),
                        static_cast<std::uint64_t>(fault) * 2 + (to_server ? 1 : 0)),
                  [&] {
                    const std::string client = "process " + std::to_string(process);
                    const std::string other = "server " + std::to_string(server);
                    return "link from " + (to_server ? client + " to " + other : other + " to " + client) + " " +
                           name_of(fault);
                  });
  Cluster::ClientLink& links = cluster_->client_link(process, server);
  Link& link = to_server ? links.to_server : links.to_client;
  const bool held_back = link.is_silent();
  link = {fault, fault == LinkFault::slow ? extra : Time::zero()};
  if (fault == LinkFault::cut) {
    std::vector<ClientConnection*> cut;
    for (const auto& [id, connection] : cluster_->connections())
      if (connection->process == process && connection->server.number() == server) cut.push_back(connection.get());
    for (ClientConnection* connection : cut) cluster_->reset(*connection);
  } else if (held_back) {
    cluster_->network().pump_all();
  }
}

void Ensemble::heal_links() {
  cluster_->heal_links();
}

bool Ensemble::drop_connection(int process, Loss loss) {
  std::vector<ClientConnection*> open;
  for (const auto& [id, connection] : cluster_->connections())
    if (connection->process == process && connection->established && connection->client_open() &&
        connection->server_open)
      open.push_back(connection.get());
  if (open.empty()) return false;
  ClientConnection& connection = *open[cluster_->random().below(open.size())];
  if (loss == Loss::requests) {
    cluster_->reset(connection);
  } else {
    cluster_->trace(EnsembleTrace::fault, connection.id, [&] {
      return "the replies of server " + std::to_string(connection.server.number()) + " to process " +
             std::to_string(process) + " are lost";
    });
    connection.lose_replies();
  }
  return true;
}

void Ensemble::lose_next_reply(int process) {
  cluster_->losing_next_reply[process] = true;
}

void Ensemble::heal() {
  heal_links();
  cluster_->losing_next_reply.clear();
  for (int number = 0; number < size(); ++number) {
    cluster_->server(number).set_lag(Time::zero());
    resume(number);
    restart(number);
  }
}

// ---- What an operator does ----

void Ensemble::delete_node(const std::string& path) {
  const int server = leader();
  if (server == -1) return;
  ClientRequestPtr request(new ClientRequest);
  request->request = {detail::RequestKind::remove, path};
  cluster_->trace(EnsembleTrace::fault, mixed(9, static_cast<unsigned>(server), 0),
                  [&] { return "an operator deletes " + path; });
  if (is_up(server)) cluster_->server(server).submit(request);
}

void Ensemble::expire_session(std::int64_t session) {
  const int server = leader();
  if (server == -1 || !is_up(server)) return;
  ClientRequestPtr request(new ClientRequest);
  request->kind = ClientRequest::Kind::close_session;
  request->session = session;
  cluster_->server(server).submit(request);
}

// ---- Inspection ----

int Ensemble::leader() const {
  return cluster_->leader();
}

bool Ensemble::has_quorum() const {
  const int server = leader();
  return server != -1 && is_up(server) && cluster_->server(server).supporters() >= cluster_->quorum();
}

std::int64_t Ensemble::epoch() const {
  const int server = leader();
  return server == -1 ? 0 : cluster_->server(server).epoch();
}

namespace {
Ensemble::Node view(const DataTree::Node& node) {
  Ensemble::Node result;
  result.path = node.path;
  result.data = node.data;
  result.czxid = node.czxid;
  result.owner = node.owner;
  result.container = node.container;
  return result;
}
bool is_internal(std::string_view path) {
  return path == "/" || path.substr(0, 10) == "/zookeeper";
}
}  // namespace

void Ensemble::for_each_node(const std::function<void(const Node&)>& visit) const {
  cluster_->most_advanced().tree().for_each([&](const DataTree::Node& node) {
    if (!is_internal(node.path)) visit(view(node));
  });
}

std::optional<Ensemble::Node> Ensemble::find_node(std::string_view path) const {
  const DataTree::Node* const node = cluster_->most_advanced().tree().find(path);
  if (node == nullptr) return std::nullopt;
  return view(*node);
}

std::size_t Ensemble::node_count() const {
  std::size_t result = 0;
  for_each_node([&](const Node&) { ++result; });
  return result;
}

std::vector<std::int64_t> Ensemble::sessions() const {
  std::vector<std::int64_t> result;
  for (const auto& [session, timeout] : cluster_->most_advanced().tree().sessions()) result.push_back(session);
  return result;
}

bool Ensemble::has_session(std::int64_t session) const {
  return cluster_->most_advanced().tree().sessions().count(session) != 0;
}

std::chrono::milliseconds Ensemble::session_timeout(std::int64_t session) const {
  const int server = leader();
  const SessionTracker* const sessions = server == -1 ? nullptr : cluster_->server(server).sessions();
  return std::chrono::milliseconds(sessions == nullptr ? 0 : sessions->timeout_ms(session));
}

Ensemble::Load Ensemble::load() const {
  Load result;
  result.connections = cluster_->connections().size();
  for (int number = 0; number < size(); ++number) result.watches += cluster_->server(number).watches();
  result.messages = cluster_->network().messages();
  return result;
}

std::uint64_t Ensemble::messages_sent() const {
  return cluster_->network().sent();
}

void Ensemble::on_change(std::function<void(const Change&)> callback) {
  cluster_->on_change = std::move(callback);
}

// ---- Clients ----

std::unique_ptr<detail::Handle> Ensemble::connect(Process& process, const detail::HandleSettings& settings,
                                                  const std::weak_ptr<detail::HandleListener>& listener) {
  auto endpoint = std::make_shared<Endpoint>(*cluster_, process, settings, listener);
  endpoint->start();
  return std::make_unique<SimulatedHandle>(std::move(endpoint));
}

void Ensemble::process_died(int process) {
  std::vector<ClientConnection*> open;
  for (const auto& [id, connection] : cluster_->connections())
    if (connection->process == process && connection->client_open()) open.push_back(connection.get());
  for (ClientConnection* connection : open) connection->abandon();
}

}  // namespace zkrecipes::simulation
