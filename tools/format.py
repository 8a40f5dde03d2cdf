#!/usr/bin/env python3
"""Formats C and C++ with clang-format, hosts/tfjs with prettier; --check only says what is not."""
import argparse
import subprocess
import sys

from source_files import ROOT, cxx_files


def format_cxx(check: bool) -> bool:
    mode = ["--dry-run", "-Werror"] if check else ["-i"]
    files = cxx_files()
    names = "\0".join(str(path.relative_to(ROOT)) for path in files)
    command = ["xargs", "-0", "-r", "-P2", "-n16", "clang-format", *mode]
    status = subprocess.run(command, cwd=ROOT, input=names, text=True).returncode
    print(f"format: {len(files)} files", "looked at" if check else "formatted")
    return status == 0


def format_node(check: bool) -> bool:
    """With the package's own prettier; `make test` checks it again with the package's lint."""
    package = ROOT / "hosts/tfjs"
    prettier = package / "node_modules/.bin/prettier"
    if not prettier.exists():
        print("format: hosts/tfjs passed over, its prettier is not installed (make node)")
        return True
    command = [prettier, "--check" if check else "--write", "--log-level=warn", "."]
    return subprocess.run(command, cwd=package).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if need be")
    check = parser.parse_args().check
    results = [format_cxx(check), format_node(check)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
