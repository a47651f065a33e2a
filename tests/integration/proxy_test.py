#!/usr/bin/env python3
"""Two real tictac-proxy processes on a virtio-user/vhost cable, applications on both, and what dies in between.

usage: proxy_test.py TICTAC_PROXY NATIVE_APP
"""

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

PROXY, APP = sys.argv[1:3]
# Sanitizers slow everything down; the product's own limit is 2 s.
SLACK = float(os.environ.get("TICTAC_TEST_SLACK", "1"))
WITHIN = 2.0 * SLACK


def wait_for(what, done, limit=WITHIN):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if done():
            return
        time.sleep(0.01)
    raise AssertionError(f"not within {limit} s: {what}")


def cpu_seconds(pid):
    """What all threads of the process have used, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Process:
    """A child whose output goes to a file."""

    def __init__(self, folder, name, command):
        self.log = folder / f"{name}.{time.monotonic_ns()}.log"
        with self.log.open("w") as log:
            self.child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def output(self):
        return self.log.read_text(errors="replace")

    def says(self, what, limit=WITHIN):
        wait_for(f"{what!r} in:\n{self.output()}", lambda: what in self.output(), limit)

    def ends(self, code=None, limit=WITHIN):
        got = self.child.wait(limit)
        assert code is None or got == code, f"ended with {got}, not {code}:\n{self.output()}"

    def kill(self, which=signal.SIGKILL):
        self.child.send_signal(which)
        self.child.wait(10)


class ProxyTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tictac_proxy_test_"))
        self.started = []
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(self.stop_all)

    def stop_all(self):
        for process in self.started:
            if process.child.poll() is None:
                process.child.kill()
                process.child.wait(10)

    def start(self, name, command):
        self.started.append(Process(self.folder, name, command))
        return self.started[-1]

    def socket(self, name):
        return str(self.folder / f"{name}.native")

    def proxy(self, name, ready=True):
        me, peer = (1, 2) if name == "worker" else (2, 1)
        kind = "virtio_user" if name == "worker" else "vhost"
        config = self.folder / f"{name}.textproto"
        config.write_text(f"""
            name: "{name}" address: "10.77.0.{me}:7471"
            device {{ {kind} {{ path: "{self.folder}/cable" }} }}
            peers {{ name: "{'ps' if name == 'worker' else 'worker'}" address: "10.77.0.{peer}:7471" }}
            native {{ socket: "{self.socket(name)}" }} control {{ tictacd: "off" }}
            eal {{ memory_mb: 64 file_prefix: "tictac_test_{os.getpid()}_{name}" }}
            log {{ completions: "{self.folder}/{name}.completions" }}
        """)
        process = self.start(name, [PROXY, "--config", config])
        if ready:
            process.says("runs at", 10 * SLACK)
        return process

    def server(self, size=1_000_000, names=20):
        app = self.start("server", [APP, "serve", self.socket("ps"), "job", str(names), str(size)])
        app.says("serving", 10 * SLACK)
        return app

    def requester(self, size=1_000_000, names=20, rounds=5, pause_ms=0):
        return self.start("requester", [APP, "fetch", self.socket("worker"), "job", "ps",
                                        *map(str, (names, size, rounds, pause_ms))])

    def stats(self, name):
        done = subprocess.run([PROXY, "--stats", self.socket(name)], capture_output=True, text=True, timeout=10)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def job(self, name):
        return next((job for job in self.stats(name)["jobs"] if job["job"] == "job"), None)

    def peer_up(self, name):
        return self.stats(name)["peers"][0]["up"]

    def both(self):
        pair = self.proxy("worker"), self.proxy("ps")
        wait_for("both up", lambda: self.peer_up("worker") and self.peer_up("ps"), 10 * SLACK)
        return pair

    def test_tensors_arrive_whole(self):
        self.both()
        self.server()
        app = self.requester()
        app.ends(0, 60 * SLACK)
        stats = self.stats("worker")
        job = self.job("worker")
        self.assertEqual(job["fetches_complete"], 100)
        self.assertEqual(job["bytes_fetched"], 100_000_000)
        self.assertEqual(stats["native"]["broken_clients"], 0)
        self.assertEqual(self.job("ps")["answers_complete"], 100)
        self.assertEqual(self.stats("ps")["inversions"], 0)
        log = self.folder / "worker.completions"
        wait_for("the completion log", lambda: len(log.read_text().splitlines()) == 100)
        self.assertRegex(log.read_text().splitlines()[0], r"^\d+\tjob\t0\t\d+\tok\t1000000\tedge_\d+_t\d+/read$")

    def test_server_application_is_killed(self):
        self.both()
        server = self.server()
        app = self.requester(rounds=100_000)
        app.says("fetching")
        told = lambda: "the serving application has gone" in app.output()
        for _ in range(5):
            time.sleep(0.3)
            parked = self.job("ps")["requests_parked"]
            server.kill()
            try:
                wait_for("the requester to hear it", told)
                break
            except AssertionError:
                # Killed between two rounds, with nothing under way: the next round waits for the next server.
                self.assertGreater(self.job("ps")["requests_parked"], parked)
                server = self.server()
        self.assertTrue(told(), app.output())
        wait_for("its memory to come back", lambda: not self.stats("ps")["clients"])
        self.server()
        self.requester(rounds=1).ends(0, 30 * SLACK)

    def test_requesting_application_is_killed(self):
        self.both()
        server = self.server()
        app = self.requester(rounds=100_000)
        app.says("fetching")
        time.sleep(0.3)
        app.kill()
        wait_for("its memory to come back", lambda: not self.stats("worker")["clients"])
        wait_for("nothing open", lambda: self.stats("ps")["peers"][0]["open_streams"] == 0)
        self.assertIsNone(server.child.poll())
        self.requester(rounds=1).ends(0, 30 * SLACK)

    def test_peer_proxy_is_killed_and_comes_back(self):
        for victim in ("ps", "worker"):
            with self.subTest(victim=victim):
                worker, ps = self.both()
                server = self.server()
                app = self.requester(rounds=100_000)
                app.says("fetching")
                time.sleep(0.3)
                if victim == "ps":
                    ps.kill()
                    app.says("peer was lost")
                    server.says("proxy_gone")
                    server.ends(0)
                    self.proxy("ps")
                    self.server()
                else:
                    worker.kill()
                    server.says("peer_down")
                    app.says("the proxy has gone")
                    app.ends()
                    self.proxy("worker")
                self.requester(rounds=1).ends(0, 30 * SLACK)
                self.stop_all()

    def test_a_clean_end_is_told_at_once(self):
        _, ps = self.both()
        start = time.monotonic()
        ps.child.terminate()
        ps.ends(0)
        wait_for("the peer to hear it", lambda: not self.peer_up("worker"), 0.5 * SLACK)
        self.assertLess(time.monotonic() - start, WITHIN)
        self.assertFalse(os.path.exists(self.socket("ps")))

    def test_two_that_end_together_end_without_errors(self):
        # A device that is stopped after its other end has gone makes DPDK complain of things that matter to nobody.
        for _ in range(3):
            pair = self.both()
            for proxy in reversed(pair):
                proxy.child.terminate()
            for proxy in pair:
                proxy.ends(0)
                self.assertNotIn(" error ", proxy.output())

    def test_a_second_proxy_is_refused(self):
        self.proxy("worker")
        second = self.proxy("worker", ready=False)
        second.ends(1, 10 * SLACK)
        lines = second.output().strip().splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(self.socket("worker"), lines[0])
        self.stats("worker")  # the first one lives

    def test_a_prefix_that_is_taken_is_refused(self):
        self.proxy("worker")
        second = self.start("second", [PROXY, "--config", self.folder / "worker.textproto",
                                       "--set", f"native.socket={self.folder}/other", "--set", "log.completions="])
        second.ends(1, 10 * SLACK)
        self.assertIn("tictac_test", second.output())

    def test_a_fanout_group_that_is_taken_is_named(self):
        # DPDK's group is process id XOR interface index; a socket of the same process id takes it before exec.
        taker = """
