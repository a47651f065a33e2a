#!/usr/bin/env python3
"""tictac-proxy --relay over captures: order, completeness, and what becomes of frames that are not ours."""

import collections
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

PROXY = pathlib.Path(os.environ.get("TICTAC_PROXY", "build/ps_proxy/tictac-proxy")).resolve()
CAPTURE = pathlib.Path(os.environ.get("RELAY_CAPTURE", "build/tests/integration/relay_capture")).resolve()
LIMIT = 60
TRANSFERS, BYTES = 12, 50_000
NO_STREAM = 0xFFFFFFFF
# Frames that may leave before the queue has formed: the shaper's bursts while the capture is being read.
EARLY = 32
PAYLOAD = 42  # Ethernet, IPv4, UDP
CONFIG = """
name: "relay"
eal {{ file_prefix: "{prefix}" memory_mb: 64 }}
relay {{
  a {{ pcap {{ rx_file: "{place}/in.pcap" tx_file: "{place}/back.pcap" }} }}
  b {{ pcap {{ tx_file: "{place}/out.pcap" }} }}
  link_rate: "50Mbit/s"
  exit_after_idle_ms: 300
  {more}
}}
"""
Header = collections.namedtuple("Header", "session rank number stream")


def read_pcap(path):
    data = path.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at, frames = 24, []
    while at < len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


def write_pcap(path, frames):
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def header_of(frame):
    return Header(*struct.unpack_from(">IIQI", frame, PAYLOAD + 8))


def internet_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(protocol, payload):
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0, 0x0A000002, 0x0A000001)
    header = header[:10] + struct.pack(">H", internet_sum(header)) + header[12:]
    return bytes(12) + b"\x08\x00" + header + payload


def udp(payload):
    return ipv4(17, struct.pack(">HHHH", 53, 53, 8 + len(payload), 0) + payload)


def flipped(frame, at):
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1:]


