#!/usr/bin/env python3
"""Formatting, include rules, self-contained headers, clang-tidy. Needs a configured and built build folder."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("*.cc", "*.h", "*.hpp", "*.c")


def tracked_sources():
    command = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "--", *SOURCES]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return sorted(path for path in listed if (ROOT / path).exists())


def run_each(commands):
    """Runs the commands on all cores; returns the output of those that failed."""
    def run(command):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout if done.returncode else None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [output for output in pool.map(run, commands) if output is not None]


def check_format(sources, _build):
    return run_each([["clang-format-14", "--dry-run", "-Werror", *sources]])


def check_include_rules(_sources, _build):
    return run_each([[sys.executable, ROOT / "tests/layers/include_rules.py", ROOT]])


def compile_commands(build):
    """Source path from the root -> its compiler command, absolute paths where it matters."""
    entries = json.loads((build / "compile_commands.json").read_text())
    found = {}
    for entry in entries:
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if source.is_relative_to(ROOT) and not source.is_relative_to(build):
            found.setdefault(source.relative_to(ROOT).as_posix(), entry)
    return found


def include_flags(entry, build):
    """The flags of a compiler command that decide whether a header compiles."""
    words = shlex.split(entry["command"])
    flags = [word for word in words if word.startswith(("-D", "-std=", "-W", "-m"))]
    flags += [f"-I{build / word[2:]}" for word in words if word.startswith("-I")]
    flags += [f"-isystem{words[i + 1]}" for i, word in enumerate(words) if word == "-isystem"]
    return flags


def check_headers(sources, build):
    """Compiles each header alone, with the flags of the source that lies nearest to it.

    One with a source of its own name is compiled there: the source includes it before all others.
    """
    known = compile_commands(build)
    commands = []
    for header in (path for path in sources if path.endswith((".h", ".hpp"))):
        if str(pathlib.PurePath(header).with_suffix(".cc")) in known:
            continue
        nearest = max(known, key=lambda source: (len(os.path.commonprefix([source, header])), source))
        flags = include_flags(known[nearest], build)
        commands.append(["g++", *flags, "-fsyntax-only", "-x", "c++", "-include", header, "/dev/null"])
    return run_each(commands)


def tidy_group(build, target, group):
    """clang-tidy on sources of one target as if they were one file: nearly all its time goes into common headers.

    Sources that do not compile together, since two use one name for themselves, are checked in two halves.
    """
    words = shlex.split(group[0][1]["command"])
    flags = words[next(i for i, word in enumerate(words) if word.startswith("-")):words.index("-MD")]
    together = build / "tidy" / f"{target}.cc"
    together.parent.mkdir(exist_ok=True)
    together.write_text("".join(f'#include "{source}"\n' for source, _ in group))
    # The static analyzer costs three times the rest: only with TICTAC_TEST_LONG=1, and never in gtest's macros.
    is_test = any(source.startswith("tests/") or source.endswith("_test.cc") for source, _ in group)
    analyzer = os.environ.get("TICTAC_TEST_LONG") == "1" and not is_test
    command = ["clang-tidy-14", "--quiet", f"--config-file={ROOT / '.clang-tidy'}", together,
               "--checks=-bugprone-suspicious-include" + ("" if analyzer else ",-clang-analyzer-*"),
               "--", *flags, "-w"]
    done = subprocess.run(command, cwd=group[0][1]["directory"], capture_output=True, text=True)
    if "[clang-diagnostic-error]" in done.stdout and len(group) > 1:
        half = len(group) // 2
        halves = tidy_group(build, f"{target}-1", group[:half]), tidy_group(build, f"{target}-2", group[half:])
        return "".join(filter(None, halves)) or None
    return (done.stdout or done.stderr) if done.returncode else None


def check_tidy(sources, build):
    groups = {}
    for path, entry in compile_commands(build).items():
        if path in sources:
            target = pathlib.PurePath(entry["output"]).parent.as_posix().replace("/", "-")
            groups.setdefault(target, []).append((path, entry))
    longest_first = sorted(groups.items(), key=lambda item: -len(item[1]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(lambda item: tidy_group(build, *item), longest_first))


CHECKS = {"format": check_format, "includes": check_include_rules, "headers": check_headers, "tidy": check_tidy}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--only", choices=CHECKS, help="one check")
    arguments = parser.parse_args()
    sources = tracked_sources()
    bad = 0
    for name, check in CHECKS.items():
        if arguments.only in (None, name):
            failed = False
            for failure in check(sources, arguments.build):
                print(failure, flush=True)
                failed = True
            print(f"lint {name}: {'FAILED' if failed else 'ok'}", flush=True)
            bad += failed
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
