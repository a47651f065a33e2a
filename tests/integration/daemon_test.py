#!/usr/bin/env python3
"""A real tictacd: its socket, its state, and what is left after kill -9.

usage: daemon_test.py TICTACD TICTAC
"""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

TICTACD, TICTAC = sys.argv[1:3]
# Sanitizers slow everything down; the product's own limit is 2 s.
SLACK = float(os.environ.get("TICTAC_TEST_SLACK", "1"))
WITHIN = 2.0 * SLACK
START = 10.0 * SLACK
ROUNDS = 20


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tictacd_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.socket = self.folder / "d.sock"
        self.state = self.folder / "d.db"
        self.order = self.folder / "order"
        self.order.write_text("w\t0\n")
        self.children = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.communicate()

    def spawn(self, socket=None, state=None):
        child = subprocess.Popen(
            [TICTACD, "--socket", str(socket or self.socket), "--state", str(state or self.state)],
            stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        return child

    def start(self):
        child = self.spawn()
        lines = []
        while not lines or "listening at" not in lines[-1]:
            line = child.stderr.readline()
            self.assertTrue(line, f"tictacd ended: {lines}")
            lines.append(line)
        return child, "".join(lines)

    def refused(self, why, socket=None):
        """A second daemon is refused with one line that says why."""
        child = self.spawn(socket, self.folder / "second.db")
        error = child.communicate(timeout=START)[1]
        self.assertEqual(child.returncode, 1, error)
        self.assertEqual(error.count("\n"), 1, error)
        self.assertIn(why, error)

    def tictac(self, *arguments, code=0, env=None):
        done = subprocess.run([TICTAC, *arguments, "--socket", str(self.socket)], capture_output=True, text=True,
                              timeout=START, env={**os.environ, **(env or {})}, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        if code:
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def push(self):
        return json.loads(self.tictac("push", "--job", "a", "--order", str(self.order), "--json"))["version"]

    def version(self):
        return json.loads(self.tictac("status", "--json"))["jobs"][0]["version"]

    def test_state_and_socket_survive_kill(self):
        daemon, _ = self.start()
        self.assertEqual([self.push() for _ in range(3)], [1, 2, 3])
        daemon.kill()
        daemon.wait()
        self.assertTrue(self.socket.exists(), "a killed daemon leaves its socket")
        self.assertIn("no answer from tictacd", self.tictac("status", code=1))
        self.start()
        self.assertEqual(self.version(), 3)
        self.assertEqual(self.push(), 4)

    def test_status_says_when_there_is_nothing(self):
        self.start()
        self.assertEqual(self.tictac("status"), "no schedule yet; tictac push makes one\nno proxy has come yet\n")
        self.push()
        self.assertRegex(self.tictac("status"), r"^JOB .*\na .*\nno proxy has come yet\n$")

    def test_live_and_stopped_daemons_keep_their_socket(self):
        daemon, _ = self.start()
        self.refused("another process serves there")
        daemon.send_signal(signal.SIGSTOP)
        self.refused("another process serves there")
        daemon.send_signal(signal.SIGCONT)
        self.assertEqual(self.push(), 1)

    def test_what_is_no_socket_is_untouched(self):
        file, link, folder = (self.folder / name for name in ("file", "link", "folder"))
        file.write_text("precious")
        link.symlink_to(file)
        folder.mkdir()
        for path in (file, link, folder):
            self.refused("is no socket", path)
        self.assertEqual(file.read_text(), "precious")
        self.assertTrue(link.is_symlink() and folder.is_dir())

    def test_one_of_two_starters_wins(self):
        for _ in range(ROUNDS):
            both = [self.spawn(state=self.folder / f"{n}.db") for n in range(2)]
            end = time.monotonic() + START
            while all(child.poll() is None for child in both):
                self.assertLess(time.monotonic(), end, "both run")
                time.sleep(0.005)
            winner = both[0] if both[0].poll() is None else both[1]
            while "listening at" not in winner.stderr.readline():
                self.assertIsNone(winner.poll(), "both lost")
            winner.terminate()
            self.assertEqual(winner.wait(START), 0)
            self.assertFalse(self.socket.exists())

    def test_only_the_own_socket_is_removed(self):
        daemon, _ = self.start()
        self.socket.unlink()
        self.socket.write_text("of somebody else")
        daemon.terminate()
        self.assertEqual(daemon.wait(WITHIN), 0)
        self.assertTrue(self.socket.exists(), "removed what was not its own")

    def test_mode_under_an_open_umask(self):
        before = os.umask(0)
        try:
            self.start()
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o600)

    def test_length_of_the_path(self):
        longest = str(self.folder) + "/" + "s" * (107 - len(str(self.folder)) - 1)
        child = self.spawn(longest)
        self.assertIn("listening at", child.stderr.readline())
        self.refused("107", longest + "s")
        self.refused("107", str(self.folder) + "/" + "s" * 300)
        self.refused("cannot be made", self.folder / "missing" / "d.sock")

    def test_broken_state_is_set_aside_and_said(self):
        self.state.write_bytes(b"x" * 8192)
        _, log = self.start()
        self.assertIn("set aside", log)
        self.assertEqual((self.folder / "d.db.broken-1").read_bytes(), b"x" * 8192)
        self.assertEqual(self.push(), 1)

    def test_wrong_use(self):
        self.start()
        self.assertIn("UTF-8", self.tictac("push", "--job", os.fsdecode(b"\xff"), "--order", str(self.order), code=1))
        self.assertIn("no job", self.tictac("status", "--job", "none", code=1))

    def test_http_proxy_is_not_for_us(self):
        self.start()
        self.push()
        self.tictac("status", env={"http_proxy": "http://127.0.0.1:9", "grpc_proxy": "http://127.0.0.1:9"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
