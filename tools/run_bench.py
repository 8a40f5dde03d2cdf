#!/usr/bin/env python3
"""Runs every benchmark of build/release/bench from the root; each writes build/bench/NAME.json."""
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "build/bench"


def run(name: str, place: str) -> bool:
    print(f"[{place}] {name}", flush=True)
    start = time.monotonic()
    status = subprocess.run([ROOT / "build/release/bench" / name], cwd=ROOT).returncode
    print(f"      {'done' if status == 0 else f'failed ({status})'} "
          f"in {time.monotonic() - start:.0f} s", flush=True)
    return status == 0


def main() -> int:
    names = sorted(path.stem for path in (ROOT / "bench").glob("*_bench.cpp"))
    FIGURES.mkdir(parents=True, exist_ok=True)
    for stale in FIGURES.glob("*.json"):
        stale.unlink()
    results = [run(name, f"{number}/{len(names)}") for number, name in enumerate(names, 1)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
