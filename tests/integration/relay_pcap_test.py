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
EARLY = 64
PAYLOAD = 42  # Ethernet, IPv4, UDP
CONFIG = """
name: "relay"
relay {{
  a {{ pcap {{ rx_file: "{place}/in.pcap" tx_file: "{place}/back.pcap" }} }}
  b {{ pcap {{ tx_file: "{place}/out.pcap" }} }}
  link_rate: "100Mbit/s"
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

    def relay(self, frames, more=""):
        """Returns the counters of the direction a to b, and what left at b."""
        write_pcap(self.place / "in.pcap", frames)
        config = self.place / "relay.textproto"
        config.write_text(CONFIG.format(place=self.place, more=more))
        run = subprocess.run([PROXY, "--relay", "--config", config], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(run.returncode, 0, run.stderr)
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
