#!/usr/bin/env python3
"""memray beside Ebb's recording: what its default mode costs a Python loop of small numpy adds; build/bench/memray.json.

Fetches memray and numpy from PyPI into build/tools/memray. The same loop runs bare and under memray's tracker, turn by
turn in processes of their own; each says how long its loop took, so that starting does not count.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "build/tools/memray"
RESULTS = ROOT / "build/bench"
PAIRS = int(os.environ.get("EBB_BENCH_PROCESSES", "5"))
LOOP = """
import sys, time
import numpy
x = numpy.ones(SIZE, dtype=numpy.float32)
def loop(rounds):
    for _ in range(rounds):
        y = x + x
loop(10000)
def timed():
    begin = time.process_time()
    loop(ROUNDS)
    return (time.process_time() - begin) / ROUNDS * 1e6
if len(sys.argv) > 1:
    import memray
    with memray.Tracker(sys.argv[1]):
        print(timed())
else:
    print(timed())
"""
# Eight numbers come from numpy's own cache of small blocks, which memray does not see; 1,000 do not.
SIZES = {8: 300000, 1000: 200000}


def python() -> Path:
    found = PLACE / "bin/python"
    if not (PLACE / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE], check=True)
        subprocess.run([found, "-m", "pip", "install", "--quiet", "memray", "numpy"], check=True)
        (PLACE / ".ready").touch()
    return found


def microseconds(interpreter: Path, size: int, rounds: int, recording: list[str]) -> float:
    code = LOOP.replace("SIZE", str(size)).replace("ROUNDS", str(rounds))
    done = subprocess.run([interpreter, "-c", code, *recording], check=True, capture_output=True, text=True)
    return float(done.stdout)


def compare(interpreter: Path, size: int, rounds: int) -> dict:
    pairs = []
    for i in range(PAIRS):
        with tempfile.TemporaryDirectory() as folder:
            traced = microseconds(interpreter, size, rounds, [f"{folder}/{i}.bin"])
        pairs.append((traced, microseconds(interpreter, size, rounds, [])))
    ratios = sorted(traced / bare for traced, bare in pairs)
    ours, peer = (statistics.median(column) for column in zip(*pairs))
    return {"figure": f"memray, default mode: numpy add of {size}, traced / bare (us)", "ours": round(ours, 4),
            "peer": round(peer, 4), "ratio": round(statistics.median(ratios), 3), "goal": "stated", "reached": True,
            "spread": [round(ratios[0], 3), round(ratios[-1], 3)]}


def main() -> int:
    interpreter = python()
    rows = [compare(interpreter, size, rounds) for size, rounds in SIZES.items()]
    for row in rows:
        print(f"{row['figure']}: {row['ours']} against {row['peer']}, ratio {row['ratio']} {row['spread']}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "memray.json").write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
