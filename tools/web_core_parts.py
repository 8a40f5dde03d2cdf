#!/usr/bin/env python3
"""What each feature adds to ebb_core.wasm: bytes of its functions, and what the file shrinks by without them, compressed.

A function belongs to the source whose object file has it first, as the linker takes them; one that the optimiser put
into another belongs to that one. Fails for a source that no feature names, and for features that a page does without.
"""
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from check_web_size import compressed

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/wasm"
NAMED = BUILD / "hosts/tfjs/web/core/ebb_core_named.wasm"
# In the order in which they are linked.
OBJECTS = [BUILD / "hosts/tfjs/web/core/CMakeFiles/ebb_core_named.dir/core.cc.o",
           *(BUILD / f"libebb_{layer}.a" for layer in ("capi", "tensor", "memory", "base")), BUILD / "libfmt.a"]

# By the names of sources, without `.cpp`.
FEATURES = {
    "calls from the page": "core.cc guard devices",
    "tensors, names, regions": "context context_body context_registry context_lookup context_holds context_regions"
                               " handle_table region tensors contexts regions",
    "books, reports, errors": "context_books report books_json live_tensors ledger json_writer books",
    "governor and reclaim": "governor pacing context_reclaim context_ladder callback_host reclaim",
    "sites and tracing": "site_table trace",
    "pool and its devices": "pool pool_core pool_stats chunk_space chunk_space_growth free_index magazines metadata_arena"
                            " slab_store stream_order taking thread_slot device system_heap heap_adaptors"
                            " simulated_device simulated_device_detector memory_limit",
    "dtypes, shapes, sizes": "bytes check checked dtype shape fork process_barrier spin_lock biased_lock wasm",
    "recordings, snapshots": "recording snapshot snapshot_file file_calls file_draft",
    "tensors of Ebb's own": "tensor layout context_layouts reads ops program tape",
}
LEFT_OUT = ("recordings, snapshots", "tensors of Ebb's own")
FMT, CXX, C = "messages (fmt)", "the C++ library", "the C library"
DATA = "constants and texts"


@dataclass
class Module:
    """A module of WebAssembly: its bytes, and where in them its functions are."""
    contents: bytes
    bodies: list[tuple[str, int, int]]  # name, begin, end
    data: tuple[int, int]


class Reader:
    def __init__(self, contents: bytes, at: int):
        self.contents, self.at = contents, at

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.contents[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def byte(self) -> int:
        self.at += 1
        return self.contents[self.at - 1]

    def text(self) -> str:
        length = self.number()
        self.at += length
        return self.contents[self.at - length:self.at].decode()


def sections(contents: bytes) -> dict[int | str, tuple[int, int, int]]:
    """Where they begin, where what is in them does, and where they end: by number, custom ones by name."""
    found: dict[int | str, tuple[int, int, int]] = {}
    reader = Reader(contents, 8)
    while reader.at < len(contents):
        begin = reader.at
        kind, length = reader.byte(), reader.number()
        end = reader.at + length
        name: int | str = reader.text() if kind == 0 else kind
        found[name] = (begin, reader.at, end)
        reader.at = end
    return found


def count_imports(contents: bytes, at: int) -> int:
    """All that this module imports are functions."""
    reader = Reader(contents, at)
    count = reader.number()
    for _ in range(count):
        reader.text(), reader.text()
        assert reader.byte() == 0, "an import that is no function"
        reader.number()
    return count


def function_names(contents: bytes, at: int, end: int) -> dict[int, str]:
    reader = Reader(contents, at)
    while reader.at < end:
        kind, length = reader.byte(), reader.number()
        if kind == 1:
            return {reader.number(): reader.text() for _ in range(reader.number())}
        reader.at += length
    return {}


def parse(contents: bytes) -> Module:
    where = sections(contents)
    imports = count_imports(contents, where[2][1])
    names = function_names(contents, *where["name"][1:])
    reader = Reader(contents, where[10][1])
    bodies = []
    for index in range(reader.number()):
        begin = reader.at
        length = reader.number()
        reader.at += length
        bodies.append((names.get(imports + index, "?"), begin, reader.at))
    return Module(contents, bodies, where[11][1:])


def defining_sources() -> dict[str, str]:
    """The source of each function, by its name."""
    found: dict[str, str] = {}
    for file in OBJECTS:
        listing = subprocess.run(["emnm", "--print-file-name", "--demangle", "--defined-only", file], check=True,
                                 capture_output=True, text=True).stdout
        for line in listing.splitlines():
            match = re.match(r"(?:.*/)?(?:[^/]*:)?([^/:]+)\.o: [0-9a-f]+ [TtWw] (.*)", line)
            if match:
                found.setdefault(match[2], match[1].removesuffix(".cpp"))
    return found


def plain_name(name: str) -> str:
    """Without result, templates' arguments and parameters: `std::sort`."""
    name = name.removeprefix("byn$mgfn-shared$")  # functions that binaryen merged
    before = None
    while before != name:
        before, name = name, re.sub(r"<[^<>]*>", "", name)
    return name.split("(")[0].split(" ")[-1]


def feature_of(name: str, sources: dict[str, str]) -> str:
    plain = plain_name(name)
    if plain.startswith("fmt::"):
        return FMT
    if plain.startswith("std::") and "ebb::" not in name:
        return CXX
    name = re.sub(r"^byn\$mgfn-shared\$|\.\d+$", "", name)
    source = sources.get(name)
    if source is None or source == "embedded_fmt":
        return CXX if "std::" in name or "__cxxabi" in name else FMT if source else C
    for feature, of in FEATURES.items():
        if source in of.split():
            return feature
    raise SystemExit(f"{source}: no feature of tools/web_core_parts.py has this source")


def without(module: Module, spans: list[tuple[int, int]]) -> bytes:
    kept, at = [], 0
    for begin, end in sorted(spans):
        kept.append(module.contents[at:begin])
        at = end
    return b"".join([*kept, module.contents[at:]])


def strip_names(contents: bytes) -> bytes:
    """As a page gets it: the names are the last section."""
    begin, _, end = sections(contents)["name"]
    assert end == len(contents), "something follows the names"
    return contents[:begin]


def main() -> int:
    contents = NAMED.read_bytes()
    module = parse(contents)
    sources = defining_sources()
    spans: dict[str, list[tuple[int, int]]] = {DATA: [module.data]}
    for name, begin, end in module.bodies:
        spans.setdefault(feature_of(name, sources), []).append((begin, end))
    module.contents = strip_names(contents)
    whole = compressed(module.contents)
    print(f"{'ebb_core.wasm':26} {len(module.contents):7,} bytes {whole:7,} compressed")
    size = {feature: sum(end - begin for begin, end in of) for feature, of in spans.items()}
    for feature in sorted(size, key=size.get, reverse=True):
        print(f"{feature:26} {size[feature]:7,} bytes {whole - compressed(without(module, spans[feature])):7,} compressed")
    linked = [feature for feature in LEFT_OUT if feature in size]
    for feature in linked:
        print(f"a page does without: {feature}")
    return 1 if linked else 0


if __name__ == "__main__":
    sys.exit(main())
