#!/usr/bin/env python3
"""Holds what a page downloads of ebb-tfjs/web against its limits: check_web_size.py [core] [script]."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KB = 1000
PARTS = {
    "core": (ROOT / "build/wasm/hosts/tfjs/web/core/ebb_core.wasm", 100 * KB),
    "script": (ROOT / "hosts/tfjs/dist/web/index.mjs", 50 * KB),
}


def compressed(contents: bytes) -> int:
    """Bytes as a server sends them."""
    return len(subprocess.run(["brotli", "-q", "11", "-c"], input=contents, check=True, capture_output=True).stdout)


def main(names: list[str]) -> int:
    fits = True
    for name in names or PARTS:
        file, most = PARTS[name]
        size = compressed(file.read_bytes())
        fits = fits and size <= most
        print(f"{name}: {file.stat().st_size / KB:.0f} KB, {size / KB:.1f} KB compressed, {most // KB} KB allowed")
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
