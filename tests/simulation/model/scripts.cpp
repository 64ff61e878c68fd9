// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "tests/simulation/model/script.h"
#include "tests/simulation/scheduler.h"

namespace zkrecipes::simulation {

using detail::CreateMode;
using detail::Request;
using detail::RequestKind;
using Step = Script::Step;
using Kind = Script::Step::Kind;

namespace {

Request create(std::string path, CreateMode mode = CreateMode::persistent, std::string data = {}) {
  Request request{RequestKind::create, std::move(path)};
  request.mode = mode;
  request.data = std::move(data);
  return request;
}
Request remove(std::string path, std::int32_t version = -1) {
  Request request{RequestKind::remove, std::move(path)};
  request.version = version;
  return request;
}
Request set(std::string path, std::string data, std::int32_t version = -1) {
  Request request{RequestKind::set, std::move(path), std::move(data)};
  request.version = version;
  return request;
}
Request read(RequestKind kind, std::string path, bool watch = false) {
  Request request{kind, std::move(path)};
  request.watch = watch;
  return request;
}
Request exists(std::string path, bool watch = false) {
  return read(RequestKind::exists, std::move(path), watch);
}
Request get(std::string path, bool watch = false) {
  return read(RequestKind::get, std::move(path), watch);
}
Request list(std::string path, bool watch = false) {
  return read(RequestKind::list, std::move(path), watch);
}
Step by(int client, std::vector<Request> requests) {
  return {Kind::requests, client, std::move(requests), 0};
}
Step close(int client) {
  return {Kind::close, client, {}, 0};
}
Step open(int client, int server) {
  return {Kind::open, client, {}, server};
}
Step move(int client, int server) {
  return {Kind::move, client, {}, server};
}

constexpr auto kEphemeral = CreateMode::ephemeral;
constexpr auto kSequential = CreateMode::ephemeral_sequential;
constexpr auto kContainer = CreateMode::container;
constexpr bool kWatch = true;

}  // namespace

std::vector<Script> written_scripts(const std::string& root, int servers) {
  const std::string a = root + "/a";
  const std::string b = root + "/b";
  const auto unwatch = [](RequestKind kind, const std::string& path) { return Request{kind, path}; };
  std::vector<Script> scripts = {
      {"versions",
       {by(0,
           {create(a, CreateMode::persistent, "one"), get(a), set(a, "two", 0), set(a, "three", 0), set(a, "three", 1),
            set(a, "x", 7), remove(a, 0), get(a), remove(a, 2), get(a), set(a, "gone"), remove(a)})}},
      {"a version that no node has",
       {by(0, {create(a), set(a, "", -2), set(root + "/none", "", -2), set("/", "", -2), get(a), remove(a, -2)}),
        by(1, {get(a, kWatch)}), by(0, {set(a, "", -2)}), by(0, {set(a, "new")})}},
      {"failed writes are transactions, too",
       {by(0, {create(a), create(a), remove(b), set(b, ""), create(b + "/c"), create(b), get(a), get(b)}),
        by(1, {create(root + "/c")})}},
      {"parents",
       {by(0, {create(a), create(a + "/x"), remove(a), create(b + "/x"), list(a), remove(a + "/x"), list(a), remove(a),
               list(a), create(a), exists(a)})}},
      {"no children for ephemerals",
       {by(0, {create(a, kEphemeral), create(a + "/x"), create(a + "/x", kSequential), create(a), exists(a)}),
        by(1, {create(a + "/x"), create(a, kEphemeral), remove(a)})}},
      {"sequences",
       {by(0,
           {create(a), create(a + "/n-", kSequential), create(a + "/n-", kSequential), create(a + "/m-", kSequential)}),
        by(1, {create(a + "/n-", kSequential), create(a + "/plain"), create(a + "/n-", kSequential), list(a)}),
        by(0, {remove(a + "/n-0000000001"), create(a + "/n-", kSequential), create(a + "/", kSequential), list(a)}),
        by(0, {remove(a + "/plain"), create(a + "/n-", kSequential), create(a + "/none/n-", kSequential),
               create(a + "/n-", kSequential), list(a)})}},
      {"a container",
       {by(0, {create(a, kContainer), exists(a), create(a + "/x", kContainer), create(a + "/y", kEphemeral),
               create(a + "/y/z"), list(a), create(a, kContainer), remove(a), set(a, "data"), get(a)}),
        by(1, {exists(a), remove(a + "/x"), remove(a + "/y"), remove(a)})}},
      {"a sequence begins again with its parent",
       {by(0, {create(a), create(a + "/n-", kSequential), remove(a + "/n-0000000000"), create(a + "/n-", kSequential),
               remove(a + "/n-0000000001"), remove(a), create(a, kContainer), create(a + "/n-", kSequential)})}},
      {"the end of a session",
       {by(1, {create(a, kEphemeral), create(b), create(b + "/x-", kSequential), create(b + "/x-", kSequential)}),
        by(0, {get(a, kWatch), list(b, kWatch), exists(b + "/x-0000000001", kWatch), list(root, kWatch)}), close(1),
        by(0, {list(root), list(b), exists(a), remove(b)}), open(1, 1 % servers),
        by(1, {create(a, kEphemeral), create(b + "/x-", kSequential)})}},
      {"data watches",
       {by(0, {create(a), get(a, kWatch)}), by(1, {set(a, "1"), set(a, "2")}), by(0, {exists(a, kWatch)}),
        by(1, {set(a, "3", 9), create(a + "/x"), remove(a + "/x"), remove(a), create(a)}), by(0, {get(a, kWatch)}),
        by(0, {set(a, "own")}), by(0, {get(b, kWatch)}), by(1, {create(b)})}},
      {"watches on what is not there",
       {by(0, {exists(a, kWatch), exists(b, kWatch)}), by(1, {create(a), set(a, "x"), create(b, kEphemeral)}),
        by(0, {exists(a, kWatch), exists(root + "/c", kWatch)}), by(1, {remove(a), create(root + "/c", kContainer)}),
        by(0, {list(root + "/d", kWatch)}), by(1, {create(root + "/d"), create(root + "/d/x")})}},
      {"child watches",
       {by(0, {list(root, kWatch)}), by(1, {create(a), create(b)}), by(0, {list(a, kWatch), list(root, kWatch)}),
        by(1, {set(a, "x"), create(a + "/x"), create(a + "/y")}), by(0, {list(a, kWatch)}),
        by(1, {remove(a + "/x"), remove(a + "/y"), remove(a)}), by(0, {list(b, kWatch), get(b, kWatch)}),
        by(1, {remove(b)})}},
      {"one event for two watches on one path",
       {by(0, {create(a), get(a, kWatch), exists(a, kWatch), list(a, kWatch)}), by(1, {create(a + "/x")}),
        by(0, {list(a, kWatch)}), by(1, {remove(a + "/x")}), by(0, {list(a, kWatch), get(a, kWatch)}),
        by(1, {remove(a)})}},
      {"events are ahead of the replies behind them",
       {by(0,
           {create(a), get(a, kWatch), set(a, "x"), get(a, kWatch), remove(a), exists(a, kWatch), create(a), get(a)}),
        by(0, {list(a, kWatch), create(a + "/x"), list(a, kWatch), remove(a + "/x"), list(a)})}},
      {"unwatching",
       {by(0, {create(a), get(a, kWatch), list(a, kWatch), unwatch(RequestKind::unwatch_data, a)}),
        by(1, {set(a, "x"), create(a + "/x")}), by(0, {unwatch(RequestKind::unwatch_children, a)}),
        by(0, {list(a, kWatch), exists(b, kWatch)}),
        by(0, {unwatch(RequestKind::unwatch_children, a), unwatch(RequestKind::unwatch_data, b),
               unwatch(RequestKind::unwatch_data, root + "/none")}),
        by(1, {create(a + "/y"), create(b)})}},
      {"two clients watch one node",
       {by(0, {create(a), get(a, kWatch)}), by(1, {get(a, kWatch)}), by(0, {unwatch(RequestKind::unwatch_data, a)}),
        by(1, {get(a, kWatch)}), by(0, {get(a, kWatch)}), by(0, {remove(a)})}},
      {"paths that the client refuses",
       {by(0, {create(root + "/"), create("relative"), create(root + "//x"), create(root + "/."), create(root + "/.."),
               create(root + "/...", kEphemeral), exists("")})}},
      {"nodes of the server's own",
       {by(0, {remove("/"), create("/"), exists("/zookeeper"), list("/zookeeper"), create("/zookeeper")})}},
      {"a session that moves",
       {by(1, {create(a, kEphemeral), list(root, kWatch)}), move(1, (1 + 1) % servers),
        by(1, {exists(a), create(b, kEphemeral), list(root, kWatch)}), by(0, {create(root + "/c")}),
        move(1, 1 % servers), by(1, {remove(a), exists(b)}), close(1), by(0, {list(root)}), open(1, 1 % servers)},
       true},
      {"a timeout that is negotiated with each server",
       {by(1, {create(a, kEphemeral)}), move(1, (1 + 1) % servers), by(1, {exists(a)}), move(1, 0),
        by(1, {set(a, "x")}), move(1, 1 % servers), by(1, {exists(a), remove(a)}), close(1), open(1, 0),
        by(1, {create(b, kEphemeral)}), move(1, 1 % servers), by(1, {exists(b)})},
       true},
      {"requests that are too large",
       {by(0, {create(a), set(a, std::string(0xfffff - 20 - a.size(), 'x')), exists(a)}),
        by(0, {set(a, std::string(0xfffff - 19 - a.size(), 'y'))}), by(0, {exists(a), set(a, "")}),
        by(0, {create(b, kEphemeral, std::string(0xfffff - 47 - b.size(), 'x')), exists(b), remove(b)}),
        by(0, {create(b, kEphemeral, std::string(0xfffff - 46 - b.size(), 'x'))}), by(0, {exists(b)})},
       true},
  };
  return scripts;
}

Script random_script(const std::string& root, std::uint64_t seed, int servers) {
  Random random(seed);
  Script script;
  script.name = "random script " + std::to_string(seed);
  const auto parent = [&] {
    static constexpr const char* kNames[] = {"", "/a", "/b", "/a/x"};
    return root + kNames[random.below(4)];
  };
  const auto path = [&] {
    if (random.chance(0.3)) return parent() + "/n-000000000" + std::to_string(random.below(6));
    static constexpr const char* kNames[] = {"/a", "/b", "/x"};
    return random.chance(0.1) ? root : parent() + kNames[random.below(3)];
  };
  const auto version = [&] { return random.chance(0.5) ? -1 : static_cast<std::int32_t>(random.below(5)) - 2; };
  const auto mode = [&] { return static_cast<CreateMode>(random.below(4)); };
  const auto request = [&]() -> Request {
    const bool watch = random.chance(0.6);
    switch (random.below(11)) {
      case 0:
      case 1: {
        const CreateMode chosen = mode();
        const std::string where = chosen == kSequential ? parent() + "/n-" : path();
        return create(where, chosen, std::string(random.below(5), 'd'));
      }
      case 2:
        return create(parent() + "/n-", kSequential);
      case 3:
      case 4:
        return remove(path(), version());
      case 5:
        return set(path(), std::string(random.below(5), 's'), version());
      case 6:
        return exists(path(), watch);
      case 7:
        return get(path(), watch);
      case 8:
        return list(path(), watch);
      case 9:
        return {RequestKind::sync, "/"};
      default:
        return {random.chance(0.5) ? RequestKind::unwatch_data : RequestKind::unwatch_children, path()};
    }
  };
  for (int step = 0; step < 12; ++step) {
    const int client = static_cast<int>(random.below(2));
    if (client == 1 && random.chance(0.04)) {
      script.steps.push_back(close(1));
      script.steps.push_back(open(1, static_cast<int>(random.below(static_cast<std::uint64_t>(servers)))));
      continue;
    }
    std::vector<Request> requests;
    for (std::uint64_t count = 1 + random.below(6); count > 0; --count) requests.push_back(request());
    script.steps.push_back(by(client, std::move(requests)));
  }
  return script;
}

}  // namespace zkrecipes::simulation
