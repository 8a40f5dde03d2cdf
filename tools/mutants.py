#!/usr/bin/env python3
"""`make mutants`: breaks src/memory, src/tensor and src/capi one small way at a time, and counts
the tests that notice.

A mutation is a layer, a text that is in its sources exactly once, another text, and the kind of
slip it is (tools/mutants.json). So code may move between a layer's files; where the text itself
changes, the list's test says so. Each is applied to a copy of the sources, built in build/mutants and held
against the quick suites, three times at most, since a race does not show at each run. A mutation
that does not compile is dead too, but says nothing: it is counted apart and should be replaced.

    python3 tools/mutants.py --list             # what there is
    python3 tools/mutants.py --only orphan      # those whose layer, kind or text has the word
    python3 tools/mutants.py --from 40 --to 80  # some, by number
"""
import argparse
import filecmp
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools/mutants.json"
BUILD = ROOT / "build/mutants"
TREE = BUILD / "tree"  # the copy that is broken
COPIED = ("cmake", "include", "src", "tests", "tools", "CMakeLists.txt")
SUITES = ("test_unit_memory", "test_unit_tensor", "test_capi", "test_governor", "test_threads",
          "test_fault", "test_model", "test_schedules")
# Small: a mutation is found by what is tested, not by how long.
ENVIRONMENT = {"EBB_MODEL_CALLS": "60000", "EBB_FORGED_NAMES": "20000",
               "EBB_SCHEDULE_SECONDS": "2"}
RUNS = 3
SECONDS = 120  # of a suite; one that hangs has noticed


@dataclass(frozen=True)
class Mutation:
    layer: str
    kind: str
    old: str
    new: str


def load(path: Path = LIST) -> list[Mutation]:
    return [Mutation(**entry) for entry in json.loads(path.read_text())]


def sources(layer: str, root: Path) -> list[Path]:
    return sorted(path for folder in (f"include/ebb/{layer}", f"src/{layer}")
                  for path in (root / folder).rglob("*.?pp"))


def places(mutation: Mutation, root: Path) -> list[Path]:
    """A file for each time the text is there."""
    return [path for path in sources(mutation.layer, root)
            for _ in range(path.read_text().count(mutation.old))]


def complaints(mutations: list[Mutation], root: Path = ROOT) -> list[str]:
    """Why mutations cannot be applied, or are there twice."""
    found = []
    for number, mutation in enumerate(mutations, 1):
        times = len(places(mutation, root))
        if times != 1:
            found.append(f"{number}: src/{mutation.layer} has {times} times: {mutation.old!r}")
        if mutation.old == mutation.new:
            found.append(f"{number}: changes nothing: {mutation.old!r}")
    counts = Counter((mutation.layer, mutation.old, mutation.new) for mutation in mutations)
    return found + [f"twice: {key}" for key, count in counts.items() if count > 1]


def shown(mutation: Mutation) -> str:
    old, new = (" ".join(text.split()) for text in (mutation.old, mutation.new))
    return f"{mutation.layer}, {mutation.kind}: {old} -> {new or 'nothing'}"


# ---- building and running -----------------------------------------------------------------------


def copy_tree() -> None:
    """Only what differs is written, so that only that is built again."""
    wanted = {path.relative_to(ROOT) for name in COPIED
              for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
              if path.is_file()}
    for stale in [path for path in TREE.rglob("*")
                  if path.is_file() and path.relative_to(TREE) not in wanted]:
        stale.unlink()
    for path in wanted:
        target = TREE / path
        if target.is_file() and filecmp.cmp(ROOT / path, target, shallow=False):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)


def configure() -> None:
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD / "out", "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1",
                    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1", "-DEBB_BUILD_EXAMPLES=OFF",
                    "-DEBB_CPU=OFF"], check=True, stdout=subprocess.DEVNULL)


def build(jobs: int) -> bool:
    done = subprocess.run(["ninja", "-C", BUILD / "out", "-j", str(jobs), *SUITES],
                          capture_output=True)
    return done.returncode == 0


def notices(suite: str, seed: int) -> bool:
    """Whether the suite fails, crashes or hangs."""
    program = BUILD / "out/tests" / suite
    if not program.exists():
        return False
    try:
        done = subprocess.run([program, "--gtest_brief=1", "--gtest_fail_fast",
                               f"--gtest_random_seed={seed}"], capture_output=True,
                              timeout=SECONDS, env={"PATH": "/usr/bin:/bin", **ENVIRONMENT})
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def killer() -> str:
    """The suite and run that noticed; empty: none."""
    for run in range(1, RUNS + 1):
        for suite in SUITES:
            if notices(suite, run):
                return f"{suite}, run {run}"
    return ""


def judge(mutation: Mutation, jobs: int) -> str:
    path = places(mutation, TREE)[0]
    whole = path.read_text()
    path.write_text(whole.replace(mutation.old, mutation.new))
    try:
        if not build(jobs):
            return "does not compile"
        return killer() or "SURVIVED"
    finally:
        path.write_text(whole)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="", help="a word of the file or the reason")
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--to", type=int, default=1 << 30, dest="last")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args(arguments)
    mutations = load()
    wrong = complaints(mutations)
    for complaint in wrong:
        print(complaint)
    numbered = [(number, mutation) for number, mutation in enumerate(mutations, 1)
                if chosen.first <= number <= chosen.last
                and chosen.only in f"{mutation.layer} {mutation.kind} {mutation.old}"]
    if chosen.list or wrong:
        for number, mutation in numbered:
            print(f"{number:4} {shown(mutation)}")
        return 1 if wrong else 0
    configure()
    if not build(chosen.jobs) or killer():
        print("the suites fail without any mutation")
        return 1
    results = Counter()
    for number, mutation in numbered:
        start = time.monotonic()
        verdict = judge(mutation, chosen.jobs)
        kind = verdict if verdict in ("SURVIVED", "does not compile") else "killed"
        results[kind] += 1
        print(f"{number:4} {verdict:28} {time.monotonic() - start:5.0f} s  {shown(mutation)}",
              flush=True)
    print(f"\n{results['killed']} killed, {results['SURVIVED']} survived, "
          f"{results['does not compile']} did not compile, of {len(numbered)}")
    return 1 if results["SURVIVED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
