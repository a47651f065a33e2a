#!/usr/bin/env python3
"""`tictac replay` of a small model over real sidecars: what it reports, and what it says when one of its processes dies.

usage: replay_test.py TICTAC TICTAC_PROXY
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TICTAC = pathlib.Path(sys.argv.pop(1)).resolve()
PROXY = pathlib.Path(sys.argv.pop(1)).resolve()
SLACK = float(os.environ.get("TICTAC_TEST_SLACK", "1"))  # sanitizers slow everything down
WITHIN = 2.0 * SLACK
FOR_EVER = "100000"  # steps
LAYERS = 16
PARTS = ["ps0", "ps_app", "tictacd", "worker0", "worker_app"]


def small_model():
    """A chain: each layer needs its parameter and the layer before."""
    ops = []
    for i in range(LAYERS):
        ops.append({"name": f"w{i}", "recv_bytes": 40_000 * (1 + i % 3) + i, "inputs": []})
        ops.append({"name": f"layer{i}", "ns": 1_000_000, "inputs": [f"w{i}"] + ([f"layer{i - 1}"] if i else [])})
    return ops


BYTES_PER_STEP = sum(op.get("recv_bytes", 0) for op in small_model())


def children_of(pid):
    """The processes that a replay started, by what they are."""
    found, copies = {}, []
    for child in map(int, pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        try:
            words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        program = pathlib.Path(words[0]).name
        if program == "tictacd":
            found["tictacd"] = child
        elif program == "tictac-proxy":
            found[pathlib.Path(words[2]).stem] = child
        else:
            copies.append(child)
    found.update(zip(("ps_app", "worker_app"), copies))  # in the order in which they were started
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def stop(child):
    if child.poll() is None:
        child.kill()
    child.communicate(timeout=10)


class ReplayTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tictac_replay_test_")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()
        self.graph = self.write("model.json", json.dumps(small_model()))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, *arguments, graph=None):
        command = [TICTAC, "replay", "--graph", graph or self.graph, *arguments]
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "TMPDIR": str(self.scratch)})
        self.addCleanup(stop, child)
        return child

    def one_line(self, text):
        self.assertTrue(text.startswith("tictac: "), text)
        self.assertEqual(len(text.strip().splitlines()), 1, text)
        return text

    def refused(self, code, *arguments, graph=None):
        child = self.start(*arguments, graph=graph)
        out, err = child.communicate(timeout=10 * SLACK)
        self.assertEqual((child.returncode, out), (code, ""), err)
        self.assertEqual(list(self.scratch.iterdir()), [])
        return self.one_line(err)

    def in_mid_run(self, *arguments):
        """A replay whose steps run, and its processes."""
        child = self.start("--link-rate", "1Gbit/s", "--steps", FOR_EVER, *arguments)
        end = time.monotonic() + 30 * SLACK
        while time.monotonic() < end:
            if child.poll() is not None:
                self.fail(f"ended early: {child.communicate(timeout=10)}")
            parts = children_of(child.pid)
            if sorted(parts) == PARTS and self.fetches() > 3 * LAYERS:
                return child, parts
            time.sleep(0.05)
        self.fail(f"no steps; there are {sorted(parts)}")

    def fetches(self):
        """Tensors that the worker's sidecar has brought so far."""
        for socket in self.scratch.glob("*/worker0.sock"):
            done = subprocess.run([PROXY, "--stats", socket], capture_output=True, text=True, timeout=10 * SLACK)
            if done.returncode == 0:
                return sum(job["fetches_complete"] for job in json.loads(done.stdout)["jobs"])
        return 0

    def ends_within(self, child, parts, limit=WITHIN):
        """The replay fails and nothing of it is left; returns what it said."""
        start = time.monotonic()
        out, err = child.communicate(timeout=limit + 10 * SLACK)
        took = time.monotonic() - start
        self.assertEqual((child.returncode, out), (1, ""), err)
        self.assertLess(took, limit, err)
        self.assertEqual({name: pid for name, pid in parts.items() if alive(pid)}, {})
        self.assertEqual(list(self.scratch.iterdir()), [], "files are left")
        return self.one_line(err)

    def test_every_byte_arrives_in_order(self):
        order = self.write("order.tsv", "".join(f"w{i}\t{LAYERS - i}\n" for i in range(LAYERS)))
        steps = 5
        policies = ["random", "fifo", "tic", "tac", "auto", "reverse", "file"]
        child = self.start("--link-rate", "400Mbit/s", "--steps", steps, "--policies", ",".join(policies),
                           "--order", order, "--flip", "--json")
        out, err = child.communicate(timeout=120 * SLACK)
        self.assertEqual((child.returncode, err), (0, ""))
        got = json.loads(out)
        self.assertEqual((got["mode"], got["transfers"], got["bytes_per_step"]), ("inference", LAYERS, BYTES_PER_STEP))
        self.assertEqual((got["workers"], got["ps"], got["link_rate_bps"]), (1, 1, 400_000_000))
        self.assertEqual([run["policy"] for run in got["runs"]], policies)
        for run in got["runs"]:
            with self.subTest(policy=run["policy"]):
                self.assertEqual(run["steps"], steps)
                self.assertEqual((run["mismatches"], run["inversions"]), (0, 0))
                self.assertGreaterEqual(run["bytes_verified"], steps * BYTES_PER_STEP)
                self.assertGreater(run["packets"], steps * BYTES_PER_STEP // 9000)
                low, middle, high = (run["step_ns"][key] for key in ("p5", "median", "p95"))
                self.assertTrue(0 < low <= middle <= high, run["step_ns"])
                # No step beats the link and the unit that it was given (a burst of the shaper aside).
                self.assertGreater(low, 0.97 * got["lower_ns"])
        by_policy = {run["policy"]: run for run in got["runs"]}
        self.assertEqual(by_policy["auto"]["schedule_version"], 0)
        self.assertGreater(by_policy["random"]["schedule_version"], by_policy["tic"]["schedule_version"])
        self.assertEqual(by_policy["random"]["gain_over_random"], 0)
        self.assertLess(by_policy["tic"]["predicted_ns"], by_policy["reverse"]["predicted_ns"])
        self.assertEqual(len(got["flip"]["log"]), LAYERS)
        if SLACK == 1:
            self.assertLess(by_policy["tic"]["step_ns"]["median"], by_policy["reverse"]["step_ns"]["median"])
        self.assertEqual(list(self.scratch.iterdir()), [])

    def test_a_table_for_people(self):
        json_file = self.folder / "out.json"
        child = self.start("--balance", "--steps", 2, "--policies", "random,tic", "--json-file", json_file)
        out, err = child.communicate(timeout=60 * SLACK)
        self.assertEqual((child.returncode, err), (0, ""))
        self.assertRegex(out, r"(?m)^policy +steps +median")
        self.assertRegex(out, r"(?m)^tic +2 ")
        got = json.loads(json_file.read_text())
        # At balance communication takes as long as computation.
        self.assertAlmostEqual(got["upper_ns"] / got["lower_ns"], 2, delta=0.01)

    def test_who_dies_is_named(self):
        for victim, said in (("ps0", "tictac-proxy was killed by signal 9"),
                             ("worker0", "tictac-proxy was killed by signal 9"),
                             ("ps_app", "the PS application was killed by signal 9"),
                             ("worker_app", "the worker application was killed by signal 9")):
            with self.subTest(victim=victim):
                child, parts = self.in_mid_run("--policies", "tic")
                os.kill(parts[victim], signal.SIGKILL)
                self.assertIn(said, self.ends_within(child, parts))

    def test_steps_go_on_without_the_daemon(self):
        child, parts = self.in_mid_run("--policies", "tic")
        os.kill(parts["tictacd"], signal.SIGKILL)
        time.sleep(WITHIN)
        if child.poll() is not None:
            self.fail(f"the replay ended: {child.communicate(timeout=10)}")
        child.send_signal(signal.SIGINT)
        self.assertIn("interrupted", self.ends_within(child, parts))

    def test_a_push_without_the_daemon_says_so(self):
        child, parts = self.in_mid_run("--policies", "random")
        os.kill(parts["tictacd"], signal.SIGKILL)
        self.assertIn("tictacd", self.ends_within(child, parts))

    def test_a_signal_stops_everything(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                child, parts = self.in_mid_run("--policies", "tic,auto")
                child.send_signal(number)
                self.assertIn("interrupted", self.ends_within(child, parts))

    def test_no_process_outlives_a_killed_replay(self):
        child, parts = self.in_mid_run("--policies", "tic")
        child.kill()
        child.communicate(timeout=10)
        end = time.monotonic() + WITHIN
        while any(map(alive, parts.values())) and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual({name: pid for name, pid in parts.items() if alive(pid)}, {})

    def test_wrong_use(self):
        rate = ("--link-rate", "1Gbit/s")
        self.assertIn("--link-rate", self.refused(2))
        self.assertIn("--balance", self.refused(2, "--balance", *rate))
        self.assertIn("quick", self.refused(2, *rate, "--policies", "tic,quick"))
        self.assertIn("--link-rate", self.refused(2, "--link-rate", "fast"))
        for bad in (("--steps", "0"), ("--time-scale", "0"), ("--mtu", "100")):
            self.assertIn(bad[0], self.refused(2, *rate, *bad))
        self.assertIn("--order", self.refused(1, *rate, "--policies", "file"))
        self.assertIn("--order", self.refused(1, *rate, "--policies", "tic", "--order", self.graph))

    def test_bad_files(self):
        rate = ("--link-rate", "1Gbit/s")
        missing = self.folder / "missing.json"
        self.assertIn(str(missing), self.refused(1, *rate, graph=missing))
        nothing = self.write("nothing.json", '[{"name": "op", "ns": 5, "inputs": []}]')
        self.assertIn("receives nothing", self.refused(1, *rate, graph=nothing))
        empty = self.write("empty.json", '[{"name": "w", "recv_bytes": 0, "inputs": []}]')
        self.assertIn("no tensor has bytes", self.refused(1, *rate, graph=empty))
        order = self.write("order.tsv", "w0\t0\nw0\t1\n")
        self.assertIn(f"{order}: line 2", self.refused(1, *rate, "--policies", "file", "--order", order))

    def test_no_room_for_the_sockets(self):
        done = subprocess.run([TICTAC, "replay", "--graph", self.graph, "--balance"], capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.folder / "none")}, timeout=10 * SLACK)
        self.assertEqual(done.returncode, 1)
        self.assertIn("TMPDIR", self.one_line(done.stderr))


if __name__ == "__main__":
    unittest.main(verbosity=2)
