#!/usr/bin/env python3
"""Prints the version, or sets it everywhere: tools/version.py [NEW].

It is CMakeLists.txt's. Files that other tools read repeat it; tools/tests/version_test.py holds them against it.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ("CMakeLists.txt", r"^  VERSION (\S+)$")
# Each file, and where in it the version stands.
REPEATED = [
    ("hosts/tfjs/package.json", r'^  "version": "(.*)",$'),
    ("hosts/tfjs/package-lock.json", r'^  "version": "(.*)",$'),
    ("hosts/tfjs/package-lock.json", r'^      "name": "ebb-tfjs",\n      "version": "(.*)",$'),
    ("hosts/djl/pom.xml", r"^  <artifactId>ebb-djl</artifactId>\n  <version>(.*)</version>$"),
    ("packaging/conan/conanfile.py", r'^    version = "(.*)"$'),
    ("packaging/vcpkg/ebb/vcpkg.json", r'^  "version": "(.*)",$'),
]


def read(path: str, pattern: str) -> str:
    found = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"version: nothing in {path} matches {pattern}")
    return found[1]


def version() -> str:
    return read(*HERE)


def write(path: str, pattern: str, new: str) -> None:
    def replaced(match: re.Match) -> str:
        return match[0].replace(match[1], new)

    file = ROOT / path
    file.write_text(re.sub(pattern, replaced, file.read_text(), count=1, flags=re.MULTILINE))


def main(arguments: list[str]) -> int:
    if not arguments:
        print(version())
        return 0
    if len(arguments) != 1 or not re.fullmatch(r"\d+\.\d+\.\d+", arguments[0]):
        raise SystemExit("version: one version like 1.2.3 expected")
    for place in [HERE, *REPEATED]:
        write(*place, arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
