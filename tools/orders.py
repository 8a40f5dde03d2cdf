#!/usr/bin/env python3
"""Weakens the memory orders of src/memory and src/tensor to relaxed, one at a time, and prints which
of tests/schedules notices. Nothing is built for that: the core under the scheduler asks for each
order at run time (tests/schedules/orders.hpp).

Operations for which no order is written are sequentially consistent, and stay so.

A line is named as `memory/slot_table.hpp:136`; where one asks for two orders they are weakened
together. What is not noticed, and what no schedule comes by, is argued in docs/reliability.md, which
quotes the line; otherwise this fails.

    python3 tools/orders.py                       # all, with build/dev/tests/test_schedules
    python3 tools/orders.py --only slot_table     # those with the word
    python3 tools/orders.py --seconds 9           # a scenario's exploration takes up to twice that
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/dev/tests/test_schedules"
LAYERS = ("memory", "tensor")
ARGUED, SECTION = ROOT / "docs/reliability.md", "## Orders that"
STRONG = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)")
COME_BY = "0.05"  # seconds: enough to come by every line that a scenario has


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), **more}


def met(program: Path = PROGRAM) -> dict[str, list[str]]:
    """The lines that schedules come by, each with the tests that do."""
    found = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "orders"
        subprocess.run([program, "--gtest_brief=1", "--gtest_filter=-Holds.*"], check=True,
                       stdout=subprocess.DEVNULL,
                       env=environment(EBB_ORDERS=str(listed), EBB_SCHEDULE_SECONDS=COME_BY))
        for line in listed.read_text().splitlines():
            order, test = line.split()
            if order.startswith(LAYERS):
                found[order].add(test)
    return {order: sorted(tests) for order, tests in sorted(found.items())}


def written(root: Path = ROOT) -> dict[str, str]:
    """The lines of the sources that ask for an order, with their text."""
    found = {}
    for layer in LAYERS:
        for folder in (root / "include/ebb", root / "src"):
            for path in sorted((folder / layer).rglob("*.?pp")):
                for number, text in enumerate(path.read_text().splitlines(), 1):
                    if STRONG.search(text):
                        found[f"{path.relative_to(folder)}:{number}"] = text.strip()
    return found


def notices(orders: list[str], tests: list[str], seconds: float, program: Path = PROGRAM,
            seed: int = 1) -> str:
    """The test that fails with these weakened, or how the program ended; empty: all passed."""
    command = [program, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_random_seed={seed}",
               f"--gtest_filter={':'.join(tests)}"]
    limit = 60 + 6 * seconds * len(tests)
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=limit,
                              env=environment(EBB_WEAKENED=",".join(orders),
                                              EBB_SCHEDULE_SECONDS=str(seconds)))
    except subprocess.TimeoutExpired:
        return f"hung for {limit:.0f} s"
    if done.returncode == 0:
        return ""
    failed = re.search(r"\[  FAILED  \] (\S+?),? ", done.stdout + " ")
    ended = f"signal {-done.returncode}, " if done.returncode < 0 else ""
    return ended + (failed[1] if failed else "ended without a word")


def line_met(order: str, lines: dict[str, list[str]]) -> str:
    """The line that the operation begins in, where the order is written in a later one."""
    file, number = order.rsplit(":", 1)
    above = [f"{file}:{int(number) - i}" for i in range(4)]
    return next((line for line in above if line in lines), "")


def argued(document: str) -> str:
    """The section that says why some are not noticed, its words apart by one blank each."""
    return " ".join(document.partition(SECTION)[2].partition("\n## ")[0].split())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a word of the line's name")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--program", type=Path, default=PROGRAM)
    chosen = parser.parse_args(arguments)
    lines, texts = met(chosen.program), written()
    began = {line_met(order, lines) or order: text for order, text in texts.items()}
    reasons, open_ones = argued(ARGUED.read_text()), 0
    for order, text in sorted(began.items()):
        if chosen.only not in order:
            continue
        tests = lines.get(order, [])
        by = notices([order], tests, chosen.seconds, chosen.program) if tests else ""
        known = not by and f"`{' '.join(text.split())}`" in reasons
        open_ones += not by and not known
        what = "noticed" if by else "argued" if known else "NOT NOTICED" if tests else "NOT MET"
        print(f"{what:12} {order:34} {text}  [{by or f'{len(tests)} tests'}]", flush=True)
    print(f"{open_ones} neither noticed nor argued")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
