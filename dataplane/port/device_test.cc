#include "dataplane/port/device.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tictac {
namespace {

using testing::HasSubstr;

std::string message_of(const Device& device) {
  return std::string(device_arguments(device, 0, 1500, 256).status().message());
}

TEST(DeviceArguments, CableEndsShareAPathAndOnlyTheListeningSideLocksIt) {
  const auto front = device_arguments(VirtioUserDevice{"/tmp/c"}, 3, 1500, 256);
  const auto back = device_arguments(VhostDevice{"/tmp/c"}, 4, 1500, 256);
  ASSERT_TRUE(front.ok() && back.ok());
  EXPECT_EQ(front->name, "net_virtio_user3");
  EXPECT_EQ(front->arguments, "path=/tmp/c,server=1,queues=1,queue_size=256");
  EXPECT_EQ(front->lock_path, "/tmp/c.lock");
  EXPECT_EQ(back->name, "net_vhost4");
  EXPECT_EQ(back->arguments, "iface=/tmp/c,client=1,queues=1");
  EXPECT_EQ(back->lock_path, "");
}

TEST(DeviceArguments, AfPacketSlotsHoldTheMtuAndTheInterfaceBoundsIt) {
  const auto loopback = device_arguments(AfPacketDevice{"lo"}, 0, 9000, 256);  // lo carries 65,536
  ASSERT_TRUE(loopback.ok());
  EXPECT_EQ(loopback->mtu, 9000U);
  EXPECT_EQ(loopback->mtu_note, "");
  EXPECT_THAT(loopback->arguments, HasSubstr("framesz=16384,"));
  EXPECT_GE(loopback->least_room, 9014U);
  EXPECT_THAT(device_arguments(AfPacketDevice{"lo"}, 0, 1500, 256)->arguments, HasSubstr("framesz=2048,"));
}

TEST(DeviceArguments, PcapNamesWhatItIsGiven) {
  const auto pcap = device_arguments(PcapDevice{.tx_file = "/tmp/out.pcap"}, 1, 1500, 256);
  ASSERT_TRUE(pcap.ok());
  EXPECT_EQ(pcap->arguments, "tx_pcap=/tmp/out.pcap");
}

TEST(DeviceArguments, VdevIsSplitAtTheFirstComma) {
  const auto vdev = device_arguments(VdevDevice{"net_af_xdp0,iface=eth1,start_queue=0"}, 0, 1500, 256);
  ASSERT_TRUE(vdev.ok());
  EXPECT_EQ(vdev->name, "net_af_xdp0");
  EXPECT_EQ(vdev->arguments, "iface=eth1,start_queue=0");
}

TEST(DeviceArguments, BadInputNamesPlaceAndCure) {
  EXPECT_THAT(message_of(VhostDevice{""}), HasSubstr("needs a path"));
  EXPECT_THAT(message_of(VhostDevice{"/no/such/c"}), HasSubstr("cannot write folder /no/such/"));
  EXPECT_THAT(message_of(VirtioUserDevice{"/tmp/" + std::string(120, 'x')}),
              HasSubstr("longer than 100 bytes"));
  EXPECT_THAT(message_of(VirtioUserDevice{"/tmp/a,client=0"}), HasSubstr("comma"));
  EXPECT_THAT(message_of(AfPacketDevice{"tt_nope"}), HasSubstr("ip link"));
  EXPECT_THAT(message_of(AfPacketDevice{"a_name_that_is_too_long"}), HasSubstr("1 to 15 bytes"));
  EXPECT_THAT(message_of(PcapDevice{}), HasSubstr("needs rx_file, tx_file or interface"));
  EXPECT_THAT(message_of(PcapDevice{.rx_file = "/no/such.pcap"}), HasSubstr("/no/such.pcap: No such file"));
  EXPECT_THAT(message_of(PcapDevice{.rx_file = "/dev"}), HasSubstr("is a folder"));
  EXPECT_THAT(message_of(PcapDevice{.tx_file = "/no/such/out.pcap"}), HasSubstr("make its folder"));
  EXPECT_THAT(message_of(PcapDevice{.rx_file = "/proc/self/status"}), HasSubstr("is no capture"));
  EXPECT_THAT(message_of(VdevDevice{""}), HasSubstr("net_null0"));
  EXPECT_THAT(message_of(PciDevice{""}), HasSubstr("0000:01:00.0"));
}

}  // namespace
}  // namespace tictac
