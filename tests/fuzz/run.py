#!/usr/bin/env python3
"""Builds every fuzz target and runs each for a while on a copy of its seed corpus."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SEEDS = pathlib.Path(__file__).parent / "corpus"


def fuzz(target, seconds):
    """Runs one target; returns whether it found nothing."""
    name = target.name.removesuffix("_fuzz")
    with tempfile.TemporaryDirectory() as work:
        corpus = pathlib.Path(work) / "corpus"
        seeds = SEEDS / name
        if seeds.is_dir():
            shutil.copytree(seeds, corpus)
        else:
            corpus.mkdir()
        command = [target, corpus, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=4096",
                   "-print_final_stats=1", f"-artifact_prefix={work}/"]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", timeout=seconds + 120)
        if run.returncode == 0:
            executed = next((line.split()[-1] for line in run.stdout.splitlines() if "number_of_executed" in line), "?")
            print(f"fuzz {name}: {executed} inputs in {seconds} s, nothing found", flush=True)
            return True
        print(run.stdout[-6000:])
        for finding in pathlib.Path(work).glob("*-*"):
            kept = target.parent / f"{name}-{finding.name}"
            shutil.copy(finding, kept)
            print(f"fuzz {name}: FOUND, input kept in {kept}", flush=True)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder configured with -Dfuzz=true")
    parser.add_argument("--seconds", type=int, default=10, help="for each target")
    parser.add_argument("--only", help="one target's name, without _fuzz")
    arguments = parser.parse_args()
    subprocess.run(["ninja", "-C", arguments.build, "fuzzers"], check=True, stdout=subprocess.DEVNULL)
    targets = sorted((arguments.build / "tests/fuzz").glob(f"{arguments.only or '*'}_fuzz"))
    if not targets:
        sys.exit(f"run.py: no fuzz targets in {arguments.build}/tests/fuzz")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found_nothing = list(pool.map(lambda target: fuzz(target, arguments.seconds), targets))
    if not all(found_nothing):
        sys.exit(1)


if __name__ == "__main__":
    main()
