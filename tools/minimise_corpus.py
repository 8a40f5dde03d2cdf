#!/usr/bin/env python3
"""Writes tests/fuzz/corpus: the fewest and shortest inputs that reach as much as all that are known.

Known are those of the tree and those that fuzzers have found since (`make soak` leaves them in
build/fuzz/corpus); libFuzzer's -set_cover_merge=1 chooses. As much: the same branches, not the same number of
times. The fuzzers are built first (cmake --build --preset fuzz). An input that fails stays out and
is printed: it is a defect to be mended.

    python3 tools/minimise_corpus.py                         # of all fuzzers
    python3 tools/minimise_corpus.py capi_fuzz --seconds 60  # of one, for a minute at most
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests/fuzz/corpus"
MOST_BYTES = 4096  # of an input: what needs more is a case for a test of its own
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}


def merge(program: Path, corpora: list[Path], into: Path, seconds: int) -> tuple[bool, list[str]]:
    """The fewest inputs of the corpora; and the names of those that failed."""
    done = subprocess.run(
        [program, "-set_cover_merge=1", "-use_counters=0", f"-max_len={MOST_BYTES}",
         f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", f"-artifact_prefix={into.parent}/failed-", into, *corpora],
        capture_output=True, text=True, errors="replace", env={**os.environ, **SANITIZERS})
    failed = sorted(path.name for path in into.parent.glob("failed-*"))
    return done.returncode == 0 and any(into.iterdir()), failed


def replace(kept: Path, by: Path) -> None:
    for stale in kept.glob("*"):
        stale.unlink()
    for path in sorted(by.iterdir()):
        shutil.copyfile(path, kept / path.name)


def minimise(name: str, built: Path, seconds: int) -> bool:
    kept = KEPT / name
    kept.mkdir(parents=True, exist_ok=True)
    corpora = [folder for folder in (kept, built / "corpus" / name) if folder.is_dir()]
    before = sum(1 for folder in corpora for _ in folder.iterdir())
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "merged"
        into.mkdir()
        ok, failed = merge(built / "fuzz" / name, corpora, into, seconds)
        if ok:
            replace(kept, into)
    count = sum(1 for _ in kept.iterdir())
    size = sum(path.stat().st_size for path in kept.iterdir())
    print(f"{name}: {before} inputs, {count} kept, {size:,} bytes" if ok else f"{name}: not merged")
    for each in failed:
        print(f"{name}: {each}")
    return ok and not failed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="FUZZER")
    parser.add_argument("--built", type=Path, default=ROOT / "build/fuzz",
                        help="the preset's folder")
    parser.add_argument("--seconds", type=int, default=600, help="for each, at most")
    chosen = parser.parse_args(arguments)
    names = chosen.names or sorted(path.stem for path in (ROOT / "tests/fuzz").glob("*.cpp"))
    missing = [name for name in names if not (chosen.built / "fuzz" / name).is_file()]
    if missing:
        print(f"not built: {', '.join(missing)} (cmake --build --preset fuzz)")
        return 1
    return 0 if all([minimise(name, chosen.built, chosen.seconds) for name in names]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
