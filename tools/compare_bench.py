#!/usr/bin/env python3
"""Holds the figures of this tree against those of another one, in one run: tools/compare_bench.py BEFORE [--only NAME ...]

BEFORE is a checkout of an earlier commit, built as `make bench` builds (release with EBB_BUILD_BENCH, Node, JVM). Each
program runs in turn there and here, ROUNDS times, so that a noisy machine troubles both alike. A row is the median of the
rounds' quotients: of the ratios to the peer where the figure has a peer, else of its own numbers. Prints Markdown; 1.00 is
as before. Exit status 1 if a figure that both trees have is worse by more than --allow.
"""
import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOSTS = ("hosts/tfjs", "hosts/node")  # what Node's package is called, now and before


def programs(tree: Path) -> dict[str, list]:
    compiled = sorted((tree / "build/release/bench").glob("*_bench"))
    node = [path for host in HOSTS for path in sorted((tree / host / "bench").glob("*.mjs"))]
    return ({path.name: [path] for path in compiled} | {f"node {path.stem}": ["node", path] for path in node}
            | {"jvm": [sys.executable, tree / "tools/jvm.py", "bench"]})


def figures_of(tree: Path, command: list) -> dict[str, dict]:
    """By name, what one run of a program wrote; empty if it failed."""
    folder = tree / "build/bench"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.json"):
        stale.unlink()
    done = subprocess.run([str(word) for word in command], cwd=tree, stdout=subprocess.DEVNULL)
    if done.returncode != 0:
        print(f"failed ({done.returncode}): {command[-1]}", file=sys.stderr)
    return {figure["figure"]: figure for path in folder.glob("*.json") for figure in json.loads(path.read_text())}


def worth(figure: dict) -> float:
    """What counts of a figure: its ratio to the peer of the same run, or its number."""
    value = figure.get("ratio")
    return float(value if value not in (None, 0) else figure["ours"])


def quotient(before: dict, after: dict) -> float | None:
    """Above 1 is worse, whatever the goal wants of the figure."""
    then, now = worth(before), worth(after)
    if then == 0 or now == 0:
        return 1.0 if then == now else None
    more_is_better = str(after.get("goal", "")).strip().startswith(">=")
    return then / now if more_is_better else now / then


def compare(name: str, before: Path, command_before: list, command_after: list, rounds: int) -> list[tuple]:
    """(figure, before, after, quotients) of what both have."""
    rows: dict[str, tuple] = {}
    for number in range(rounds):
        print(f"{name}: round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        old, new = figures_of(before, command_before), figures_of(ROOT, command_after)
        for figure in (figure for figure in new if figure in old):
            _, then, now, quotients = rows.setdefault(figure, (figure, [], [], []))
            then.append(worth(old[figure]))
            now.append(worth(new[figure]))
            quotients.append(quotient(old[figure], new[figure]))
    return list(rows.values())


def table(rows: list[tuple]) -> str:
    lines = ["| figure | before | now | now / before, by cost |", "| --- | --- | --- | --- |"]
    for figure, then, now, quotients in rows:
        known = [value for value in quotients if value is not None]
        spread = f" ({min(known):.2f} to {max(known):.2f})" if len(known) > 1 else ""
        middle = f"{statistics.median(known):.3f}{spread}" if known else "not comparable"
        lines.append(f"| {figure} | {statistics.median(then):.4g} | {statistics.median(now):.4g} | {middle} |")
    return "\n".join(lines)


def worse(rows: list[tuple], allow: float) -> list[str]:
    return [figure for figure, _, _, quotients in rows
            if (known := [value for value in quotients if value is not None]) and statistics.median(known) > allow]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of programs: books_bench, node run, jvm")
    parser.add_argument("--given", action="append", default=[], metavar="WORD",
                        help="what the programs are given, to take a part of their figures: --given smallAdd, --given=--part=add")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--allow", type=float, default=1.05, help="a quotient above this is worse (1.05)")
    options = parser.parse_args()
    old, new = programs(options.before.resolve()), programs(ROOT)
    names = [name for name in new if name in old and (not options.only or name in options.only)]
    if not names:
        parser.error(f"nothing to compare; programs of both: {', '.join(name for name in new if name in old) or 'none'}")
    rows = [row for name in names
            for row in compare(name, options.before.resolve(), old[name] + options.given, new[name] + options.given, options.rounds)]
    print(table(rows))
    slower = worse(rows, options.allow)
    print(f"\n{len(rows)} figures, {len(slower)} worse by more than {options.allow:.2f}")
    return 1 if slower or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
