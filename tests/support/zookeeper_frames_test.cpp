// SPDX-License-Identifier: Apache-2.0
#include "tests/support/zookeeper_frames.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace zkrecipes::testing {
namespace {

std::string int32_bytes(std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  std::string bytes;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    bytes.push_back(static_cast<char>((bits >> shift) & 0xffU));
  }
  return bytes;
}

std::string frame_of(const std::string& payload) {
  return int32_bytes(static_cast<std::int32_t>(payload.size())) + payload;
}

std::string string_bytes(const std::string& text) {
  return frame_of(text);
}

std::string request(std::int32_t xid, std::int32_t opcode, const std::string& body = "") {
  return frame_of(int32_bytes(xid) + int32_bytes(opcode) + body);
}

std::string reply(std::int32_t xid, std::int32_t error = 0, const std::string& body = "") {
  return frame_of(int32_bytes(xid) + int32_bytes(0) + int32_bytes(77) + int32_bytes(error) + body);
}

std::string handshake() {
  return frame_of(std::string(40, '\0'));
}

std::vector<std::string> all_frames(FrameSplitter& splitter) {
  std::vector<std::string> frames;
  while (const auto frame = splitter.next()) {
    frames.emplace_back(*frame);
  }
  return frames;
}

Conversation connected_conversation() {
  Conversation conversation;
  conversation.request(handshake());
  conversation.reply(handshake());
  return conversation;
}

TEST(FrameSplitter, FindsTheSameFramesWhereverTheStreamIsSplit) {
  const std::vector<std::string> frames = {frame_of("first"), frame_of(""), frame_of(std::string(300, 'x'))};
  const std::string stream = frames[0] + frames[1] + frames[2];
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    FrameSplitter splitter;
    splitter.append(stream.substr(0, split));
    std::vector<std::string> found = all_frames(splitter);
    splitter.append(stream.substr(split));
    for (std::string& frame : all_frames(splitter)) {
      found.push_back(std::move(frame));
    }
    EXPECT_EQ(found, frames) << "split at " << split;
    EXPECT_EQ(splitter.incomplete_bytes(), 0U);
  }
}

TEST(FrameSplitter, FindsFramesThatComeByteByByte) {
  const std::string stream = frame_of("abc") + frame_of("defg");
  FrameSplitter splitter;
  std::vector<std::string> found;
  for (const char byte : stream) {
    splitter.append({&byte, 1});
    for (std::string& frame : all_frames(splitter)) {
      found.push_back(std::move(frame));
    }
  }
  EXPECT_EQ(found, (std::vector<std::string>{frame_of("abc"), frame_of("defg")}));
}

TEST(FrameSplitter, TellsHowMuchOfAFrameIsThere) {
  FrameSplitter splitter;
  splitter.append(frame_of("whole") + frame_of("half").substr(0, 6));
  EXPECT_EQ(all_frames(splitter).size(), 1U);
  EXPECT_EQ(splitter.incomplete_bytes(), 6U);
}

TEST(FrameSplitter, RefusesLengthsBelowZeroAndAboveTheLimitForGood) {
  for (const std::int32_t length : {-1, INT32_MIN, kMaxPayloadBytes + 1, INT32_MAX}) {
    FrameSplitter splitter;
    splitter.append(int32_bytes(length));
    EXPECT_THROW(splitter.next(), MalformedFrame) << length;
    splitter.append(frame_of("good"));
    EXPECT_THROW(splitter.next(), MalformedFrame) << length;
  }
}

TEST(FrameSplitter, WaitsForAFrameOfTheLargestLength) {
  FrameSplitter splitter;
  splitter.append(int32_bytes(kMaxPayloadBytes));
  EXPECT_EQ(splitter.next(), std::nullopt);
}

TEST(FrameSplitter, GivesTheGoodFramesInFrontOfABadOne) {
  FrameSplitter splitter;
  splitter.append(frame_of("good") + int32_bytes(-5));
  EXPECT_EQ(splitter.next(), frame_of("good"));
  EXPECT_THROW(splitter.next(), MalformedFrame);
}

TEST(RequestKinds, FollowFromTheOpcode) {
  const std::vector<std::pair<std::int32_t, RequestKind>> expected = {{1, RequestKind::create},
                                                                      {15, RequestKind::create},
                                                                      {19, RequestKind::create},
                                                                      {21, RequestKind::create},
                                                                      {2, RequestKind::remove},
                                                                      {3, RequestKind::exists},
                                                                      {4, RequestKind::get_data},
                                                                      {5, RequestKind::set_data},
                                                                      {8, RequestKind::get_children},
                                                                      {12, RequestKind::get_children},
                                                                      {9, RequestKind::sync},
                                                                      {11, RequestKind::ping},
                                                                      {14, RequestKind::multi},
                                                                      {22, RequestKind::multi},
                                                                      {17, RequestKind::remove_watches},
                                                                      {18, RequestKind::remove_watches},
                                                                      {100, RequestKind::auth},
                                                                      {101, RequestKind::set_watches},
                                                                      {105, RequestKind::set_watches},
                                                                      {-11, RequestKind::close_session},
                                                                      {6, RequestKind::other},
                                                                      {7, RequestKind::other},
                                                                      {13, RequestKind::other},
                                                                      {16, RequestKind::other},
                                                                      {9999, RequestKind::other}};
  for (const auto& [opcode, kind] : expected) {
    EXPECT_EQ(kind_of_opcode(opcode), kind) << opcode;
  }
}

