#!/usr/bin/env python3
"""What `meson install` leaves, used as the README says: daemon, sidecars, schedule, an application in C and one in C++.

usage: install_test.py BUILD
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv[1])
WITHIN = 10.0


class InstallTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tictac_install_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.children = []
        self.addCleanup(self.end_all)
        self.run_to_end("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", self.folder / "dest")
        (self.pc,) = (self.folder / "dest").rglob("tictac.pc")
        self.bin = next((self.folder / "dest").rglob("tictac-proxy")).parent
        self.share = self.bin.parent / "share/tictac"
        self.env = {**os.environ, "PKG_CONFIG_PATH": str(self.pc.parent), "LD_LIBRARY_PATH": str(self.pc.parents[1]),
                    "PKG_CONFIG_SYSROOT_DIR": str(self.folder / "dest")}

    def end_all(self):
        for child in self.children:
            child.kill()
            child.wait(WITHIN)

    def run_to_end(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                              env=getattr(self, "env", None))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def start(self, says, *command):
        """Starts it and waits until its log says so; returns the log."""
        log = self.folder / f"{len(self.children)}.log"
        with log.open("w") as file:
            child = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=self.env)
        self.children.append(child)
        self.wait_for(says, log)
        return log

    def wait_for(self, says, log):
        end = time.monotonic() + WITHIN
        while says not in log.read_text():
            self.assertLess(time.monotonic(), end, f"not {says!r}:\n{log.read_text()}")
            time.sleep(0.01)

    def compile(self, compiler, source, name):
        flags = self.run_to_end("pkg-config", "--cflags", "--libs", "tictac").split()
        self.run_to_end(*compiler, "-Wall", "-Wextra", "-Werror", source, *flags, "-o", self.folder / name)
        return self.folder / name

    def sidecar(self, name, config):
        self.start("runs at", self.bin / "tictac-proxy",
                   "--config", self.share / config, "--set", f"native.socket={self.folder / name}",
                   "--set", f"device.{'vhost' if name == 'ps' else 'virtio_user'}.path={self.folder / 'cable'}",
                   "--set", f"eal.file_prefix=tictac_install_{os.getpid()}_{name}",
                   "--set", f"control.tictacd={self.folder / 'd.sock'}")

    def test_a_tensor_goes_between_two_installed_sidecars(self):
        daemon = self.start("listening", self.bin / "tictacd",
                            "--socket", self.folder / "d.sock", "--state", self.folder / "d.db")
        for name, config in (("worker", "virtio_worker.textproto"), ("ps", "vhost_ps.textproto")):
            self.sidecar(name, config)
            self.wait_for(f"proxy {name} connected", daemon)
        order = self.folder / "order.tsv"
        order.write_text("layer2/weights\t0\nlayer1/weights\t3\n")
        tictac, socket = self.bin / "tictac", ["--socket", self.folder / "d.sock"]
        said = self.run_to_end(tictac, "push", "--job", "demo", "--order", order, *socket)
        self.assertEqual(said, "job demo has version 1 with 2 entries; in force at ps, worker\n")
        self.assertIn("demo", self.run_to_end(tictac, "status", *socket))
        example = self.compile(["cc", "-std=c11"], self.share / "example.c", "example")
        self.start("", example, "serve", self.folder / "ps")
        said = self.run_to_end(example, "fetch", self.folder / "worker", "ps")
        self.assertEqual(said, "layer1/weights: ok, 4000000 bytes, the first is 7; rank 1 of schedule version 1\n")

    def test_the_cpp_header_stands_alone(self):
        source = self.folder / "owner.cc"
        source.write_text("#include <tictac.hpp>\nint main() { return tictac::native::Client() ? 1 : 0; }\n")
        self.run_to_end(self.compile(["g++", "-std=c++20"], source, "owner"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
