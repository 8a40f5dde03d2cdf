#!/usr/bin/env python3
"""`make mutants`: breaks src/memory, src/tensor and src/capi one small way at a time, and counts
the tests that notice.

A mutation is a layer, a text that is in its sources exactly once, another text, and the kind of
slip it is (tools/mutants.json). So code may move between a layer's files; where the text itself
changes, the list's test says so. Each is applied to a copy of the sources and held against the
quick suites, the two that are likeliest and fastest to notice first, for all mutations; then those
that they did not notice against the others. A suite is built when its turn comes, and the first
that notices ends it. Where none does, those that are not the same at each run
(threads, seeds, schedules) run twice more. A mutation that does not compile is dead too, but says
nothing: it is counted apart and should be replaced.

What compiles quickly comes first: sources before headers. A header's mutation compiles the tests
again, so those of a layer are built as one file each. A relaxed memory order is the same code on
many processors, so it meets only the suite that tells orders apart, which weakens it at run time:
nothing is built (tools/orders.py).

Verdicts are kept in build/mutants/verdicts.jsonl as they come: a run that was interrupted goes on,
and one after a change of tests or sources judges again only what it is told to.

    python3 tools/mutants.py --list             # what there is
    python3 tools/mutants.py                    # judges those without a verdict, prints the table
    python3 tools/mutants.py --table            # prints the table
    python3 tools/mutants.py --again survived   # judges again what survived
    python3 tools/mutants.py --again unnoticed  # the same of what the first suites did not notice
    python3 tools/mutants.py --again all        # forgets all verdicts first
    python3 tools/mutants.py --only orphan      # those whose layer, kind or text has the word
    python3 tools/mutants.py --from 40 --to 80  # some, by number
"""
import argparse
import filecmp
import json
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

import orders

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tools/mutants.json"
BUILD = ROOT / "build/mutants"
TREE = BUILD / "tree"  # the copy that is broken
VERDICTS = BUILD / "verdicts.jsonl"
COPIED = ("cmake", "include", "src", "tests", "tools", "CMakeLists.txt")
# Those that link what was changed, the likeliest and fastest first.
SUITES = {
    "memory": ("test_unit_memory", "test_unit_tensor", "test_fault", "test_governor", "test_capi",
               "test_schedules", "test_model", "test_threads"),
    "tensor": ("test_unit_tensor", "test_capi", "test_fault", "test_governor", "test_model",
               "test_schedules", "test_threads"),
    "capi": ("test_capi", "test_fault", "test_governor", "test_model", "test_schedules",
             "test_threads"),
}
VARYING = {"test_schedules", "test_model", "test_threads"}  # not the same at each run
# Small: a mutation is found by what is tested, not by how long.
ENVIRONMENT = {"EBB_MODEL_CALLS": "60000", "EBB_FORGED_NAMES": "20000",
               "EBB_SCHEDULE_SECONDS": "1"}
TIMED = "Fairness.*"  # on a busy machine it fails without a mutation
RUNS = 3
FIRST = 2  # suites that each mutation is held against before any meets the others
FENCE, TELLS_ORDERS_APART = "dropped fence", "test_schedules"
ORDER_SECONDS = 5  # of each scenario that comes by a relaxed order; twice that in all
IN_ONE_FILE = ("memory", "tensor")  # layers whose unit tests are built as one
KILLED, SURVIVED, NO_BUILD = "killed", "survived", "not compiled"
UNNOTICED = "unnoticed"  # by the first suites


@dataclass(frozen=True)
class Mutation:
    layer: str
    kind: str
    old: str
    new: str


@dataclass(frozen=True)
class Verdict:
    what: str  # KILLED, SURVIVED or NO_BUILD
    by: str = ""  # suite, run and test
    run: int = 0
    seconds: int = 0


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


