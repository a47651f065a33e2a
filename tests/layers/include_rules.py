#!/usr/bin/env python3
"""Checks that each folder includes only what the architecture lets it use (README.md draws the same picture).

usage: include_rules.py ROOT
"""

import pathlib
import re
import sys

BASE = "dataplane/base"

# Folder (and what lies below it) -> folders whose headers it may include besides its own.
ALLOWED = {
    BASE: [],
    "dataplane/sched": [BASE],
    "dataplane/transport": [BASE, "dataplane/sched"],
    "dataplane/net": [BASE],
    "dataplane/port": [BASE],
    "dataplane/relay": [BASE, "dataplane/sched", "dataplane/net", "dataplane/port/packet_port.h", "dataplane/transport/wire"],
    "dataplane/runtime": ["dataplane"],
    "control/graph": [BASE],
    "control/order": [BASE, "control/graph"],
    "control/schedule": [BASE],
    "control/daemon": [BASE, "control/schedule"],
    "control/replay": [BASE, "control/graph", "control/order", "control/schedule", "ps_proxy/client"],
    "control/cli": [BASE, "control"],
    "ps_proxy/client": [BASE],
    "ps_proxy": ["dataplane", "control/schedule"],
    "tests": ["dataplane", "control", "ps_proxy"],
}
OURS = re.compile(r'^\s*#\s*include\s+"((?:dataplane|control|ps_proxy|tests)/[^"]+)"')
DPDK = re.compile(r'^\s*#\s*include\s+[<"](rte_\w+\.h|ethdev_\w+\.h)[>"]')
# Names that <NAME.h> of the C library has. Meson puts each target's own folder on the include path, in front of it.
SYSTEM = set("""aio assert complex ctype dirent dlfcn elf endian errno fcntl fenv float fnmatch ftw getopt glob grp iconv
    inttypes langinfo libgen limits link locale malloc math memory monetary mqueue netdb nl_types poll pthread pwd
    regex resolv sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio
    stdlib stdnoreturn string strings syslog tar termios tgmath threads time ucontext uchar ulimit unistd utime values
    wait wchar wctype wordexp""".split())
MAY_USE_DPDK = ("dataplane/port", "tests")
SOURCES = {".cc", ".h", ".hpp", ".c"}


def owner_of(path):
    """The longest folder of ALLOWED that holds the path; None outside of all."""
    holders = [folder for folder in ALLOWED if path == folder or path.startswith(folder + "/")]
    return max(holders, key=len, default=None)


def complaints(root):
    for folder in ("dataplane", "control", "ps_proxy", "tests"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCES:
                yield from complaints_of(file, file.relative_to(root).as_posix())


def complaints_of(file, path):
    owner = owner_of(path)
    if owner is None:
        yield f"{path}: no rule for this folder; add it to {pathlib.Path(__file__).name}"
        return
    if file.suffix == ".h" and file.stem in SYSTEM:
        yield f"{path}: hides <{file.name}> from the targets of its folder; give it another name"
    own_tests = ["tests/fakes"] if path.endswith("_test.cc") else []
    allowed = [owner, *ALLOWED[owner], *own_tests]
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if (match := OURS.match(line)) and not any(match[1] == a or match[1].startswith(a + "/") for a in allowed):
            yield f"{path}:{number}: {owner} may not use {match[1]}"
        if (match := DPDK.match(line)) and not path.startswith(MAY_USE_DPDK):
            yield f"{path}:{number}: only {MAY_USE_DPDK[0]} may use DPDK ({match[1]})"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "include rules: ok")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
