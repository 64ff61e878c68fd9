// SPDX-License-Identifier: Apache-2.0
#include "tests/support/zookeeper_frames.h"

#include <algorithm>
#include <ostream>

namespace zkrecipes::testing {
namespace {

constexpr std::int32_t kWatchEventXid = -1;
constexpr std::size_t kRequestHeaderBytes = 8;  // xid, opcode
constexpr std::size_t kReplyHeaderBytes = 16;   // xid, zxid, error
constexpr std::size_t kReplyErrorOffset = 12;
constexpr std::size_t kEventPathOffset = kReplyHeaderBytes + 8;  // behind the event's type and the session's state

std::int32_t read_int32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return static_cast<std::int32_t>(value);
}

std::string int32_bytes(std::int32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(static_cast<std::uint32_t>(value) >> static_cast<unsigned>(shift));
  }
  return bytes;
}

/// The string that starts at `offset`, or an empty one when it does not fit: a path is for people, not worth
/// a failure.
std::string read_string(std::string_view payload, std::size_t offset) {
  if (payload.size() < offset + 4) {
    return {};
  }
  const std::int32_t length = read_int32(payload.substr(offset));
  const std::string_view rest = payload.substr(offset + 4);
  if (length < 0 || static_cast<std::size_t>(length) > rest.size()) {
    return {};
  }
  return std::string(rest.substr(0, static_cast<std::size_t>(length)));
}

bool begins_with_path(std::int32_t opcode) {
  switch (opcode) {
    case 6:   // getACL
    case 7:   // setACL
    case 13:  // check
      return true;
    default:
      break;
  }
  switch (kind_of_opcode(opcode)) {
    case RequestKind::create:
    case RequestKind::remove:
    case RequestKind::exists:
    case RequestKind::get_data:
    case RequestKind::set_data:
    case RequestKind::get_children:
    case RequestKind::sync:
    case RequestKind::remove_watches:
      return true;
    default:
      return false;
  }
}

std::string_view payload_of(std::string_view frame, std::size_t least_bytes) {
  const std::string_view payload = frame.substr(std::min(frame.size(), kLengthPrefixBytes));
  if (payload.size() < least_bytes) {
    throw MalformedFrame("frame of " + std::to_string(payload.size()) + " bytes is too short for its header");
  }
  return payload;
}

}  // namespace

const char* name_of(RequestKind kind) noexcept {
  switch (kind) {
    case RequestKind::connect:
      return "connect";
    case RequestKind::create:
      return "create";
    case RequestKind::remove:
      return "remove";
    case RequestKind::exists:
      return "exists";
    case RequestKind::get_data:
      return "get_data";
    case RequestKind::set_data:
      return "set_data";
    case RequestKind::get_children:
      return "get_children";
    case RequestKind::sync:
      return "sync";
    case RequestKind::ping:
      return "ping";
    case RequestKind::auth:
      return "auth";
    case RequestKind::set_watches:
      return "set_watches";
    case RequestKind::close_session:
      return "close_session";
    case RequestKind::remove_watches:
      return "remove_watches";
    case RequestKind::multi:
      return "multi";
    case RequestKind::other:
      break;
  }
  return "other";
}

std::ostream& operator<<(std::ostream& out, RequestKind kind) {
  return out << name_of(kind);
}

RequestKind kind_of_opcode(std::int32_t opcode) noexcept {
  switch (opcode) {
    case 1:   // create
    case 15:  // create2
    case 19:  // createContainer
    case 21:  // createTTL
      return RequestKind::create;
    case 2:
      return RequestKind::remove;
    case 3:
      return RequestKind::exists;
    case 4:
      return RequestKind::get_data;
    case 5:
      return RequestKind::set_data;
    case 8:   // getChildren
    case 12:  // getChildren2
      return RequestKind::get_children;
    case 9:
      return RequestKind::sync;
    case 11:
      return RequestKind::ping;
    case 14:  // multi
    case 22:  // multiRead
      return RequestKind::multi;
    case 17:  // checkWatches
    case 18:  // removeWatches
      return RequestKind::remove_watches;
    case 100:
      return RequestKind::auth;
    case 101:  // setWatches
    case 105:  // setWatches2
      return RequestKind::set_watches;
    case -11:
      return RequestKind::close_session;
    default:
      return RequestKind::other;
  }
}

void FrameSplitter::append(std::string_view bytes) {
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  buffer_.append(bytes);
}

std::optional<std::string_view> FrameSplitter::next() {
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < kLengthPrefixBytes) {
    return std::nullopt;
  }
  const std::int32_t length = read_int32(rest);
  if (length < 0 || length > kMaxPayloadBytes) {
    throw MalformedFrame("frame with a length of " + std::to_string(length));
  }
  const std::size_t whole = kLengthPrefixBytes + static_cast<std::size_t>(length);
  if (rest.size() < whole) {
    return std::nullopt;
  }
  consumed_ += whole;
  return rest.substr(0, whole);
}

std::ostream& operator<<(std::ostream& out, const Message& message) {
  switch (message.sort) {
    case Message::Sort::request:
      out << "-> " << message.kind << " xid " << message.xid;
      break;
    case Message::Sort::reply:
      out << "<- " << message.kind << " xid " << message.xid << " error " << message.error;
      break;
    case Message::Sort::watch_event:
      out << "<- watch event";
      break;
  }
  if (!message.path.empty()) {
    out << ' ' << message.path;
  }
  return out;
}

std::string harmless_request(std::int32_t xid) {
  constexpr std::int32_t kExists = 3;
  const std::string no_watch(1, '\0');
  const std::string payload = int32_bytes(xid) + int32_bytes(kExists) + int32_bytes(1) + "/" + no_watch;
  return int32_bytes(static_cast<std::int32_t>(payload.size())) + payload;
}

std::string error_reply(std::string_view reply, std::int32_t error) {
  const std::string_view xid_and_zxid = reply.substr(kLengthPrefixBytes, kReplyErrorOffset);
  return int32_bytes(kReplyHeaderBytes) + std::string(xid_and_zxid) + int32_bytes(error);
}

Message Conversation::request(std::string_view frame) {
  Message message;
  if (requests_ == 0) {
    message.kind = RequestKind::connect;
  } else {
    const std::string_view payload = payload_of(frame, kRequestHeaderBytes);
    const std::int32_t opcode = read_int32(payload.substr(4));
    message.xid = read_int32(payload);
    message.kind = kind_of_opcode(opcode);
    if (begins_with_path(opcode)) {
      message.path = read_string(payload, kRequestHeaderBytes);
    }
  }
  message.ordinal = ++requests_;
  unanswered_.push_back(message);
  return message;
}

Message Conversation::reply(std::string_view frame) {
  Message message;
  message.sort = Message::Sort::reply;
  if (connect_answered_) {
    const std::string_view payload = payload_of(frame, kReplyHeaderBytes);
    message.xid = read_int32(payload);
    if (message.xid == kWatchEventXid) {
      message.sort = Message::Sort::watch_event;
      message.path = read_string(payload, kEventPathOffset);
      return message;
    }
    message.error = read_int32(payload.substr(kReplyErrorOffset));
  }
  connect_answered_ = true;

  const auto asked = std::find_if(unanswered_.begin(), unanswered_.end(),
                                  [&](const Message& request) { return request.xid == message.xid; });
  if (asked != unanswered_.end()) {
    message.kind = asked->kind;
    message.ordinal = asked->ordinal;
    message.path = std::move(asked->path);
    unanswered_.erase(asked);
  }
  return message;
}

}  // namespace zkrecipes::testing