import os, socket, subprocess, sys
subprocess.run("ip link add tictac0 type veth peer name tictac1; ip link set tictac0 up; ip link set tictac1 up",
               shell=True, check=True)
taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
taken.bind(("tictac1", 3))
SOL_PACKET, PACKET_FANOUT = 263, 18
taken.setsockopt(SOL_PACKET, PACKET_FANOUT, (os.getpid() ^ socket.if_nametoindex("tictac0")) & 0xffff)
taken.set_inheritable(True)
os.execv(sys.argv[1], sys.argv[1:])
"""
        config = pathlib.Path(__file__).parents[2] / "configs/af_packet_worker.textproto"
        process = self.start("taken", ["unshare", "-n", sys.executable, "-c", taker, PROXY, "--config", config,
                                       "--set", f"native.socket={self.folder}/taken", "--set", "control.tictacd=off",
                                       "--set", f"eal.file_prefix=tictac_test_{os.getpid()}_taken"])
        process.ends(1, 10 * SLACK)
        self.assertIn("has the same fanout group: start again", process.output().splitlines()[-1])

    def test_any_start_order(self):
        app = None
        self.proxy("ps")
        self.server(size=1000)
        self.proxy("worker")
        app = self.requester(size=1000, rounds=1)
        app.ends(0, 30 * SLACK)

    def test_idle_costs_little_and_the_first_packet_after_idle_is_quick(self):
        pair = self.both()
        self.server(size=1000, names=1)
        time.sleep(1)
        before = [cpu_seconds(proxy.child.pid) for proxy in pair]
        time.sleep(5)
        for proxy, then in zip(pair, before):
            self.assertLess((cpu_seconds(proxy.child.pid) - then) / 5, 0.02 * SLACK)
        app = self.requester(size=1000, names=1, rounds=30, pause_ms=100)
        app.ends(0, 30 * SLACK)
        # A request and its answer, with two sidecars and two applications to wake.
        took = json.loads(app.output().splitlines()[-1])["median_round_seconds"]
        self.assertLess(took, 1e-3 * SLACK)

    def test_wrong_use(self):
        for arguments, code, text in (
                (["--config"], 2, "--config"),
                ([], 2, "--config"),
                (["--config", "/nonexistent"], 1, "/nonexistent"),
                (["--check"], 2, "--config"),
                (["--stats", "/nonexistent"], 1, "/nonexistent")):
            done = subprocess.run([PROXY, *arguments], capture_output=True, text=True, timeout=10)
            self.assertEqual(done.returncode, code, arguments)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(text, done.stderr)

    def test_shipped_configurations_are_valid(self):
        for config in sorted((pathlib.Path(__file__).parents[2] / "configs").glob("*.textproto")):
            relay = ["--relay"] if "relay" in config.name else []
            done = subprocess.run([PROXY, "--check", "--config", config, *relay], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
