// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace zkrecipes::testing {

/// The kind of a request. Variants of one operation share a kind: `create` is create, create2,
/// createContainer and createTTL; `get_children` is both listings; `set_watches` both ways to set watches
/// again; `multi` also multiRead.
enum class RequestKind {
  connect,
  create,
  remove,
  exists,
  get_data,
  set_data,
  get_children,
  sync,
  ping,
  auth,
  set_watches,
  close_session,
  remove_watches,
  multi,
  other,
};

const char* name_of(RequestKind kind) noexcept;
std::ostream& operator<<(std::ostream& out, RequestKind kind);
RequestKind kind_of_opcode(std::int32_t opcode) noexcept;

/// Bytes that cannot be ZooKeeper's protocol. Four-letter words ("ruok") are among them.
class MalformedFrame : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kLengthPrefixBytes = 4;
inline constexpr std::int32_t kMaxPayloadBytes = 64 * 1024 * 1024;

/// Turns a stream of bytes, in pieces of any size, into frames.
class FrameSplitter {
 public:
  void append(std::string_view bytes);

  /// The next whole frame with its length prefix, or nothing until more bytes come. The view is good until
  /// the next append(). Throws MalformedFrame as soon as a length below 0 or above kMaxPayloadBytes is
  /// complete, and again on every later call: such a stream cannot be picked up again.
  std::optional<std::string_view> next();

  /// Bytes of a frame that is not whole yet.
  std::size_t incomplete_bytes() const noexcept { return buffer_.size() - consumed_; }

 private:
  std::string buffer_;
  std::size_t consumed_ = 0;
};

/// One frame, understood.
struct Message {
  enum class Sort { request, reply, watch_event };

  Sort sort = Sort::request;
  RequestKind kind = RequestKind::other;  // of a reply: what it answers; of a watch event: other
  std::int32_t xid = 0;                   // 0 for connect, which has none
  std::int32_t error = 0;                 // of a reply: 0, or ZooKeeper's negative code
  long ordinal = 0;  // the request's place on its connection, from 1; the same in its reply; else 0
  std::string path;  // of a reply: that of its request; empty where there is none or several
};

std::ostream& operator<<(std::ostream& out, const Message& message);

/// A read that changes nothing, in the place of the request with this xid.
std::string harmless_request(std::int32_t xid);
/// The reply with this error instead of what it says.
std::string error_reply(std::string_view reply, std::int32_t error);

/// Both directions of one connection: names each request and finds the request that a reply answers.
///
/// Replies are matched by xid, oldest first, and not by order alone: the server answers auth out of turn, and
/// auth, ping and set_watches use the same xid each time. The first frame each way is the connect handshake.
/// Both functions take a whole frame with its prefix and throw MalformedFrame when it is too short for its
/// header.
class Conversation {
 public:
  Message request(std::string_view frame);
  Message reply(std::string_view frame);

  std::size_t unanswered() const noexcept { return unanswered_.size(); }

 private:
  std::deque<Message> unanswered_;
  long requests_ = 0;
  bool connect_answered_ = false;
};

}  // namespace zkrecipes::testing
