#!/usr/bin/env python3
"""Runs every benchmark of build/release/bench, bench, tests/page, hosts/tfjs/{bench,web/bench} and hosts/djl from the root.

Each writes build/bench/NAME.json.
"""
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "build/bench"


def programs() -> dict[str, list]:
    compiled = sorted(path.stem for path in (ROOT / "bench").glob("*_bench.cpp"))
    node = sorted((ROOT / "hosts/tfjs/bench").glob("*.mjs"))
    return ({name: [ROOT / "build/release/bench" / name] for name in compiled}
            | {f"node {path.stem}": ["node", path] for path in node}
            | {"page": ["sh", "-c", "npm --prefix tests/page ci --silent && "
                        "EBB_TOOL=build/release/bin/ebb EBB_MAKE_RECORDING=build/release/bench/make_recording "
                        "node tests/page/open_bench.mjs"]}
            | {"memray": [sys.executable, ROOT / "bench/memray_loop.py"]}
            | {"web": ["node", ROOT / "hosts/tfjs/web/bench/run.mjs"]}
            | {"jvm": [sys.executable, ROOT / "tools/jvm.py", "bench"]})


def run(name: str, command: list, place: str) -> bool:
    print(f"[{place}] {name}", flush=True)
    start = time.monotonic()
    status = subprocess.run(command, cwd=ROOT).returncode
    print(f"      {'done' if status == 0 else f'failed ({status})'} "
          f"in {time.monotonic() - start:.0f} s", flush=True)
    return status == 0


def main() -> int:
    commands = programs()
    FIGURES.mkdir(parents=True, exist_ok=True)
    for stale in FIGURES.glob("*.json"):
        stale.unlink()
    results = [run(name, command, f"{number}/{len(commands)}")
               for number, (name, command) in enumerate(commands.items(), 1)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
