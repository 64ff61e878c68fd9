// SPDX-License-Identifier: Apache-2.0
#include "connection/server_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace zkrecipes::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> hosts_of(const std::string& servers) {
  std::vector<std::string> hosts;
  for (const HostPort& each : parse_server_list(servers).hosts)
    hosts.push_back(each.host + "|" + std::to_string(each.port));
  return hosts;
}

std::string complaint_about(const std::string& servers) {
  try {
    parse_server_list(servers);
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"" + servers + "\"")) << "the list is named";
    return error.what();
  }
  return "no complaint";
}

TEST(ServerList, HostsAndPortsAreTakenApart) {
  EXPECT_THAT(hosts_of("one:1,two:65535"), ElementsAre("one|1", "two|65535"));
  EXPECT_THAT(hosts_of(" a.b-c.d:2181 ,\t10.0.0.1:7 "), ElementsAre("a.b-c.d|2181", "10.0.0.1|7"));
  EXPECT_EQ(parse_server_list("one:1").chroot, "");
}

TEST(ServerList, PortDefaultsTo2181) {
  EXPECT_THAT(hosts_of("one,two:1,[::1]"), ElementsAre("one|2181", "two|1", "::1|2181"));
}

TEST(ServerList, BracketedIpv6IsUnderstood) {
  EXPECT_THAT(hosts_of("[::1]:2182,[fe80::1:2]:3"), ElementsAre("::1|2182", "fe80::1:2|3"));
}

TEST(ServerList, ChrootIsWhatFollowsTheFirstSlash) {
  EXPECT_EQ(parse_server_list("one:1,two:2/a/b").chroot, "/a/b");
  EXPECT_EQ(parse_server_list("one:1/").chroot, "") << "the root is no chroot";
  EXPECT_EQ(parse_server_list("[::1]:1/x").chroot, "/x");
}

TEST(ServerList, EachFaultIsNamed) {
  EXPECT_THAT(complaint_about(""), HasSubstr("empty"));
  EXPECT_THAT(complaint_about("  "), HasSubstr("empty"));
  EXPECT_THAT(complaint_about("/chroot"), HasSubstr("empty"));
  EXPECT_THAT(complaint_about("one:1,,two:2"), HasSubstr("an entry is empty"));
  EXPECT_THAT(complaint_about("one:1,"), HasSubstr("an entry is empty"));
  EXPECT_THAT(complaint_about(":2181"), HasSubstr("host is missing"));
  for (const char* port : {"one:", "one:0", "one:65536", "one:-1", "one:x", "one:12a", "one:999999", "one: 1"})
    EXPECT_THAT(complaint_about(port), HasSubstr("1 to 65535")) << port;
  EXPECT_THAT(complaint_about("::1"), HasSubstr("[address]:port"));
  EXPECT_THAT(complaint_about("a:1:2"), HasSubstr("[address]:port"));
  EXPECT_THAT(complaint_about("[::1"), HasSubstr("without"));
  EXPECT_THAT(complaint_about("[nonsense]:1"), HasSubstr("not an IPv6 address"));
  EXPECT_THAT(complaint_about("[::1]x"), HasSubstr("after"));
  EXPECT_THAT(complaint_about("on e:1"), HasSubstr("character"));
  EXPECT_THAT(complaint_about("one;two"), HasSubstr("character"));
  EXPECT_THAT(complaint_about("one:1/a//b"), HasSubstr("bad chroot"));
  EXPECT_THAT(complaint_about("one:1/a/"), HasSubstr("bad chroot"));
}

TEST(ServerList, EveryComplaintSaysWhatWasExpected) {
  EXPECT_THAT(complaint_about("one:x"), HasSubstr("host:port,host:port/chroot"));
}

TEST(ServerList, OnlyNamesNeedToBeLookedUp) {
  EXPECT_TRUE(is_numeric({{"127.0.0.1", 1}, {"::1", 2}}));
  EXPECT_FALSE(is_numeric({{"127.0.0.1", 1}, {"localhost", 2}}));
}

TEST(ServerList, AddressesResolveToThemselvesAndRepeatsAreDropped) {
  std::string problem;
  EXPECT_THAT(resolve({{"127.0.0.1", 1}, {"127.0.0.1", 1}, {"127.0.0.1", 2}, {"::1", 3}}, problem),
              ElementsAre("127.0.0.1:1", "127.0.0.1:2", "::1:3"));
  EXPECT_EQ(problem, "");
}

TEST(ServerList, NameThatDoesNotResolveIsLeftOutAndNamed) {
  std::string problem;
  EXPECT_THAT(resolve({{"does-not-exist.invalid", 1}, {"127.0.0.1", 2}}, problem), ElementsAre("127.0.0.1:2"));
  EXPECT_THAT(problem, HasSubstr("does-not-exist.invalid"));
  EXPECT_THAT(resolve({{"does-not-exist.invalid", 1}}, problem), IsEmpty());
}

}  // namespace
}  // namespace zkrecipes::detail
