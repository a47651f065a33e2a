#include "ps_proxy/config/proxy_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tictac {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGood[] = R"(name: "ps"
address: "10.77.0.2:7471"
device { vhost { path: "/tmp/cable" } }
peers { name: "worker" address: "10.77.0.1:7471" }
)";

absl::StatusOr<ProxyConfig> parse(const std::string& text, const std::vector<std::string>& overrides = {},
                                  ConfigUse use = ConfigUse::kSidecar) {
  return parse_config(text, "f.textproto", overrides, use);
}

std::string error(const std::string& text, const std::vector<std::string>& overrides = {},
                  ConfigUse use = ConfigUse::kSidecar) {
  const auto config = parse(text, overrides, use);
  EXPECT_FALSE(config.ok()) << text;
  const std::string message(config.status().message());
  EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one line: " << message;
  return message;
}

TEST(Config, FillsDefaults) {
  const auto config = parse(kGood);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->name, "ps");
  EXPECT_EQ(config->address, (Address{0x0a4d0002, 7471}));
  EXPECT_EQ(std::get<VhostDevice>(*config->device).path, "/tmp/cable");
  ASSERT_EQ(config->peers.size(), 1U);
  EXPECT_EQ(config->peers[0].name, "worker");
  EXPECT_TRUE(config->eal.no_huge);
  EXPECT_EQ(config->eal.file_prefix, "tictac_ps");
  EXPECT_EQ(config->mtu, 1500U);
  EXPECT_FALSE(config->mtu_is_needed);
  EXPECT_EQ(config->link_rate, Rate(0));
  EXPECT_EQ(config->native.socket_mode, 0600U);
  EXPECT_THAT(config->native.socket, HasSubstr("native.sock"));
  EXPECT_THAT(config->tictacd, HasSubstr("tictacd.sock"));
}

TEST(Config, TakesWhatIsWritten) {
  const auto config = parse(std::string(kGood) + R"(
    link_rate: "2.5Gbit/s" mtu: 9000 mac: "02:00:00:00:00:07" gateway: "10.77.0.254" prefix_length: 16
    native { socket: "/tmp/n.sock" socket_mode: "0660" max_clients: 2 max_arena_mb: 1 }
    control { tictacd: "off" } jobs { name: "a" weight: 3 } log { level: DEBUG completions: "/tmp/l" }
    eal { no_huge: false lcore: 1 file_prefix: "p" })");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->link_rate, Rate(2'500'000'000));
  EXPECT_TRUE(config->mtu_is_needed);
  EXPECT_EQ(config->native.socket_mode, 0660U);
  EXPECT_EQ(config->native.max_arena, 1U << 20);
  EXPECT_EQ(config->tictacd, "");
  EXPECT_EQ(config->jobs[0].weight, 3U);
  EXPECT_FALSE(config->eal.no_huge);
  EXPECT_EQ(config->prefix_length, 16);
  EXPECT_EQ(config->gateway, 0x0a4d00feU);
}

TEST(Config, UnknownFieldsNameLineAndChoices) {
  const std::string message = error(std::string(kGood) + "native {\n  sockett: \"x\"\n}\n");
  EXPECT_THAT(message, StartsWith("f.textproto:6:"));
  EXPECT_THAT(message, HasSubstr("sockett"));
  EXPECT_THAT(message, HasSubstr("socket_mode"));
}

TEST(Config, WrongValuesNameLineFieldAndCure) {
  EXPECT_THAT(error(std::string(kGood) + "link_rate: \"fast\""),
              AllOf(StartsWith("f.textproto:5: link_rate: "), HasSubstr("fast")));
  EXPECT_THAT(error(std::string(kGood) + "\n\nmtu: 100"),
              StartsWith("f.textproto:7: mtu: 100 is outside of 576 to 9000"));
  EXPECT_THAT(error(std::string(kGood) + "native { socket_mode: \"0999\" }"),
              HasSubstr("native.socket_mode"));
  EXPECT_THAT(error(std::string(kGood) + "native { socket_mode: \"0060\" }"),
              HasSubstr("native.socket_mode"));
  EXPECT_THAT(error(std::string(kGood) + "native { socket: \"/" + std::string(200, 'x') + "\" }"),
              HasSubstr("107"));
  EXPECT_THAT(error(std::string(kGood) + "mac: \"01:00:00:00:00:00\""), HasSubstr("group address"));
  EXPECT_THAT(error(std::string(kGood) + "mtu: \"x\""), StartsWith("f.textproto:5:"));
  EXPECT_THAT(error(std::string(kGood) + "mtu: -1"), StartsWith("f.textproto:5:"));
  EXPECT_THAT(error(std::string(kGood) + "jobs { name: \"a\" }\njobs { name: \"a\" }"),
              StartsWith("f.textproto:6: jobs.1.name: "));
}

