"""The example at the head of a public header must be in the test that runs it: comments and white space aside."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = ("tests/conformance/ops_header_examples.cpp", "tests/conformance/nn_header_examples.cpp")
EXAMPLE = re.compile(r"^//   (.*)$", re.MULTILINE)
# No code, or in need of a GPU or of what a test has at hand.
OTHERWISE = {"base/check", "base/checked", "memory/heap", "memory/governor", "memory/pacing",
             "memory/simulated_device",
             "ops/capture", "tensor/tensor"}
# Rows of the table, with what their attributes mean.
ROWS = "ops/rows"


def squeezed(code):
    code = re.sub(r"//.*", "", code)
    return re.sub(r"\s+", "", code).replace(",}", "}")


class HeaderExamples(unittest.TestCase):
    def test_each_is_run(self):
        test, found = squeezed("".join((ROOT / test).read_text(encoding="utf-8") for test in TESTS)), 0
        for header in sorted((ROOT / "include/ebb").rglob("*.hpp")):
            name = str(header.relative_to(ROOT / "include/ebb").with_suffix(""))
            head = header.read_text(encoding="utf-8").split("#pragma once")[0]
            lines = [line for line in EXAMPLE.findall(head) if line.strip() != "..."]
            if not lines or name in OTHERWISE or name.startswith(ROWS):
                continue
            found += 1
            for line in [squeezed(line) for line in lines]:
                with self.subTest(header=name, line=line):
                    self.assertIn(line, test)
        self.assertGreaterEqual(found, 8)


if __name__ == "__main__":
    unittest.main()
