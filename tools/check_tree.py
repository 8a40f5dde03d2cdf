#!/usr/bin/env python3
"""Keeps the tree clean: no file over 1 MiB, no path that exists on one machine only."""
import re
import sys
from pathlib import Path

from source_files import ROOT, tree_files

LIMIT = 1 << 20
MACHINE_PATH = re.compile(rb"(?<![\w.$}/-])/(?:root|work|home/\w+|Users/\w+)/\w")


def why_not(data: bytes) -> list[str]:
    reasons = [f"{len(data)} bytes, at most {LIMIT}"] if len(data) > LIMIT else []
    for number, line in enumerate(data.splitlines(), 1):
        if MACHINE_PATH.search(line):
            reasons.append(f"line {number} names a path of one machine")
    return reasons


def main() -> int:
    files = [path for path in tree_files() if path != Path(__file__).resolve()]
    found = [(path, reason) for path in files for reason in why_not(path.read_bytes())]
    for path, reason in found:
        print(f"{path.relative_to(ROOT)}: {reason}")
    print(f"tree: {len(files)} files, {len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