def relaxed_lines(mutation: Mutation, root: Path = ROOT) -> list[str]:
    """Those whose order it relaxes, as tools/orders.py names them."""
    path = places(mutation, root)[0]
    first = path.read_text()[:path.read_text().index(mutation.old)].count("\n") + 1
    old, new = mutation.old.splitlines(), mutation.new.splitlines()
    name = re.sub(r"^(include/ebb|src)/", "", path.relative_to(root).as_posix())
    return [f"{name}:{first + i}" for i, line in enumerate(old) if i >= len(new) or line != new[i]]


def shown(mutation: Mutation) -> str:
    old, new = (" ".join(text.split()) for text in (mutation.old, mutation.new))
    return f"{mutation.layer}, {mutation.kind}: {old} -> {new or 'nothing'}"


# ---- building and running -----------------------------------------------------------------------


def copy_tree() -> None:
    """Only what differs is written, so that only that is built again."""
    wanted = {path.relative_to(ROOT) for name in COPIED
              for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))
              if path.is_file() and "__pycache__" not in path.parts
              and not (path.name.endswith("_test.cpp") and is_in_one_file(path.parent))}
    made = {Path(f"tests/unit/{layer}/all_test.cpp") for layer in IN_ONE_FILE}
    for stale in [path for path in TREE.rglob("*")
                  if path.is_file() and path.relative_to(TREE) not in wanted | made]:
        stale.unlink()
    for path in wanted:
        target = TREE / path
        if target.is_file() and filecmp.cmp(ROOT / path, target, shallow=False):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    for layer in IN_ONE_FILE:
        (TREE / f"tests/unit/{layer}").mkdir(exist_ok=True)
        write_changed(TREE / f"tests/unit/{layer}/all_test.cpp",
                      in_one_file(sorted((ROOT / f"tests/unit/{layer}").glob("*_test.cpp"))))


def is_in_one_file(folder: Path) -> bool:
    return folder.relative_to(ROOT).as_posix() in [f"tests/unit/{layer}" for layer in IN_ONE_FILE]


def in_one_file(tests: list[Path]) -> str:
    """All of them, with a name for what is nameless in each."""
    return "".join(test.read_text().replace("\nnamespace {\n", f"\nnamespace in_{test.stem} {{\n")
                   for test in tests)


def write_changed(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def configure() -> None:
    TREE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD / "out", "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1",
                    "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1", "-DEBB_BUILD_EXAMPLES=OFF",
                    "-DEBB_BUILD_TOOL=OFF", "-DEBB_CPU=OFF"],
                   check=True, stdout=subprocess.DEVNULL)


def build(suite: str, jobs: int) -> bool:
    done = subprocess.run(["ninja", "-C", BUILD / "out", "-j", str(jobs), suite],
                          capture_output=True)
    return done.returncode == 0


def first_failure(output: str) -> str:
    """The test that failed, or the one that the program died in, as far as its output tells."""
    found = re.search(r"\[  FAILED  \] (\S+?),? ", output + " ")
    return found[1] if found else "ended without a word"


def notices(suite: str, seed: int, limit: float) -> str:
    """The test that fails, or how the suite crashed or hung; empty: all passed."""
    command = [BUILD / "out/tests" / suite, "--gtest_brief=1", "--gtest_fail_fast",
               f"--gtest_filter=-{TIMED}", f"--gtest_random_seed={seed}"]
    environment = {"PATH": "/usr/bin:/bin", **ENVIRONMENT}
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, env=environment,
                              errors="replace", text=True)
    except subprocess.TimeoutExpired:
        return f"hung for {limit:.0f} s"
    if done.returncode == 0:
        return ""
    ended = f"signal {-done.returncode}, " if done.returncode < 0 else ""
    return ended + first_failure(done.stdout)


