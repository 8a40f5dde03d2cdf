#!/usr/bin/env python3
"""Runs the commands of docs/adding-an-op.md for the operation that it adds.

    run_worked_example.py EBB_PRINT_OPS TEST_CONFORMANCE

The printed functions must be the header's, white space and comments aside; the filter must find a test, and it must pass.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = (ROOT / "docs/adding-an-op.md").read_text(encoding="utf-8")


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", re.sub(r"//[^\n]*", "", text))


def check_functions(printer: str) -> str:
    family, header = re.search(r"`ebb_print_ops --cpp (\w+) > ([\w/.]+)`", DOCUMENT).groups()
    printed = subprocess.run([printer, "--cpp", family], check=True, capture_output=True, text=True)
    if squeezed(printed.stdout) != squeezed((ROOT / header).read_text(encoding="utf-8")):
        return f"{header} is not what ebb_print_ops --cpp {family} prints"
    return ""


def check_cases(program: str) -> str:
    wanted = re.search(r"test_conformance (--gtest_filter='([^']+)')", DOCUMENT).group(2)
    done = subprocess.run([program, f"--gtest_filter={wanted}"], capture_output=True, text=True)
    ran = re.search(r"\[==========\] (\d+) tests? from .* ran", done.stdout)
    if done.returncode != 0 or ran is None or int(ran.group(1)) == 0:
        return f"{wanted} did not run and pass:\n{done.stdout}{done.stderr}"
    return ""


def main() -> int:
    complaints = [check_functions(sys.argv[1]), check_cases(sys.argv[2])]
    for each in filter(None, complaints):
        print(each)
    return 1 if any(complaints) else 0


if __name__ == "__main__":
    sys.exit(main())