TEST(Config, PeersMustBeOthersAndDiffer) {
  EXPECT_THAT(error(std::string(kGood) + "peers { name: \"worker\" address: \"10.77.0.3:1\" }"),
              StartsWith("f.textproto:5: peers.1.name: "));
  EXPECT_THAT(error(std::string(kGood) + "peers { name: \"x\" address: \"10.77.0.1:7471\" }"),
              HasSubstr("peers.1.address"));
  EXPECT_THAT(error(std::string(kGood) + "peers { name: \"ps\" address: \"10.77.0.3:1\" }"),
              HasSubstr("this sidecar"));
  EXPECT_THAT(error(std::string(kGood) + "peers { name: \"x\" }"), HasSubstr("is needed"));
}

TEST(Config, MissingFieldsAreAskedFor) {
  EXPECT_THAT(error(""), HasSubstr("name: is needed"));
  EXPECT_THAT(error("name: \"a\""), HasSubstr("address: is needed"));
  EXPECT_THAT(error("name: \"a\" address: \"10.0.0.1:1\""), HasSubstr("device: is needed"));
  EXPECT_THAT(error("name: \"a\" address: \"10.0.0.1:1\" device {}"), HasSubstr("virtio_user, vhost"));
  EXPECT_THAT(error("name: \"a\" address: \"10.0.0.1:1\" device { vhost { path: \"/x\" } }"),
              HasSubstr("peers: "));
}

TEST(Config, OverridesComeLast) {
  const auto config = parse(kGood, {"link_rate=1Gbit/s", "peers.0.address=10.0.0.9:1", "peers.1.name=third",
                                    "peers.1.address=10.0.0.3:1", "eal.no_huge=false", "log.level=ERROR"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->link_rate, Rate(1'000'000'000));
  EXPECT_EQ(config->peers[0].address.ip, 0x0a000009U);
  EXPECT_EQ(config->peers[1].name, "third");
  EXPECT_FALSE(config->eal.no_huge);
  EXPECT_EQ(config->log_level, ProxyConfig::LogLevel::kError);
}

TEST(Config, WrongOverridesNameThemselves) {
  EXPECT_THAT(error(kGood, {"nonsense"}), HasSubstr("path=value"));
  EXPECT_THAT(error(kGood, {"foo=1"}), AllOf(HasSubstr("--set foo=1"), HasSubstr("link_rate")));
  EXPECT_THAT(error(kGood, {"mtu=x"}), HasSubstr("no whole number"));
  EXPECT_THAT(error(kGood, {"mtu=1"}), HasSubstr("--set: mtu"));
  EXPECT_THAT(error(kGood, {"mtu.x=1"}), HasSubstr("has no fields"));
  EXPECT_THAT(error(kGood, {"peers.5.name=x"}), HasSubstr("is a list"));
  EXPECT_THAT(error(kGood, {"peers.0=x"}), HasSubstr("--set peers.0=x"));
  EXPECT_THAT(error(kGood, {"native=x"}), HasSubstr("group of fields"));
  EXPECT_THAT(error(kGood, {"log.level=LOUD"}), HasSubstr("DEBUG"));
}

TEST(Config, ARelayNeedsItsOwnPart) {
  constexpr char kRelay[] =
      R"(relay { a { pcap { rx_file: "/a" } } b { pcap { tx_file: "/b" } } link_rate: "1Gbit/s" foreign: DROP })";
  const auto config = parse(kRelay, {}, ConfigUse::kRelay);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->relay->drop_foreign);
  EXPECT_TRUE(config->relay->drop_malformed);
  const auto passing = parse(kRelay, {"relay.foreign=PASS", "relay.malformed=PASS"}, ConfigUse::kRelay);
  ASSERT_TRUE(passing.ok()) << passing.status();
  EXPECT_FALSE(passing->relay->drop_foreign);
  EXPECT_FALSE(passing->relay->drop_malformed);
  EXPECT_THAT(error(kRelay, {"relay.b.pcap.tx_file=/x/../a"}, ConfigUse::kRelay), HasSubstr("named twice"));
  EXPECT_THAT(error(kRelay, {"relay.malformed=MAYBE"}, ConfigUse::kRelay), HasSubstr("relay.malformed"));
  EXPECT_THAT(error(kGood, {}, ConfigUse::kRelay), HasSubstr("relay: is needed"));
  EXPECT_THAT(error(kRelay), HasSubstr("relay: is for --relay only"));
  EXPECT_THAT(error("relay { a { pcap {} } b {} link_rate: \"1\" }", {}, ConfigUse::kRelay),
              HasSubstr("relay.a.pcap"));
}

TEST(Config, FilesThatCannotBeReadAreNamed) {
  for (const char* file : {"/nonexistent", "/tmp"}) {
    const auto config = load_config(file, {}, ConfigUse::kSidecar);
    ASSERT_FALSE(config.ok());
    EXPECT_THAT(std::string(config.status().message()), StartsWith(file));
  }
}

}  // namespace
}  // namespace tictac