class Judge:
    """Holds one mutation after another against the suites."""

    def __init__(self, jobs: int):
        self.jobs = jobs
        self.limits = {}  # of a suite; one that takes much longer than without a mutation hangs

    def complaints_without_mutation(self, suites: tuple[str, ...]) -> str:
        for suite in suites:
            if suite in self.limits:
                continue
            if not build(suite, self.jobs):
                return f"{suite} does not build without any mutation"
            start = time.monotonic()
            failure = notices(suite, 1, 600)
            if failure:
                return f"{suite} fails without any mutation: {failure}"
            self.limits[suite] = 20 + 6 * (time.monotonic() - start)
            print(f"{suite}: {time.monotonic() - start:.1f} s", flush=True)
        return ""

    def look(self, suites: tuple[str, ...], runs: range) -> Verdict:
        for run in runs:
            for suite in suites:
                if run > 1 and suite not in VARYING:
                    continue
                if run == 1 and not build(suite, self.jobs):
                    return Verdict(NO_BUILD, suite)
                test = notices(suite, run, self.limits[suite])
                if test:
                    return Verdict(KILLED, f"{suite}: {test}", run)
        return Verdict(UNNOTICED)

    def judge(self, mutation: Mutation, first: bool) -> Verdict:
        """By the first of its suites; or, where these did not notice, by all others."""
        start = time.monotonic()
        path = places(mutation, TREE)[0]
        whole = path.read_text()
        path.write_text(whole.replace(mutation.old, mutation.new))
        try:
            suites = SUITES[mutation.layer]
            if first:
                found = self.look(suites[:FIRST], range(1, 2))
            else:
                found = self.look(suites[FIRST:], range(1, 2))
                if found.what == UNNOTICED:
                    found = self.look(suites, range(2, RUNS + 1))
                if found.what == UNNOTICED:
                    found = Verdict(SURVIVED)
        finally:
            path.write_text(whole)
        return Verdict(found.what, found.by, found.run, round(time.monotonic() - start))


# ---- verdicts -----------------------------------------------------------------------------------


def read_verdicts() -> dict[Mutation, Verdict]:
    """The last of each mutation."""
    if not VERDICTS.exists():
        return {}
    lines = [json.loads(line) for line in VERDICTS.read_text().splitlines()]
    return {Mutation(**line["mutation"]): Verdict(**line["verdict"]) for line in lines}


def keep(mutation: Mutation, verdict: Verdict) -> None:
    with VERDICTS.open("a") as file:
        file.write(json.dumps({"mutation": asdict(mutation), "verdict": asdict(verdict)}) + "\n")


def forget(mutations: set[Mutation]) -> None:
    lines = VERDICTS.read_text().splitlines()
    VERDICTS.write_text("".join(line + "\n" for line in lines
                                if Mutation(**json.loads(line)["mutation"]) not in mutations))


def table(mutations: list[Mutation], verdicts: dict[Mutation, Verdict]) -> str:
    """How many of each layer, and those that survived or do not compile."""
    rows = ["| layer | mutations | killed | of these in run 1 | survived | not compiled | not judged |",
            "|---|---|---|---|---|---|---|"]
    for layer in (*SUITES, "all"):
        of = [verdicts.get(mutation) for mutation in mutations if layer in ("all", mutation.layer)]
        whats = Counter(verdict.what if verdict and verdict.what != UNNOTICED else ""
                        for verdict in of)
        first = sum(1 for verdict in of if verdict and verdict.run == 1)
        rows.append(f"| {layer} | {len(of)} | {whats[KILLED]} | {first} | {whats[SURVIVED]} "
                    f"| {whats[NO_BUILD]} | {whats['']} |")
    for number, mutation in enumerate(mutations, 1):
        verdict = verdicts.get(mutation)
        if verdict and verdict.what in (SURVIVED, NO_BUILD):
            rows.append(f"{number:4} {verdict.what}: {shown(mutation)}")
    return "\n".join(rows)


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the mutations and their verdicts")
    parser.add_argument("--table", action="store_true", help="print what is known")
    parser.add_argument("--again", choices=("survived", "unnoticed", "all"),
                        help="judge these again")
    parser.add_argument("--only", default="", help="a word of the layer, the kind or the text")
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--to", type=int, default=1 << 30, dest="last")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args(arguments)


