#!/usr/bin/env python3
"""Holds shipped files against what a Linux of 2020 has: tools/check_symbols.py [--libc musl] FILE|FOLDER...

Each ELF file may need glibc up to 2.31 and the C++ library of GCC 9, no library that neither the system nor the folder it
lies in has, no symbol that none of them has, and may look for libraries beside itself only: a path of the machine that
built it is no good elsewhere.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

# By the prefix of a symbol's version: the newest that is allowed. The last three are of
# the libraries beside.
NEWEST = {"GLIBC": "2.31", "GLIBCXX": "3.4.28", "CXXABI": "1.3.12", "GCC": "9.0.0", "GOMP": "5.0", "OMP": "5.0",
          "HWY": "0"}
# What every machine has that runs Node or a JVM.
OF_THE_SYSTEM = re.compile(r"^(libc|libm|libpthread|libdl|librt|libstdc\+\+|libgcc_s|ld-linux-[\w-]+)\.so(\.\d+)*$")
# Functions of the program that loads an addon.
OF_THE_HOST = re.compile(r"^(napi|node_api)_")
OF_MUSL = re.compile(r"^(libc|libc\.musl-\w+)\.so(\.\d+)*$")


def as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def readelf(path: Path, *options: str) -> str:
    return subprocess.run(["readelf", "-W", *options, str(path)], check=True, capture_output=True,
                          text=True).stdout


def versions_needed(text: str) -> set[str]:
    """Of `readelf --version-info`: what the file needs, not what it defines."""
    needs = text[text.find("Version needs section"):] if "Version needs section" in text else ""
    return set(re.findall(r"Name: (\S+)", needs))


def too_new(version: str) -> bool:
    prefix, _, number = version.partition("_")
    if prefix not in NEWEST or not re.fullmatch(r"[\d.]+", number):
        return True  # GLIBC_PRIVATE, GLIBC_ABI_DT_RELR and whatever comes next
    return as_numbers(number) > as_numbers(NEWEST[prefix])


def beside(path: Path) -> list[Path]:
    """Where the file looks for libraries of its own: its folder, and those below it that it names."""
    paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", readelf(path, "--dynamic"))
    places = [place for text in paths for place in text.split(":") if place.startswith("$ORIGIN")]
    return [path.parent, *(Path(place.replace("$ORIGIN", str(path.parent))) for place in places)]


def symbols(path: Path) -> tuple[set[str], set[str]]:
    """What a file defines for others, and what it needs of no library in particular: names without a version."""
    defined, needed = set(), set()
    for line in readelf(path, "--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[4] not in ("GLOBAL", "WEAK"):
            continue
        if fields[6] != "UND":
            defined.add(fields[7].split("@")[0])
        elif fields[4] == "GLOBAL" and "@" not in fields[7]:
            needed.add(fields[7])
    return defined, needed


def unresolved(path: Path) -> list[str]:
    """What a linker that is not told to look leaves to the machine that loads the file."""
    needed = {name for name in symbols(path)[1] if not OF_THE_HOST.match(name)}
    others = [file for place in beside(path) if place.is_dir() for file in place.iterdir()
              if file != path and file.is_file() and is_elf(file)]
    return sorted(needed.difference(*(symbols(file)[0] for file in others)))


def faults(path: Path, libc: str = "glibc") -> list[str]:
    """What is wrong with one file."""
    dynamic = readelf(path, "--dynamic")
    found = [f"needs {version}" for version in sorted(versions_needed(readelf(path, "--version-info")))
             if libc == "musl" or too_new(version)]
    # musl's have no versions: a name of C may be its, one of C++ may not.
    found += [f"needs {name}, which nothing there has" for name in unresolved(path)
              if libc == "glibc" or name.startswith("_Z")]
    system = OF_MUSL if libc == "musl" else OF_THE_SYSTEM
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not system.match(library) and not any((place / library).exists() for place in beside(path)):
            found.append(f"needs {library}, which is not beside it")
    for paths in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        found += [f"looks for libraries in {place}" for place in paths.split(":")
                  if place and not place.startswith("$ORIGIN")]
    return found


def elf_files(places: list[Path]) -> list[Path]:
    files = [file for place in places
             for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    return [file for file in files if file.is_file() and not file.is_symlink() and is_elf(file)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--libc", choices=("glibc", "musl"), default="glibc")
    chosen = parser.parse_args(arguments)
    files = elf_files(chosen.places)
    if not files:
        print(f"symbols: no ELF file in {', '.join(map(str, chosen.places))}")
        return 1
    wrong = [(file, fault) for file in files for fault in faults(file, chosen.libc)]
    for file, fault in wrong:
        print(f"{file}: {fault}")
    print(f"symbols: {len(files)} files, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
