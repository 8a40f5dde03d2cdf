#!/usr/bin/env python3
"""Prints the processor and one table of all figures in build/bench/*.json; --markdown for docs/benchmarks.md.

Each file is a list of {figure, ours, peer, ratio, goal, reached}.
"""
import argparse
import json
import os
import platform
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ["figure", "ours", "peer", "ratio", "goal", "reached"]


def cell(value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.0f}"
    return "" if value is None else str(value)


def read_figures(folder: Path) -> list[dict]:
    return [figure for path in sorted(folder.glob("*.json"))
            for figure in json.loads(path.read_text())]


def processor(cpuinfo: str, cores: int) -> str:
    """The machine that the figures are of, as far as /proc/cpuinfo tells."""
    model = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    return f"{model[1] if model else platform.machine()}, {cores} cores"


def rows_of(figures: list[dict]) -> list[list[str]]:
    return [[cell(figure.get(name)) for name in HEADER] for figure in figures]


def as_markdown(rows: list[list[str]]) -> str:
    lines = [HEADER, ["---"] * len(HEADER), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def as_text(rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(HEADER, *rows)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip()
             for row in [HEADER, *rows]]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/bench")
    options = parser.parse_args()
    figures = read_figures(options.folder)
    rows = rows_of(figures)
    cpuinfo = Path("/proc/cpuinfo")
    print(processor(cpuinfo.read_text() if cpuinfo.exists() else "", os.cpu_count() or 1) + "\n")
    if options.markdown:
        print(as_markdown(rows))
        return 0
    print(as_text(rows))
    print(f"\n{sum(bool(f.get('reached')) for f in figures)} of {len(figures)} figures reached")
    return 0


if __name__ == "__main__":
    sys.exit(main())
