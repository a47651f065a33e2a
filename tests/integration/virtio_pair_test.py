#!/usr/bin/env python3
"""Two dataplanes over a virtio-user/vhost cable, as an unprivileged user without capabilities."""

import time
import unittest

import nodes


class VirtioPair(nodes.NodeTest):
    def start(self, name, *options, **more):
        kind = {"a": "virtio_user", "b": "vhost"}[name]
        device = f"{kind}:{self.place.folder}/cable.sock"
        return nodes.Node(self.place, name, device, *options, command=self.place.unprivileged, **more)

    def test_either_start_order_moves_every_byte(self):
        for order in ("ab", "ba"):
            with self.subTest(order=order):
                pair = {order[0]: self.start(order[0], *self.fetches(order[0]))}
                time.sleep(0.7 * nodes.SLACK)
                pair[order[1]] = self.start(order[1], *self.fetches(order[1]))
                report = pair["a"].report()
                served = pair["b"].stop()
                self.assert_good(report, 50)
                self.assertEqual(report["bytes"], 50 * 1_000_000)
                self.assertEqual(report["bad_checksum"], 0)
                self.assertEqual(served["inversions"], 0)

    def fetches(self, name):
        return ("--count", 50, "--parallel", 4, "--size", 1_000_000) if name == "a" else ()

    def test_jumbo_frames(self):
        b = self.start("b", "--mtu", 9000)
        report = self.start("a", "--mtu", 9000, *self.fetches("a")).report()
        b.stop()
        self.assert_good(report, 50)
        self.assertEqual(report["mtu"], 9000)
        self.assertEqual(report["segmented"], 0)
        # 50 MB in frames of 9,000 bytes; frames of 1,500 would be 34,000.
        self.assertLess(report["frames_in"], 9000)

    def test_killed_vhost_side_comes_back(self):
        self.killed_side_comes_back("b")

    def test_killed_virtio_side_comes_back(self):
        self.killed_side_comes_back("a")

    def killed_side_comes_back(self, victim):
        """kill -9 in the middle of traffic, three times; the other side goes on and its buffers come back."""
        survivor = self.start("ab".replace(victim, ""), "--parallel", 4, "--size", 100_000)
        dying = self.start(victim)
        survivor.wait_for_ups(1, 10)
        for n in range(2, 5):
            time.sleep(0.5)
            dying.kill()
            dying = self.start(victim)
            # vhost looks for the socket once a second; a busy machine needs more.
            survivor.wait_for_ups(n, 10)
        time.sleep(1)
        report = survivor.stop()
        dying.stop()
        self.assert_good(report)
        self.assertEqual(report["ups"], 4, report)
        # virtio-user keeps its receive ring full; neither side loses buffers of dead connections.
        self.assertLessEqual(report["frames_in_use"], 2 * 256 + 64, report)

    def test_idle_costs_little_and_the_first_packet_after_idle_is_quick(self):
        self.check_idle()

    def test_rate_is_held_with_short_sleeps(self):
        b = self.start("b", "--link-rate", "200Mbit/s")
        report = self.start("a", "--parallel", 4, "--size", 250_000, "--seconds", 4).report()
        served = b.stop()
        self.assert_good(report)
        self.assertLess(report["goodput_gbps"], 0.2)
        self.assertGreater(report["goodput_gbps"], 0.1)  # other tests may run beside this one
        self.assertGreater(served["sleeps"], 1000)

    def test_alone_it_waits_and_stops_at_once(self):
        a = self.start("a")
        time.sleep(1)
        began = time.monotonic()
        report = a.stop()
        self.assertLess(time.monotonic() - began, 2)
        self.assertEqual(report["ups"], 0)
        self.assertLess(report["lcore_cpu_seconds"], 0.1 * nodes.SLACK)
        self.assertNotIn("dpdk", a.said)  # what DPDK says of our own closing is no news

    @unittest.skipIf(nodes.SLACK > 1, "sanitizers touch memory of their own")
    def test_no_page_faults_after_warm_up(self):
        b = self.start("b")
        a = self.start("a", "--parallel", 4, "--size", 250_000, "--seconds", 3)
        report = a.report()
        served = b.stop()
        self.assert_good(report)
        # 100,000s of packets; a fault a packet, or a page of the pool each, would be far more.
        self.assertLess(report["minor_faults"], 200, report)
        self.assertLess(served["minor_faults"], 200, served)

    def test_second_process_with_the_prefix_is_told_who_has_it(self):
        first = self.start("a", prefix="taken")
        time.sleep(0.7 * nodes.SLACK)
        message = self.start("b", prefix="taken").failure()
        self.assertIn('file_prefix "taken" is in use by process', message)
        self.assertIn(str(first.process.pid), message)

    def test_second_process_on_the_socket_is_told(self):
        self.start("a")
        time.sleep(0.7 * nodes.SLACK)
        message = self.start("a", prefix="other").failure()
        self.assertIn("in use by another process", message)

    def test_socket_path_that_is_a_file_is_left_alone(self):
        path = self.place.folder / "cable.sock"
        path.write_text("precious")
        self.assertIn("no socket; remove it", self.start("a").failure())
        self.assertEqual(path.read_text(), "precious")

    def test_bad_folder_and_bad_prefix(self):
        for device in ("virtio_user", "vhost"):
            node = nodes.Node(self.place, "a", f"{device}:/nowhere/cable.sock", command=self.place.unprivileged)
            self.assertIn("cannot write folder /nowhere/", node.failure())
        self.assertIn("eal.file_prefix", self.start("a", prefix="a/b").failure())

    def test_runtime_folder_without_rights(self):
        node = nodes.Node(self.place, "a", "net_null0",
                          command=[*self.place.unprivileged, "env", "XDG_RUNTIME_DIR=/proc"])
        self.assertIn("set XDG_RUNTIME_DIR", node.failure())


if __name__ == "__main__":
    nodes.main()
