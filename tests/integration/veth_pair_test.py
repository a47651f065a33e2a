#!/usr/bin/env python3
"""Two dataplanes in network namespaces of their own, joined by a bridge, on af_packet."""

import subprocess
import time
import unittest

import nodes


def run(*command):
    subprocess.run(command, check=True, timeout=nodes.LIMIT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def can_make_namespaces():
    if not nodes.IS_ROOT:
        return False
    name = nodes.uuid.uuid4().hex[:12]
    try:
        run("ip", "netns", "add", name)
        run("ip", "netns", "delete", name)
        return True
    except (OSError, subprocess.CalledProcessError):
        return False


@unittest.skipUnless(can_make_namespaces(), "needs root and network namespaces")
class VethPair(nodes.NodeTest):
    def setUp(self):
        super().setUp()
        self.tag = self.place.name[2:10]
        self.switch = f"tts{self.tag}"
        self.spaces = {name: f"tt{name}{self.tag}" for name in "ab"}
        self.addCleanup(self.remove_network)
        self.make_network(1500)

    def make_network(self, mtu):
        """Three namespaces: the bridge in one, each sidecar's end of a veth pair in its own."""
        run("ip", "netns", "add", self.switch)
        run("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge")
        for name, space in self.spaces.items():
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "add", "eth0", "mtu", str(mtu), "type", "veth",
                "peer", "name", f"port_{name}", "netns", self.switch)
            run("ip", "-n", self.switch, "link", "set", f"port_{name}", "mtu", str(mtu), "master", "br0", "up")
            run("ip", "-n", space, "link", "set", "eth0", "up")
        run("ip", "-n", self.switch, "link", "set", "br0", "up")

    def remove_network(self):
        self.place.close()
        for space in (*self.spaces.values(), self.switch):
            subprocess.run(["ip", "netns", "delete", space], stderr=subprocess.DEVNULL, timeout=nodes.LIMIT)

    def start(self, name, *options, **more):
        command = ["ip", "netns", "exec", self.spaces[name]]
        return nodes.Node(self.place, name, "af_packet:eth0", *options, command=command, **more)

    def test_transfers_through_the_switch(self):
        b = self.start("b")
        report = self.start("a", "--count", 20, "--parallel", 4, "--size", 1_000_000).report()
        served = b.stop()
        self.assert_good(report, 20)
        self.assertEqual(served["inversions"], 0)
        self.assertGreater(report["arp_in"] + served["arp_in"], 0)

    def test_own_address_needs_promiscuous_mode_and_gets_it(self):
        b = self.start("b", "--mac", "02:00:0a:4d:00:02")
        report = self.start("a", "--mac", "02:00:0a:4d:00:01", "--count", 5, "--parallel", 1).report()
        b.stop()
        self.assert_good(report, 5)

    def test_killed_side_comes_back_in_either_role(self):
        for victim in "ab":
            with self.subTest(victim=victim):
                survivor = self.start("ab".replace(victim, ""), "--parallel", 2, "--size", 100_000)
                dying = self.start(victim)
                survivor.wait_for_ups(1, 10)
                time.sleep(0.5)
                dying.kill()
                dying = self.start(victim)
                survivor.wait_for_ups(2, 10)
                time.sleep(1)
                report = survivor.stop()
                dying.stop()
                self.assert_good(report)
                self.assertEqual(report["ups"], 2, report)

    def test_mtu_is_lowered_to_the_interfaces_or_refused(self):
        a = self.start("a", "--mtu", 9000)
        time.sleep(0.5)
        a.process.send_signal(nodes.signal.SIGTERM)
        out, err = a.process.communicate(timeout=nodes.LIMIT)
        self.assertEqual(nodes.json.loads(out)["mtu"], 1500)
        self.assertIn("mtu lowered from 9000 to 1500", err)
        self.assertIn("mtu 9000 is not possible", self.start("a", "--mtu", 9000, "--mtu-is-needed").failure())

    def test_jumbo_frames_do_not_vanish(self):
        for name, space in self.spaces.items():
            run("ip", "-n", space, "link", "set", "eth0", "mtu", "9000")
            run("ip", "-n", self.switch, "link", "set", f"port_{name}", "mtu", "9000")
        b = self.start("b", "--mtu", 9000)
        report = self.start("a", "--mtu", 9000, "--count", 10, "--parallel", 2, "--size", 1_000_000).report()
        b.stop()
        self.assert_good(report, 10)
        self.assertEqual(report["mtu"], 9000)
        self.assertLess(report["frames_in"], 3000)

    def test_missing_interface_and_missing_rights(self):
        node = nodes.Node(self.place, "a", "af_packet:nope", command=["ip", "netns", "exec", self.spaces["a"]])
        self.assertIn("af_packet nope", node.failure())
        command = ["ip", "netns", "exec", self.spaces["a"], *nodes.UNPRIVILEGED]
        node = nodes.Node(self.place, "a", "af_packet:eth0", command=command)
        self.assertIn("CAP_NET_RAW", node.failure())

    def test_idle_costs_little_and_the_first_packet_after_idle_is_quick(self):
        self.check_idle()


if __name__ == "__main__":
    nodes.main()
