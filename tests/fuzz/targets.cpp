// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include <cstring>
#include <sstream>
#include <stdexcept>

#include "connection/node_path.h"
#include "connection/server_list.h"
#include "recipes/node_data.h"
#include "recipes/node_name.h"
#include "recipes/queue_rule.h"
#include "tests/support/history.h"
#include "tests/support/history_checker.h"
#include "tests/support/zookeeper_frames.h"
#include "zkrecipes/fencing_token.h"

namespace zkrecipes::testing {

namespace {

void promise(bool kept, const char* what) {
  if (!kept) throw std::logic_error(what);
}

std::vector<std::string> lines_of(const std::string& input) {
  std::vector<std::string> lines;
  std::istringstream in(input);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// One child per line. For all names: the queue is in order, exactly its first node can hold as a lock, and every
/// waiter watches a node ahead of it.
void node_names(const std::string& input) {
  std::vector<std::string> children = lines_of(input);
  for (std::string& child : children) child.resize(std::strlen(child.c_str()));  // as the C client hands names over
  const detail::NameList listing = children;
  const auto queue = detail::in_queue_order(listing);
  promise(queue.size() <= children.size(), "more contenders than children");
  for (std::size_t i = 1; i < queue.size(); ++i)
    promise(queue[i - 1].sequence <= queue[i].sequence, "the queue is out of order");
  int holders = 0;
  for (const auto& node : queue) {
    const std::string mine(node.name);
    const auto verdict = detail::judge(listing, mine, detail::NodeKind::lock, "");
    using Kind = detail::Verdict::Kind;
    promise(verdict.kind != Kind::gone, "a child of the listing is gone");
    if (verdict.kind == Kind::holds) ++holders;
    if (verdict.kind == Kind::waits) {
      promise(verdict.ahead > 0 && !verdict.watch.empty(), "waits for nobody");
      promise(verdict.watch != mine, "waits for itself");
    }
    (void)detail::judge(listing, mine, detail::NodeKind::read, mine.substr(0, 8));
  }
  bool twice = false;  // no server lists a name twice
  for (std::size_t i = 0; i < children.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) twice = twice || children[i] == children[j];
  promise(twice || holders <= 1, "two holders of a mutex");
}

void fencing_tokens(const std::string& input) {
  const auto token = FencingToken::parse(input);
  if (!token) return;
  promise(token->to_string() == input, "a token that does not print as it was read");
  promise(FencingToken::parse(token->to_string()) == token, "a token that does not survive printing");
}

/// The data of a node as a peer may write them; and as identity and note of ours, parted by the first line break.
void node_data(const std::string& input) {
  (void)detail::note_in(input);
  promise(detail::asks_to_revoke(detail::revoke_request_for(input)), "a request that is not understood");
  promise(detail::token_in(detail::revoke_request_for(input)) == detail::token_in(input), "a token lost by a request");
  const std::size_t end = input.find('\n');
  const std::string identity = input.substr(0, end);
  const std::string note = end == std::string::npos ? std::string() : input.substr(end + 1);
  if (detail::asks_to_revoke(identity)) return;  // refused as an identity
  const std::string data = detail::data_for_people(identity, note);
  promise(detail::identity_in(data) == identity, "an identity that is not read as it was written");
  promise(detail::note_in(data) == note, "a note that is not read as it was written");
  promise(!detail::token_in(data), "a note that is taken for a token");
  promise(detail::revoke_request_for(data) == "__REVOKE__", "a note that is taken for a line for programs");
}

void server_lists(const std::string& input) {
  try {
    const auto list = detail::parse_server_list(input);
    promise(!list.hosts.empty(), "an empty list of servers was accepted");
    for (const auto& host : list.hosts) promise(!host.host.empty() && host.port != 0, "a host without name or port");
    if (!list.chroot.empty()) detail::check_node_path(list.chroot);
  } catch (const std::invalid_argument&) {
  }
}

void node_paths(const std::string& input) {
  try {
    detail::check_node_path(input);
  } catch (const std::invalid_argument&) {
    return;
  }
  promise(!input.empty() && input.front() == '/', "a relative path was accepted");
  if (input == "/") return;
  promise(detail::join(detail::parent_of(input), detail::name_of(input)) == input, "parts do not add up");
  promise(detail::with_ancestors(input).back() == input, "a path is not among its own ancestors");
}

/// First byte: sizes of the pieces. The same bytes in whole and in pieces give the same frames.
void proxy_frames(const std::string& input) {
  if (input.empty()) return;
  const std::string bytes = input.substr(1);
  const std::size_t piece = 1 + static_cast<unsigned char>(input[0]) % 16;
  const auto frames_of = [&](std::size_t size) {
    std::vector<std::string> frames;
    FrameSplitter splitter;
    try {
      for (std::size_t at = 0; at < bytes.size(); at += size) {
        splitter.append(std::string_view(bytes).substr(at, size));
        while (const auto frame = splitter.next()) frames.emplace_back(*frame);
      }
    } catch (const MalformedFrame&) {
      frames.emplace_back("malformed");
    }
    return frames;
  };
  const auto frames = frames_of(bytes.size() + 1);
  promise(frames == frames_of(piece), "frames depend on how their bytes arrive");
  Conversation conversation;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    try {
      std::ostringstream printed;
      printed << (i % 2 == 0 ? conversation.request(frames[i]) : conversation.reply(frames[i]));
    } catch (const MalformedFrame&) {
    }
  }
}

void histories(const std::string& input) {
  std::istringstream in(input);
  try {
    const History history = read_history(in);
    for (const LockModel model : {LockModel::mutex, LockModel::fenced_mutex, LockModel::retained_mutex,
                                  LockModel::read_write, LockModel::semaphore}) {
      std::ostringstream printed;
      printed << check_history(history, model, 2);
    }
    (void)longest_wait(ended_operations(history), 5, 50);
    for (const HistoryEvent& event : history) {
      std::istringstream line(to_line(event));
      promise(read_history(line).size() == 1, "an event that cannot be read again");
    }
  } catch (const MalformedHistory&) {
  }
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets{
      {"node_names",
       node_names,
       {"_c_5b1a8f9e-0000-4000-8000-000000000001-lock-0000000001\n0123456789abcdef0123456789abcdef-lock-0000000002",
        "_c_5b1a8f9e-0000-4000-8000-000000000001-__READ__0000000003\n_c_x-__WRIT__0000000003\nx-12-0000000001",
        "0123456789abcdef0123456789abcdef__lock__0000000009\n_c_a-lock--2147483648\nlock-", "_c_-lease-0000000000"}},
      {"fencing_tokens", fencing_tokens, {"0", "4294967297", "9223372036854775807.2147483647", "-1.-1", "12."}},
      {"node_data",
       node_data,
       {"host:1\nnightly backup", "host:1\ntwo\nlines\\n", "host:1\ntoken=7", "x\nnote=x\ntoken=1",
        "__REVOKE__\ntoken=1", "host:1\n6ba7b810-9dad-11d1-80b4-00c04fd430c8"}},
      {"server_lists",
       server_lists,
       {"127.0.0.1:2181,[::1]:2182/chroot/path", "zk1,zk2:65535", "host:0", "[fe80::1%eth0]:1", ":2181,,/"}},
      {"node_paths", node_paths, {"/", "/a/b/c", "/a//b", "/a/./b", "a/b", "/a/"}},
      {"proxy_frames",
       proxy_frames,
       {bytes({3, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 11, 0, 0, 0, 4, 0, 0, 0, 1}),
        bytes({1, 255, 255, 255, 255, 0, 0, 0, 0}), "\1ruok"}},
      {"histories",
       histories,
       {"a 1 invoke write 1 -\na 1 ok write 2 7\na 1 ok read 3 7\na 1 release read 4 7\n",
        "a 1 invoke exclusive 1 -\na 1 unknown exclusive 2 -\na 0 died - 3 -\nr 1 write exclusive 4 7\n"}},
  };
  return targets;
}

}  // namespace zkrecipes::testing
