#!/usr/bin/env python3
"""Writes what the operations must give, computed by NumPy and SciPy: one case a line, as JSON.

    make_expected.py FAMILY OUTPUT

A FAMILY is a module of tools/expected. tests/conformance/ops_conformance.cpp runs the cases.
"""
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from expected.case import Cases  # noqa: E402


def main():
    family, output = sys.argv[1:]
    cases = Cases()
    importlib.import_module(f"expected.{family}").add_cases(cases)
    Path(output).write_text("\n".join(cases.lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