def judge_all(numbered: list[tuple[int, Mutation]], jobs: int) -> int:
    configure()
    judge = Judge(jobs)
    fences = [each for each in numbered if each[1].kind == FENCE]
    if fences and (wrong := judge_fences(judge, fences)):
        print(wrong)
        return 1
    for first in (True, False):
        wrong = judge_some(judge, [each for each in numbered if each not in fences], first)
        if wrong:
            print(wrong)
            return 1
    return 0


def judge_fences(judge: Judge, numbered: list[tuple[int, Mutation]]) -> str:
    """All with one build. Says why it cannot be done."""
    wrong = judge.complaints_without_mutation((TELLS_ORDERS_APART,))
    if wrong:
        return wrong
    program = BUILD / "out/tests" / TELLS_ORDERS_APART
    met = orders.met(program)
    for number, mutation in numbered:
        start = time.monotonic()
        lines = [orders.line_met(line, met) for line in relaxed_lines(mutation)]
        tests = sorted({test for line in lines for test in met.get(line, [])})
        verdict = Verdict(SURVIVED)
        for run in range(1, RUNS + 1):
            test = tests and orders.notices(lines, tests, ORDER_SECONDS, program, run)
            if test:
                verdict = Verdict(KILLED, f"{TELLS_ORDERS_APART}: {test}", run)
                break
        say(number, mutation, Verdict(verdict.what, verdict.by, verdict.run,
                                      round(time.monotonic() - start)))
    return ""


def judge_some(judge: Judge, numbered: list[tuple[int, Mutation]], first: bool) -> str:
    """Against their first suites, or their others. Says why it cannot be done."""
    verdicts = read_verdicts()

    def is_due(mutation: Mutation) -> bool:
        unnoticed = mutation in verdicts and verdicts[mutation].what == UNNOTICED
        return unnoticed != first

    due = [(number, mutation) for number, mutation in numbered if is_due(mutation)]
    due.sort(key=lambda each: places(each[1], TREE)[0].suffix == ".hpp")  # they compile much again
    for number, mutation in due:
        suites = SUITES[mutation.layer]
        wrong = judge.complaints_without_mutation(suites[:FIRST] if first else suites)
        if wrong:
            return wrong
        verdict = judge.judge(mutation, first)
        say(number, mutation, verdict)
    return ""


def say(number: int, mutation: Mutation, verdict: Verdict) -> None:
    keep(mutation, verdict)
    print(f"{number:4} {verdict.what:12} {verdict.seconds:4} s  {shown(mutation)}  "
          f"[{verdict.by}]", flush=True)


def main(arguments: list[str]) -> int:
    chosen = parsed(arguments)
    mutations = load()
    wrong = complaints(mutations)
    if wrong:
        print("\n".join(wrong))
        return 1
    if chosen.again == "all":
        VERDICTS.unlink(missing_ok=True)
    verdicts = read_verdicts()
    again = {"survived": SURVIVED, "unnoticed": UNNOTICED}.get(chosen.again)
    numbered = [(number, mutation) for number, mutation in enumerate(mutations, 1)
                if chosen.first <= number <= chosen.last
                and chosen.only in f"{mutation.layer} {mutation.kind} {mutation.old}"]
    if chosen.list:
        for number, mutation in numbered:
            verdict = verdicts.get(mutation, Verdict("not judged"))
            print(f"{number:4} {verdict.what:12} {shown(mutation)}  [{verdict.by}]")
        return 0
    left = [(number, mutation) for number, mutation in numbered
            if mutation not in verdicts or verdicts[mutation].what in (UNNOTICED, again)]
    if again and not chosen.table:
        forget({mutation for _, mutation in numbered
                if mutation in verdicts and verdicts[mutation].what == again})
    if left and not chosen.table and judge_all(left, chosen.jobs) != 0:
        return 1
    verdicts = read_verdicts()
    print(table(mutations, verdicts))
    return 1 if any(verdict.what == SURVIVED for mutation, verdict in verdicts.items()
                    if mutation in mutations) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
