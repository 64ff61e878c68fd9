// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "tests/simulation/model/script.h"

namespace zkrecipes::simulation {

using detail::HandleListener;
using detail::Reply;
using detail::Request;
using detail::RequestKind;
using detail::SessionEvent;
using detail::Status;
using detail::WatchEvent;

namespace {

const char* name_of(SessionEvent event) {
  switch (event) {
    case SessionEvent::connected:
      return "connected";
    case SessionEvent::disconnected:
      return "disconnected";
    case SessionEvent::expired:
      return "expired";
    case SessionEvent::auth_failed:
      return "auth failed";
  }
  return "?";
}

const char* name_of(WatchEvent event) {
  switch (event) {
    case WatchEvent::created:
      return "created";
    case WatchEvent::deleted:
      return "deleted";
    case WatchEvent::changed:
      return "changed";
    case WatchEvent::children_changed:
      return "children changed";
    case WatchEvent::unwatched:
      return "unwatched";
  }
  return "?";
}

const char* name_of(RequestKind kind) {
  constexpr const char* kNames[] = {"create", "remove",       "exists",          "get", "set", "list",
                                    "sync",   "unwatch data", "unwatch children"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

/// One client: its handles, and what is reported to it. Reports are made on other threads where the servers are real.
class ScriptRunner::Client final : public HandleListener {
 public:
  explicit Client(int of_number) : number(of_number) {}

  void on_session_event(std::uint32_t from, SessionEvent event) override {
    std::lock_guard<std::mutex> lock(mutex);
    const bool by_former = from == former_number;
    if (!by_former) connected = event == SessionEvent::connected;
    if (by_former && event == SessionEvent::expired) former_expired = true;
    Entry entry;
    entry.text = (by_former ? "former handle: " : "") + std::string(name_of(event));
    (by_former ? former_entries : entries).push_back(std::move(entry));
  }
  void on_reply(std::uint64_t request, Reply reply, bool answered) override {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = waiting.find(request);
    if (found == waiting.end()) return add("a reply to nothing");
    Entry entry = std::move(found->second);
    waiting.erase(found);
    entry.reply = std::move(reply);
    if (!answered) entry.text += " (not answered)";
    (request >> 40 == former_number ? former_entries : entries).push_back(std::move(entry));
  }
  void on_watch_event(std::uint32_t /*from*/, const std::string& path, WatchEvent event) override {
    std::lock_guard<std::mutex> lock(mutex);
    add("event: " + path + " " + name_of(event));
  }

  void send(detail::Handle& through, const Request& request) {
    Entry entry;
    entry.text = std::string(name_of(request.kind)) + " " + request.path;
    if (request.kind == RequestKind::create || request.kind == RequestKind::set)
      entry.text += " of " + std::to_string(request.data.size()) + " bytes";
    if (request.version != -1) entry.text += " if version " + std::to_string(request.version);
    if (request.watch) entry.text += " watching";
    entry.is_reply = true;
    entry.with_stat = request.kind == RequestKind::create || request.kind == RequestKind::set ||
                      request.kind == RequestKind::exists || request.kind == RequestKind::get ||
                      request.kind == RequestKind::list;
    const std::uint64_t request_number = through.next_request();
    {
      std::lock_guard<std::mutex> lock(mutex);
      waiting[request_number] = entry;
    }
    const Status status = through.issue(request, request_number);
    if (status == Status::ok) return;
    std::lock_guard<std::mutex> lock(mutex);
    waiting.erase(request_number);
    refusals.push_back(entry.text + " not sent: " + to_string(status));
  }
  /// Behind the answers: a refusal is known on the thread that sends, while answers to earlier requests arrive on
  /// another one, so the order of the two is chance.
  void report_refusals() {
    std::lock_guard<std::mutex> lock(mutex);
    for (std::string& refusal : std::exchange(refusals, {})) add(std::move(refusal));
  }
  bool is(bool Client::*flag) {
    std::lock_guard<std::mutex> lock(mutex);
    return this->*flag;
  }
  bool all_answered() {
    std::lock_guard<std::mutex> lock(mutex);
    return waiting.empty();
  }

  struct Entry {
    std::string text;
    bool is_reply = false;
    bool with_stat = false;
    Reply reply{};
  };
  std::string text(const Entry& entry, std::int64_t first_zxid, const std::map<std::int64_t, int>& sessions) const;
  std::size_t count() {
    std::lock_guard<std::mutex> lock(mutex);
    return entries.size();
  }
  /// Those that begin at `first`, up to the first report that is none.
  void sort_events(std::size_t first) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = std::find_if(begin, entries.end(), [](const Entry& entry) { return entry.is_reply; });
    std::sort(begin, end, [](const Entry& a, const Entry& b) { return a.text < b.text; });
  }
  /// As negotiated with the server that it is connected to.
  void note_timeout() { note("timeout " + std::to_string(handle->session_timeout().count()) + " ms"); }
  void note(std::string text) {
    std::lock_guard<std::mutex> lock(mutex);
    add(std::move(text));
  }

  const int number;
  int server = 0;
  std::unique_ptr<detail::Handle> handle;  // null while it has no session

  std::mutex mutex;
  // All below: guarded by mutex.
  std::uint32_t former_number = 0;
  bool connected = false;
  bool former_expired = false;
  std::map<std::uint64_t, Entry> waiting;
  std::vector<Entry> entries;
  std::vector<std::string> refusals;  // since the last answers were awaited
  std::vector<Entry> former_entries;  // two handles report independently of each other

 private:
  void add(std::string text) {
    Entry entry;
    entry.text = std::move(text);
    entries.push_back(std::move(entry));
  }
};

std::string ScriptRunner::Client::text(const Entry& entry, std::int64_t first_zxid,
                                       const std::map<std::int64_t, int>& sessions) const {
  if (!entry.is_reply) return entry.text;
  const Reply& reply = entry.reply;
  std::string result = entry.text + " -> " + to_string(reply.status);
  if (reply.status != Status::ok) return result;
  const auto zxid = [&](std::int64_t of) { return of < first_zxid ? "earlier" : std::to_string(of - first_zxid); };
  if (!reply.path.empty()) result += " " + reply.path;
  if (!reply.data.empty())
    result += " data " + (reply.data.size() < 40 ? reply.data : std::to_string(reply.data.size()));
  std::vector<std::string> names;
  for (const std::string_view name : reply.children) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) result += " [" + name + "]";
  if (!entry.with_stat) return result;
  const auto owner = sessions.find(reply.stat.ephemeral_owner);
  result += " czxid " + zxid(reply.stat.czxid) + " mzxid " + zxid(reply.stat.mzxid) + " version " +
            std::to_string(reply.stat.version) + " children " + std::to_string(reply.stat.children);
  if (reply.stat.ephemeral_owner != 0)
    result += owner == sessions.end() ? " of a stranger" : " of client " + std::to_string(owner->second);
  return result;
}

ScriptRunner::ScriptRunner(ScriptHost& host, int clients) : host_(host) {
  for (int number = 0; number < clients; ++number) {
    clients_.push_back(std::make_shared<Client>(number));
    open(*clients_.back(), number % host.servers());
  }
}

ScriptRunner::~ScriptRunner() {
  for (const auto& client : clients_) close(*client);
}

void ScriptRunner::start_afresh() {
  for (const auto& client : clients_) close(*client);
  for (const auto& client : clients_) open(*client, client->number % host_.servers());
}

void ScriptRunner::await(Client& client, const char* what, const std::function<bool()>& condition) {
  if (!host_.wait(condition)) client.note(std::string("timed out: ") + what);
}

void ScriptRunner::await_answers(Client& client) {
  await(client, "answers", [&] { return client.all_answered(); });
  client.report_refusals();
}

void ScriptRunner::open(Client& client, int server) {
  if (client.handle) return;
  detail::HandleSettings settings;
  settings.session_timeout = std::chrono::seconds(3);
  client.server = server;
  client.handle = host_.open(client.number, server, settings, clients_[static_cast<std::size_t>(client.number)]);
  await(client, "connect", [&] { return client.is(&Client::connected); });
  client.note_timeout();
}

void ScriptRunner::close(Client& client) {
  if (!client.handle) return;
  client.handle->close();
  client.handle.reset();
  {
    std::lock_guard<std::mutex> lock(client.mutex);
    client.connected = false;
    client.waiting.clear();
  }
  host_.settle();
}

void ScriptRunner::move(Client& client, int server) {
  if (!client.handle) return;
  const std::unique_ptr<detail::Handle> former = std::move(client.handle);
  {
    std::lock_guard<std::mutex> lock(client.mutex);
    client.former_number = former->number();
    client.former_expired = false;
    client.connected = false;
  }
  detail::HandleSettings settings;
  settings.session_timeout = std::chrono::seconds(3);
  settings.session = former->hand_session_over();
  const int former_server = std::exchange(client.server, server);
  client.handle = host_.open(client.number, server, settings, clients_[static_cast<std::size_t>(client.number)]);
  await(client, "move", [&] { return client.is(&Client::connected); });
  client.note_timeout();
  // A server that is no longer the session's closes the connection when it is asked for a write. One that still is does
  // so by itself.
  Request question{RequestKind::set, "/"};
  question.version = -2;
  if (server != former_server) client.send(*former, question);
  await(client, "end of the former handle", [&] { return client.is(&Client::former_expired); });
  await_answers(client);
  former->close();
  std::lock_guard<std::mutex> lock(client.mutex);
  for (Client::Entry& entry : std::exchange(client.former_entries, {})) client.entries.push_back(std::move(entry));
}

void ScriptRunner::run(const Script::Step& step) {
  Client& client = *clients_[static_cast<std::size_t>(step.client)];
  switch (step.kind) {
    case Script::Step::Kind::requests:
      if (!client.handle) return;
      for (const Request& request : step.requests) client.send(*client.handle, request);
      await_answers(client);
      // A connection that was lost is made again by the C client itself.
      await(client, "connection", [&] { return client.is(&Client::connected); });
      return;
    case Script::Step::Kind::close:
      return close(client);
    case Script::Step::Kind::open:
      return open(client, step.server);
    case Script::Step::Kind::move:
      return move(client, step.server);
  }
}

void ScriptRunner::barrier(const std::string& root) {
  for (const auto& client : clients_) {
    if (!client->handle) continue;
    client->send(*client->handle, {RequestKind::sync, "/"});
    client->send(*client->handle, {RequestKind::exists, root});
  }
  for (const auto& client : clients_)
    if (client->handle) await_answers(*client);
}

ScriptOutcome ScriptRunner::run(const Script& script, const std::string& root) {
  for (const auto& client : clients_) {
    open(*client, client->server);
    std::lock_guard<std::mutex> lock(client->mutex);
    client->entries.clear();
  }
  std::map<std::int64_t, int> sessions;
  run({Script::Step::Kind::requests, 0, {{RequestKind::create, root}}, 0});
  std::int64_t first_zxid = 0;
  {
    std::lock_guard<std::mutex> lock(clients_[0]->mutex);
    if (!clients_[0]->entries.empty()) first_zxid = clients_[0]->entries.back().reply.stat.czxid;
  }
  barrier(root);
  for (const Script::Step& step : script.steps) {
    std::vector<std::size_t> before;
    for (const auto& client : clients_) {
      if (client->handle) sessions[client->handle->session_id()] = client->number;
      before.push_back(client->count());
    }
    run(step);
    barrier(root);
    // In which order the nodes of a session are removed is the server's own affair.
    if (step.kind == Script::Step::Kind::close)
      for (std::size_t i = 0; i < clients_.size(); ++i) clients_[i]->sort_events(before[i]);
  }
  ScriptOutcome outcome;
  for (const auto& client : clients_) {
    std::lock_guard<std::mutex> lock(client->mutex);
    std::vector<std::string> lines;
    for (const Client::Entry& entry : client->entries) lines.push_back(client->text(entry, first_zxid, sessions));
    outcome.push_back(std::move(lines));
  }
  return outcome;
}

}  // namespace zkrecipes::simulation