class RelayPcap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        subprocess.run([CAPTURE, self.place / "ours.pcap", str(TRANSFERS), str(BYTES)], check=True, timeout=LIMIT)
        self.ours = read_pcap(self.place / "ours.pcap")

    def run_proxy(self, more="", overrides=(), config=None):
        prefix = f"tt_relay_{self.place.name}"
        if config is None:
            config = self.place / "relay.textproto"
            config.write_text(CONFIG.format(place=self.place, prefix=prefix, more=more))
        arguments = [PROXY, "--relay", "--config", config, "--set", f"eal.file_prefix={prefix}"]
        for override in overrides:
            arguments += ["--set", override]
        return subprocess.run(arguments, capture_output=True, text=True, timeout=LIMIT)

    def relay(self, frames, more=""):
        """Returns the counters of the direction a to b, and what left at b."""
        write_pcap(self.place / "in.pcap", frames)
        run = self.run_proxy(more)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn(" error ", run.stderr)
        self.assertEqual(read_pcap(self.place / "back.pcap"), [])
        return json.loads(run.stdout)["a_to_b"], read_pcap(self.place / "out.pcap")

    def test_ranks_decide_and_every_frame_leaves_once(self):
        counters, out = self.relay(self.ours)
        self.assertGreater(len(self.ours), TRANSFERS * BYTES // 1500)
        self.assertEqual(collections.Counter(out), collections.Counter(self.ours))
        self.assertEqual([counters[key] for key in ("received", "sent", "ours")], [len(self.ours)] * 3)
        self.assertEqual(sum(counters["drops"].values()), 0)
        self.assertEqual(counters["inversions"], 0)

        numbers = collections.defaultdict(list)
        for header in map(header_of, out):
            numbers[header.stream].append(header.number)
        for stream, sent in numbers.items():
            self.assertEqual(sent, sorted(sent), f"stream {stream}")

        # Ranks come mixed, worst first, and leave sorted.
        before = [header_of(frame).rank for frame in self.ours]
        self.assertNotEqual(before[EARLY:], sorted(before[EARLY:]))
        after = [h.rank for h in map(header_of, out[EARLY:]) if h.stream != NO_STREAM]
        self.assertGreater(len(after), 5 * EARLY)
        self.assertEqual(after, sorted(after))

    def test_control_overtakes_what_waits(self):
        _, out = self.relay(self.ours)
        is_control = [header_of(frame).stream == NO_STREAM for frame in out]
        count = sum(is_control)
        self.assertGreater(count, 0)
        self.assertFalse(any(header_of(f).stream == NO_STREAM for f in self.ours[:-count]), "control comes last")
        self.assertTrue(all(not late for late in is_control[EARLY + count:]))

    def strange_frames(self):
        good = max(self.ours, key=len)
        return {
            "foreign": [bytes(12) + b"\x86\xdd" + bytes(60), ipv4(6, bytes(40)), udp(b"dns"), udp(b"Text"),
                        udp(b"Text" + bytes(60))],
            "cut": [good[:-1], good[:60], good[:30], good[:10], udp(good[PAYLOAD:PAYLOAD + 20])],
            "malformed": [flipped(good, len(good) - 1), flipped(good, 16), flipped(good, 24),
                          udp(flipped(good[PAYLOAD:], 40))],
            "oversized": [udp(bytes(1600)), udp(bytes(1973)), udp(bytes(8000))],
        }

    def mixed(self, strange):
        frames = list(self.ours)
        for i, frame in enumerate(frame for kind in strange.values() for frame in kind):
            frames.insert(20 * i, frame)
        return frames

    def test_strange_frames_are_dropped_and_counted_by_reason(self):
        strange = self.strange_frames()
        counters, out = self.relay(self.mixed(strange), "foreign: DROP")
        self.assertEqual(collections.Counter(out), collections.Counter(self.ours))
        for reason, frames in strange.items():
            self.assertEqual(counters["drops"][reason], len(frames), (reason, counters))
        self.assertEqual(counters["ours"], len(self.ours))

    def test_foreign_frames_pass_unless_told(self):
        strange = self.strange_frames()
        counters, out = self.relay(self.mixed(strange))
        self.assertEqual(collections.Counter(out), collections.Counter(self.ours + strange["foreign"]))
        self.assertEqual(counters["passed"], len(strange["foreign"]))
        self.assertEqual(counters["drops"]["foreign"], 0)
        self.assertEqual(counters["drops"]["malformed"], len(strange["malformed"]))

    def test_an_empty_capture_ends(self):
        counters, out = self.relay([])
        self.assertEqual((counters["received"], out), (0, []))

    def test_malformed_and_cut_frames_pass_if_told(self):
        strange = self.strange_frames()
        counters, out = self.relay(self.mixed(strange), "foreign: DROP malformed: PASS")
        broken = strange["cut"] + strange["malformed"]
        self.assertEqual(collections.Counter(out), collections.Counter(self.ours + broken))
        self.assertEqual(counters["passed"], len(broken))
        self.assertEqual(counters["drops"], {"ours": 0, "cut": 0, "malformed": 0, "foreign": len(strange["foreign"]),
                                             "oversized": len(strange["oversized"])})

    def refused(self, said, *overrides):
        """The proxy ends with 1 and one line that holds every string of `said`."""
        run = self.run_proxy("", overrides)
        self.assertEqual((run.returncode, run.stdout), (1, ""), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("tictac-proxy: "), run.stderr)
        for part in said:
            self.assertIn(part, run.stderr)

    def test_broken_captures_are_refused_in_one_line(self):
        whole = (self.place / "ours.pcap").read_bytes()
        second = 24 + 16 + len(self.ours[0])
        huge = struct.pack("=II", 0x7FFFFFFF, 0x7FFFFFFF)
        for data, said in {
            b"": "is no capture",
            b"not a capture, though long enough for one": "is no capture",
            whole[:20]: "is no capture",
            whole[:20] + struct.pack("=I", 101) + whole[24:]: "not of Ethernet",
            whole[:-1]: f"frame {len(self.ours)} cannot be read",
            whole[:second + 7]: "frame 2 cannot be read",
            whole[:second + 8] + huge + whole[second + 16:]: "frame 2 cannot be read",
        }.items():
            with self.subTest(said=said, size=len(data)):
                (self.place / "in.pcap").write_bytes(data)
                self.refused(["/in.pcap: ", said])

    def test_files_that_cannot_be_used_are_refused_in_one_line(self):
        self.refused(["/in.pcap: ", "No such file"])
        self.refused(["is a folder"], f"relay.a.pcap.rx_file={self.place}")
        write_pcap(self.place / "in.pcap", self.ours)
        self.refused(["named twice"], f"relay.b.pcap.tx_file={self.place}/./in.pcap")
        self.assertEqual(read_pcap(self.place / "in.pcap"), self.ours)
        # `a` is open by then, so log lines stand before the last.
        run = self.run_proxy("", [f"relay.b.pcap.tx_file={self.place}/none/out.pcap"])
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("make its folder", run.stderr.splitlines()[-1])

    def test_the_example_configuration_runs(self):
        example = pathlib.Path(__file__).resolve().parents[2] / "configs" / "relay_pcap.textproto"
        write_pcap(self.place / "in.pcap", self.ours)
        files = {"a.pcap.rx_file": "in", "a.pcap.tx_file": "back", "b.pcap.tx_file": "out"}
        run = self.run_proxy("", [f"relay.{key}={self.place}/{name}.pcap" for key, name in files.items()], example)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(read_pcap(self.place / "out.pcap")), len(self.ours))


if __name__ == "__main__":
    unittest.main(verbosity=2)
