#!/usr/bin/env python3
"""Formats all C and C++ files with clang-format; --check only says which are not formatted."""
import argparse
import subprocess
import sys

from source_files import ROOT, cxx_files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if need be")
    mode = ["--dry-run", "-Werror"] if parser.parse_args().check else ["-i"]
    files = cxx_files()
    names = "\0".join(str(path.relative_to(ROOT)) for path in files)
    command = ["xargs", "-0", "-r", "-P2", "-n16", "clang-format", *mode]
    status = subprocess.run(command, cwd=ROOT, input=names, text=True).returncode
    print(f"format: {len(files)} files", "looked at" if "--dry-run" in mode else "formatted")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
