#!/usr/bin/env python3
"""Holds every #include against cmake/layers.txt; prints the offending lines and exits with 1.

docs/architecture.md explains the rules. In short:
  include/ebb.h             includes nothing of Ebb
  include/ebb/<layer>/      public headers of the layer and of those below it
  include/ebb/*.hpp         any public header
  src/<layer>/              public and internal headers of the layer and of those below it
  tests/unit/<layer>/       as src/<layer>/
  examples/                 public headers
  cli/                      as src/observe/
  hosts/, tests/hosts/      ebb.h
"""
import argparse
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple, Optional

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh"}
CHECKED = ("include", "src", "tests", "examples", "hosts", "cli")
GENERATED = {"node_modules", "target", "build", "dist"}
C_ABI = "include/ebb.h"


class Layers:
    """The table: each layer with the layers it may include."""

    def __init__(self, text: str):
        lines = (line.split("#")[0].strip() for line in text.splitlines())
        rows = (line.partition(":") for line in lines if line)
        self.below = {name.strip(): set(rest.split()) for name, _, rest in rows}

    def of(self, path: str) -> Optional[str]:
        """The layer whose folder holds a path such as backends/cpu/x.hpp: the longest match."""
        parts = path.split("/")[:-1]
        names = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
        return next((name for name in names if name in self.below), None)

    def may_include(self, layer: str, other: str) -> bool:
        return other == layer or other in self.below[layer]


class Offence(NamedTuple):
    path: str
    line: int
    include: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: #include \"{self.include}\": {self.reason}"


class Checker:
    def __init__(self, root: Path):
        self.root = root
        self.layers = Layers((root / "cmake/layers.txt").read_text())

    def offences(self) -> list[Offence]:
        return [offence for path in self.files() for offence in self.check_file(path)]

    def files(self) -> list[str]:
        found = []
        for top in CHECKED:
            for folder, names, files in os.walk(self.root / top):
                names[:] = [name for name in names if name not in GENERATED]
                found += [Path(folder, file).relative_to(self.root).as_posix()
                          for file in files if Path(file).suffix in SUFFIXES]
        return sorted(found)

    def check_file(self, path: str) -> list[Offence]:
        text = (self.root / path).read_text(errors="replace")
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            target = match and self.resolve(path, match[1])
            reason = target and self.why_not(path, target)
            if reason:
                found.append(Offence(path, number, match[1], reason))
        return found

    def resolve(self, path: str, include: str) -> Optional[str]:
        """The path in this repository that an include names; None for everyone else's headers."""
        beside = os.path.normpath(os.path.join(os.path.dirname(path), include))
        if not beside.startswith("..") and (self.root / beside).is_file():
            return beside
        if include == "ebb.h" or include.startswith("ebb/"):
            return f"include/{include}"
        if self.layers.of(include):
            return f"src/{include}"
        if include.split("/")[0] in CHECKED:
            return include
        return None

    def why_not(self, path: str, target: str) -> Optional[str]:
        """Why `path` may not include `target`; None where it may."""
        top, _, rest = path.partition("/")
        if rest.startswith("hosts/") or top == "hosts":
            return self.why_not_host(path, target)
        if target.startswith(("hosts/", "tests/")) and top != "tests":
            return f"{top}/ may not include {target.split('/')[0]}/"
        if target.startswith("cli/"):
            return None if top in ("cli", "tests") else f"{top}/ may not include cli/"
        if top == "cli":
            return self.why_not_layer("observe/", target)
        if top == "examples" and target.startswith("src/"):
            return "examples use public headers only"
        if top == "include":
            return self.why_not_public(path, target)
        if top == "src":
            return self.why_not_layer(rest, target)
        if rest.startswith("unit/"):
            return self.why_not_layer(rest.removeprefix("unit/"), target)
        return None

    def why_not_host(self, path: str, target: str) -> Optional[str]:
        same_host = target.startswith(("hosts/", "tests/"))
        return None if target == C_ABI or same_host else "hosts see ebb.h and nothing else of Ebb"

    def why_not_public(self, path: str, target: str) -> Optional[str]:
        if path == C_ABI:
            return "ebb.h stands alone"
        if not target.startswith("include/"):
            return "a public header may not include an internal one"
        umbrella = path.count("/") == 2
        return None if umbrella else self.why_not_layer(path.removeprefix("include/ebb/"), target)

    def why_not_layer(self, path: str, target: str) -> Optional[str]:
        """`path` is relative to the folder that holds the layers."""
        layer = self.layers.of(path)
        if layer is None:
            return f"{os.path.dirname(path) or path} is not a layer of cmake/layers.txt"
        if not target.startswith(("src/", "include/")):
            return None
        other = self.layer_of_target(target)
        if other is None:
            return f"{target} belongs to no layer of cmake/layers.txt"
        return None if self.layers.may_include(layer, other) else f"{layer} may not include {other}"

    def layer_of_target(self, target: str) -> Optional[str]:
        if target == C_ABI or re.fullmatch(r"include/ebb/[^/]+", target):
            return "capi"  # the C ABI and the umbrella sit above everything
        return self.layers.of(re.sub(r"^(src|include/ebb)/", "", target))


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that no layer includes against the order")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    checker = Checker(parser.parse_args().root)
    offences = checker.offences()
    for offence in offences:
        print(offence)
    print(f"layers: {len(checker.files())} files, {len(offences)} offending includes")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
