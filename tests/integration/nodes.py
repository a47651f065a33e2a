"""Starts transfer_node processes and reads what they report."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

BINARY = pathlib.Path(os.environ.get("TRANSFER_NODE", "build/tests/integration/transfer_node")).resolve()
LIMIT = 60  # seconds that anything here may take
SLACK = float(os.environ.get("TICTAC_TEST_SLACK", "1"))  # sanitizers slow everything down
IS_ROOT = os.geteuid() == 0
UNPRIVILEGED = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "--bounding-set=-all",
                "--inh-caps=-all", "--no-new-privs"]


class Node:
    """One process. Names a and b; each other's peer, 10.77.0.1 and 10.77.0.2."""

    def __init__(self, place, name, device, *options, prefix=None, command=()):
        other = "b" if name == "a" else "a"
        number = {"a": 1, "b": 2}
        self.prefix = prefix or f"{place.name}_{name}"
        arguments = [place.binary, "--device", device, "--prefix", self.prefix, "--name", name,
                     "--address", f"10.77.0.{number[name]}:7471", "--peer", other,
                     "--peer-address", f"10.77.0.{number[other]}:7471", *map(str, options)]
        self.ups_file = place.folder / f"ups_{len(place.nodes)}"
        arguments += ["--ups-file", self.ups_file]
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(place.folder)}
        self.process = subprocess.Popen([*command, *map(str, arguments)], env=environment, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        place.nodes.append(self)

    def wait_for_ups(self, count, limit):
        """Returns the seconds until the node's session had come up `count` times."""
        began = time.monotonic()
        while not self.ups_file.exists() or self.ups_file.stat().st_size < count:
            if time.monotonic() - began > limit:
                raise AssertionError(f"no session number {count} within {limit} s")
            time.sleep(0.02)
        return time.monotonic() - began

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=LIMIT)

    def stop(self):
        """Ends it and returns its report."""
        self.process.send_signal(signal.SIGTERM)
        return self.report()

    def report(self):
        out, self.said = self.process.communicate(timeout=LIMIT)
        if self.process.returncode != 0:
            raise AssertionError(f"node ended with {self.process.returncode}: {self.said}")
        return json.loads(out)

    def failure(self):
        """The message of a node that must fail."""
        out, err = self.process.communicate(timeout=LIMIT)
        assert self.process.returncode == 1, f"ended with {self.process.returncode}: {out}{err}"
        return err


class Place:
    """A folder that an unprivileged user may use, with a copy of the binary; gone at the end."""

    def __init__(self):
        self.name = "tt" + uuid.uuid4().hex[:8]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=self.name))
        self.binary = self.folder / "transfer_node"
        shutil.copy(BINARY, self.binary)
        self.nodes = []
        if IS_ROOT:
            shutil.chown(self.folder, "nobody", "nogroup")

    @property
    def unprivileged(self):
        return UNPRIVILEGED if IS_ROOT else []

    def close(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        for node in self.nodes:
            shutil.rmtree(f"/run/dpdk/{node.prefix}", ignore_errors=True)


class NodeTest(unittest.TestCase):
    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.close)

    def assert_good(self, report, at_least=1):
        self.assertEqual(report["mismatches"], 0, report)
        self.assertGreaterEqual(report["completed"], at_least, report)

    def check_idle(self):
        """Of a test with start(name, *options): what two nodes cost that have nothing to do."""
        pair = [self.start("b"), self.start("a")]
        time.sleep(5)
        for report in [node.stop() for node in pair]:
            self.assertEqual(report["ups"], 1)
            self.assertLess(report["lcore_cpu_seconds"] / 5, 0.02 * SLACK, report)
        b = self.start("b")
        report = self.start("a", "--parallel", 1, "--size", 1000, "--interval-ms", 50, "--count", 60).report()
        b.stop()
        self.assert_good(report, 60)
        self.assertLess(report["fetch_ns"]["median"], 1e6, report["fetch_ns"])


def main():
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
