#!/usr/bin/env python3
"""Adds up what the meson and gtest runs of scripts/test did, and names what was skipped.

usage: summary.py ROOT LAYER...
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree as xml

BUILD_OF_LAYER = {"plain": "build", "asan": "build-asan", "tsan": "build-tsan"}


def read_cases(path):
    """Yields (suite.case, outcome, reason) for every case of a meson JUnit file."""
    for suite in xml.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            name = f"{suite.get('name')}.{case.get('name')}"
            skipped = case.find("skipped")
            if case.find("failure") is not None or case.find("error") is not None:
                yield name, "failed", ""
            elif skipped is not None or case.get("result") == "skipped":
                text = "" if skipped is None else (skipped.get("message") or "").strip()
                yield name, "skipped", text.splitlines()[-1] if text else ""
            else:
                yield name, "passed", ""


def main():
    root, layers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for layer in layers:
        path = root / BUILD_OF_LAYER.get(layer, "none") / "meson-logs" / "testlog.junit.xml"
        if not path.exists():
            continue
        counts = collections.Counter()
        notes = []
        for name, outcome, reason in read_cases(path):
            counts[outcome] += 1
            if outcome != "passed":
                notes.append(f"  {outcome}: {name}" + (f" ({reason})" if reason else ""))
        print(f"{layer}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
        print("\n".join(notes), end="\n" if notes else "")


if __name__ == "__main__":
    main()