TEST(Conversation, TakesTheFirstFrameEachWayForTheHandshake) {
  Conversation conversation;
  const Message asked = conversation.request(handshake());
  EXPECT_EQ(asked.kind, RequestKind::connect);
  const Message answered = conversation.reply(handshake());
  EXPECT_EQ(answered.sort, Message::Sort::reply);
  EXPECT_EQ(answered.kind, RequestKind::connect);
  EXPECT_EQ(answered.ordinal, asked.ordinal);
  EXPECT_EQ(conversation.request(request(1, 1)).kind, RequestKind::create);
}

TEST(Conversation, ReadsThePathsOfRequestsAndGivesThemToTheirReplies) {
  Conversation conversation = connected_conversation();
  EXPECT_EQ(conversation.request(request(5, 15, string_bytes("/a/b") + "more")).path, "/a/b");
  EXPECT_EQ(conversation.request(request(6, 13, string_bytes("/c"))).path, "/c");
  EXPECT_EQ(conversation.request(request(7, 14, string_bytes("/not a path"))).path, "");
  const Message answered = conversation.reply(reply(5, -110));
  EXPECT_EQ(answered.path, "/a/b");
  EXPECT_EQ(answered.error, -110);
}

TEST(Conversation, LeavesOutAPathThatDoesNotFitItsFrame) {
  Conversation conversation = connected_conversation();
  EXPECT_EQ(conversation.request(request(1, 3)).path, "");
  EXPECT_EQ(conversation.request(request(2, 3, int32_bytes(100) + "/short")).path, "");
  EXPECT_EQ(conversation.request(request(3, 3, int32_bytes(-1))).path, "");
}

TEST(Conversation, MatchesRepliesByXidAlsoOutOfOrder) {
  Conversation conversation = connected_conversation();
  const long create = conversation.request(request(10, 1)).ordinal;
  const long auth = conversation.request(request(-4, 100)).ordinal;
  const long list = conversation.request(request(11, 8)).ordinal;
  EXPECT_EQ(conversation.unanswered(), 3U);
  EXPECT_EQ(conversation.reply(reply(-4)).ordinal, auth);
  EXPECT_EQ(conversation.reply(reply(10)).ordinal, create);
  EXPECT_EQ(conversation.reply(reply(11)).ordinal, list);
  EXPECT_EQ(conversation.unanswered(), 0U);
}

TEST(Conversation, MatchesRequestsWithTheSameXidOldestFirst) {
  Conversation conversation = connected_conversation();
  const long first = conversation.request(request(-2, 11)).ordinal;
  const long second = conversation.request(request(-2, 11)).ordinal;
  EXPECT_LT(first, second);
  EXPECT_EQ(conversation.reply(reply(-2)).ordinal, first);
  const Message answered = conversation.reply(reply(-2));
  EXPECT_EQ(answered.ordinal, second);
  EXPECT_EQ(answered.kind, RequestKind::ping);
}

TEST(Conversation, KnowsWatchEventsAndTheirPaths) {
  Conversation conversation = connected_conversation();
  conversation.request(request(1, 3));
  const Message event = conversation.reply(reply(-1, 0, int32_bytes(2) + int32_bytes(3) + string_bytes("/gone")));
  EXPECT_EQ(event.sort, Message::Sort::watch_event);
  EXPECT_EQ(event.path, "/gone");
  EXPECT_EQ(event.ordinal, 0);
  EXPECT_EQ(conversation.unanswered(), 1U);
}

TEST(Conversation, CallsAReplyToNothingOther) {
  Conversation conversation = connected_conversation();
  const Message answered = conversation.reply(reply(42));
  EXPECT_EQ(answered.kind, RequestKind::other);
  EXPECT_EQ(answered.ordinal, 0);
}

TEST(Conversation, RefusesFramesThatAreTooShortForTheirHeader) {
  Conversation conversation = connected_conversation();
  EXPECT_THROW(conversation.request(frame_of("1234567")), MalformedFrame);
  EXPECT_THROW(conversation.reply(frame_of("123456789012345")), MalformedFrame);
  EXPECT_THROW(conversation.request(frame_of("")), MalformedFrame);
}

TEST(Message, PrintsAsOneLine) {
  Conversation conversation = connected_conversation();
  std::ostringstream out;
  out << conversation.request(request(3, 12, string_bytes("/a"))) << '|' << conversation.reply(reply(3, -101));
  EXPECT_EQ(out.str(), "-> get_children xid 3 /a|<- get_children xid 3 error -101 /a");
}

}  // namespace
}  // namespace zkrecipes::testing
