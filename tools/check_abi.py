#!/usr/bin/env python3
"""Holds the C ABI against that of the last release: what is added is fine, what is removed or changed is not.

abi/ebb-VERSION.abi has the functions and types as abidw saw them, abi/ebb-VERSION.h the header with its constants.
--record writes both from the library and the header as they are now; that belongs to a release.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASES = ROOT / "abi"
HEADER = ROOT / "include/ebb.h"
LIBRARY = ROOT / "build/dev/libebb_abi.so"  # target ebb_abi: the objects of src/capi, with their types
ONLY_THE_C_ABI = """
[suppress_function]
  symbol_name_not_regexp = ^ebb_[a-z0-9_]+$
  drop = yes

[suppress_variable]
  symbol_name_not_regexp = ^ebb_[a-z0-9_]+$
  drop = yes
"""
MAY_GROW = """
[suppress_type]
  type_kind = struct
  name = {}
"""


def without_comments(header: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)


def constants_of(header: str) -> dict[str, str]:
    """Enumerators with a value, and macros that are a number: their values are compiled into hosts."""
    text = without_comments(header)
    found = dict(re.findall(r"^#define (EBB_\w+) (\d+)$", text, re.MULTILINE))
    found.update(re.findall(r"\b(EBB_\w+) *= *(\d+)", text))
    return found


def sized_structs_of(header: str) -> list[str]:
    """Those that begin with their size, so that new fields at their end are no change. abidiff has no rule for that."""
    return re.findall(r"typedef struct (\w+) \{\s*uint32_t size;", without_comments(header))


def changed_constants(old: str, new: str) -> list[str]:
    """EBB_ABI_VERSION only grows."""
    before, now = constants_of(old), constants_of(new)
    grown = int(now.get("EBB_ABI_VERSION", 0)) >= int(before.pop("EBB_ABI_VERSION", 0))
    complaints = [] if grown else ["EBB_ABI_VERSION is less than it was"]
    return complaints + [f"{name} was {value}, is {now.get(name, 'gone')}"
                         for name, value in before.items() if now.get(name) != value]


def with_suppressions(text: str, *command) -> subprocess.CompletedProcess:
    with tempfile.NamedTemporaryFile("w", suffix=".suppr") as rules:
        rules.write(text)
        rules.flush()
        words = [command[0], "--suppressions", rules.name, *map(str, command[1:])]
        return subprocess.run(words, capture_output=True, text=True, check=False)


class Layouts:
    """The structs of a file that abidw wrote: for each its fields, with offset and type, in their order."""

    def __init__(self, path: Path):
        root = ElementTree.parse(path).getroot()
        self.types = {node.get("id"): node for node in root.iter() if node.get("id")}
        self.nodes = {node.get("name"): node for node in root.iter("class-decl")
                      if node.find("data-member") is not None}

    def struct(self, name: str) -> list[str]:
        node = self.nodes.get(name)
        return [] if node is None else [self.field(member) for member in node.iter("data-member")]

    def field(self, member: ElementTree.Element) -> str:
        variable = member.find("var-decl")
        offset = int(member.get("layout-offset-in-bits")) // 8
        return f"{self.type(variable.get('type-id'))} {variable.get('name')} at {offset}"

    def type(self, name: str) -> str:
        node = self.types[name]
        below = [self.type(part.get("type-id")) for part in node.iter()
                 if part.get("type-id") and node.tag not in ("class-decl", "enum-decl")]
        words = [node.get("name"), node.get("size-in-bits"), node.get("dimensions"),
                 "const" if node.get("const") == "yes" else None, *below]
        return f"{node.tag.removesuffix('-def')}({' '.join(word for word in words if word)})"


def changed_structs(old: Layouts, new: Layouts, names: list[str]) -> list[str]:
    """Each has the fields that it had, where they were; more of them may follow."""
    found = []
    for name in names:
        before, now = old.struct(name), new.struct(name)
        if not before:
            found.append(f"{name} was recorded without its fields")
        found += [f"{name} had {was}, has {is_now}"
                  for was, is_now in zip_longest(before, now[:len(before)], fillvalue="nothing")
                  if was != is_now]
    return found


def write_abi(library: Path, path: Path) -> None:
    done = with_suppressions(ONLY_THE_C_ABI, "abidw", "--no-show-locs", "--no-corpus-path",
                             "--no-comp-dir-path", "--no-elf-needed",
                             "--exported-interfaces-only", "--out-file", path, library)
    if done.returncode != 0:
        sys.exit(f"abi: abidw failed:\n{done.stdout}{done.stderr}")
    keep_reachable(path)


def keep_reachable(path: Path) -> None:
    """Leaves out the types that no function reaches: those of the C++ behind the functions."""
    tree = ElementTree.parse(path)
    types = {node.get("id"): node for node in tree.iter() if node.get("id")}
    reached = set()
    waiting = [node for node in tree.iter("function-decl") if node.get("elf-symbol-id")]
    while waiting:
        for name in {part.get("type-id") for part in waiting.pop().iter()} - reached - {None}:
            reached.add(name)
            waiting.append(types[name])
    for unit in tree.iter("abi-instr"):
        for node in [node for node in unit if not needed(node, reached)]:
            unit.remove(node)
    tree.write(path)


def needed(node: ElementTree.Element, reached: set) -> bool:
    return node.get("elf-symbol-id") is not None or node.get("id") in reached


def record(library: Path, header: Path, folder: Path, version: str) -> None:
    write_abi(library, folder / f"ebb-{version}.abi")
    shutil.copy(header, folder / f"ebb-{version}.h")
    print(f"abi: recorded {version}")


def complaints(library: Path, header: Path, folder: Path, version: str) -> list[str]:
    abi, old = folder / f"ebb-{version}.abi", (folder / f"ebb-{version}.h").read_text()
    sized = sized_structs_of(old)
    with tempfile.NamedTemporaryFile(suffix=".abi") as now:
        write_abi(library, Path(now.name))
        rules = ONLY_THE_C_ABI + "".join(MAY_GROW.format(name) for name in sized)
        done = with_suppressions(rules, "abidiff", "--no-added-syms", "--no-show-locs", abi,
                                 now.name)
        found = [done.stdout + done.stderr] if done.returncode != 0 else []
        found += changed_structs(Layouts(abi), Layouts(now.name), sized)
    return found + changed_constants(old, header.read_text())


def last_release(folder: Path) -> str | None:
    versions = [path.stem.removeprefix("ebb-") for path in folder.glob("ebb-*.abi")]
    return max(versions, key=lambda text: tuple(map(int, text.split("."))), default=None)


def project_version() -> str:
    return re.search(r"^  VERSION ([0-9.]+)$", (ROOT / "CMakeLists.txt").read_text(),
                     re.MULTILINE)[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", nargs="?", metavar="VERSION", const=project_version(),
                        help="this is what a release promises; usual: the version of CMakeLists.txt")
    parser.add_argument("--library", type=Path, default=LIBRARY)
    chosen = parser.parse_args()
    if chosen.record:
        RELEASES.mkdir(exist_ok=True)
        record(chosen.library, HEADER, RELEASES, chosen.record)
        return 0
    version = last_release(RELEASES)
    if version is None:
        print("abi: no release is recorded")
        return 1
    found = complaints(chosen.library, HEADER, RELEASES, version)
    for complaint in found:
        print(complaint)
    print(f"abi: {len(found)} complaints against {version}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
