// SPDX-License-Identifier: Apache-2.0
// The bytes that the proxy hands on, seen with bare sockets on both sides.
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

#include "tests/support/bare_socket.h"
#include "tests/support/fault_proxy.h"

namespace zkrecipes::testing {
namespace {

constexpr std::chrono::seconds kLimit{30};

/// A server of bytes: shows exactly what the proxy hands on.
class ByteServer {
 public:
  ByteServer() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where = loopback(":0");
    socklen_t size = sizeof where;
    (void)::bind(listener_, reinterpret_cast<const sockaddr*>(&where), size);
    ::listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(where.sin_port));
  }
  ~ByteServer() { ::close(listener_); }
  ByteServer(const ByteServer&) = delete;
  ByteServer& operator=(const ByteServer&) = delete;

  const std::string& address() const { return address_; }
  BareSocket accept() const { return BareSocket(::accept(listener_, nullptr, nullptr)); }

 private:
  int listener_;
  std::string address_;
};

class FaultProxyBytes : public ::testing::Test {
 protected:
  ByteServer server;
  FaultProxy proxy{server.address()};
  BareSocket client = BareSocket::connected_to(proxy.address());
};

TEST_F(FaultProxyBytes, PassUnchangedBothWaysAndSoDoesTheEnd) {
  const std::string asked = connect_request() + frame_of("xid-type, and so on");
  client.send(asked);
  BareSocket upstream = server.accept();
  EXPECT_EQ(upstream.receive(asked.size()), asked);
  const std::string answered = frame_of("hello") + frame_of("a header of a reply");
  upstream.send(answered);
  { const BareSocket closed = std::move(upstream); }
  EXPECT_EQ(client.receive(), answered);
  EXPECT_EQ(client.end_error(), 0);
  EXPECT_TRUE(proxy.wait_until_open_connections(0, kLimit));
}

TEST_F(FaultProxyBytes, CutRequestHalfWay_SendsHalf) {
  proxy.cut_request_half_way(RequestKind::connect);
  client.send(connect_request());
  EXPECT_EQ(server.accept().receive(), connect_request().substr(0, connect_request().size() / 2));
  EXPECT_EQ(client.receive(), "");
}

TEST_F(FaultProxyBytes, SingleBytes_ComeInManySegments) {
  client.send(connect_request());
  BareSocket upstream = server.accept();
  upstream.receive(connect_request().size());
  EXPECT_EQ(upstream.segments_received(), 1U);
  proxy.deliver_single_bytes(true);
  const std::string next = frame_of("a request in single bytes");
  client.send(next);
  EXPECT_EQ(upstream.receive(next.size()), next);
  EXPECT_GT(upstream.segments_received(), 2U);
}

TEST_F(FaultProxyBytes, CutIsFinAndResetIsRst) {
  BareSocket upstream = server.accept();
  proxy.cut();
  EXPECT_EQ(client.receive(), "");
  EXPECT_EQ(client.end_error(), 0);
  EXPECT_EQ(upstream.receive(), "");
  EXPECT_EQ(upstream.end_error(), 0);

  BareSocket second = BareSocket::connected_to(proxy.address());
  BareSocket second_upstream = server.accept();
  ASSERT_TRUE(proxy.wait_until_open_connections(1, kLimit));
  proxy.reset();
  EXPECT_EQ(second.receive(), "");
  EXPECT_EQ(second.end_error(), ECONNRESET);
  EXPECT_EQ(second_upstream.receive(), "");
  EXPECT_EQ(second_upstream.end_error(), ECONNRESET);
}

TEST_F(FaultProxyBytes, BlackHole_SwallowsNewConnectionsAndTheirEnd) {
  proxy.black_hole();
  BareSocket second = BareSocket::connected_to(proxy.address());
  second.send(connect_request());
  ASSERT_TRUE(proxy.wait_until([](const auto& counts) { return counts.of(RequestKind::connect) == 1; }, kLimit));
  { const BareSocket left = std::move(second); }
  ASSERT_TRUE(proxy.wait_until_open_connections(1, kLimit));

  BareSocket first_upstream = server.accept();
  BareSocket second_upstream = server.accept();
  char byte = 0;
  EXPECT_EQ(::recv(second_upstream.descriptor(), &byte, 1, MSG_DONTWAIT), -1) << "nothing, and no end either";
  EXPECT_EQ(errno, EAGAIN);
  proxy.heal();
  EXPECT_EQ(second_upstream.receive(), "");
  EXPECT_EQ(first_upstream.receive(), "");
  EXPECT_EQ(client.receive(), "");
}

TEST_F(FaultProxyBytes, NeverAnswer_AcceptsAndReadsNothingAndCutsInTheEnd) {
  BareSocket upstream = server.accept();
  proxy.never_answer(true);
  BareSocket unheard = BareSocket::connected_to(proxy.address());
  unheard.send(connect_request());
  ASSERT_TRUE(proxy.wait_until_open_connections(2, kLimit));
  client.send(connect_request());
  EXPECT_EQ(upstream.receive(connect_request().size()), connect_request()) << "older connections are unharmed";
  proxy.never_answer(false);
  EXPECT_EQ(unheard.receive(), "");
  EXPECT_EQ(proxy.counts().of(RequestKind::connect), 1);
  EXPECT_EQ(proxy.open_connections(), 1);
}

TEST_F(FaultProxyBytes, SetUpstream_AppliesToNewConnections) {
  BareSocket upstream = server.accept();
  const ByteServer elsewhere;
  proxy.set_upstream(elsewhere.address());
  BareSocket second = BareSocket::connected_to(proxy.address());
  second.send(connect_request());
  EXPECT_EQ(elsewhere.accept().receive(4).size(), 4U);
  client.send(connect_request());
  EXPECT_EQ(upstream.receive(4).size(), 4U);
}

TEST_F(FaultProxyBytes, AServerThatIsNotThereClosesTheConnection) {
  std::string nowhere;
  {
    const ByteServer gone;
    nowhere = gone.address();
  }
  proxy.set_upstream(nowhere);
  EXPECT_EQ(BareSocket::connected_to(proxy.address()).receive(), "");
}

TEST_F(FaultProxyBytes, MalformedFromEitherSideClosesThatConnectionOnly) {
  BareSocket upstream = server.accept();
  BareSocket second = BareSocket::connected_to(proxy.address());
  BareSocket second_upstream = server.accept();
  client.send("\xff\xff\xff\xff and more");
  EXPECT_EQ(client.receive(), "");
  EXPECT_EQ(upstream.receive(), "");

  second.send(connect_request());
  EXPECT_EQ(second_upstream.receive(connect_request().size()), connect_request());
  second_upstream.send("\x7f\xff\xff\xff");
  EXPECT_EQ(second.receive(), "");
  EXPECT_TRUE(proxy.wait_until_open_connections(0, kLimit));
}

TEST(FaultProxyInput, BadInputThrowsAtOnce) {
  for (const char* const bad :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:70000", "localhost:1", "127.0.0.1:1x"}) {
    EXPECT_THROW(FaultProxy{bad}, std::invalid_argument) << bad;
  }
  FaultProxy proxy("127.0.0.1:1");
  EXPECT_THROW(proxy.drop_reply(RequestKind::create, 0), std::invalid_argument);
  EXPECT_THROW(proxy.set_upstream("nowhere"), std::invalid_argument);
  EXPECT_EQ(proxy.armed(), 0);
}

}  // namespace
}  // namespace zkrecipes::testing
