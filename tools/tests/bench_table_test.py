"""The table of figures says what the benchmarks wrote."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench_table import as_markdown, as_text, processor, rows_of  # noqa: E402

FIGURE = {"figure": "pair, 256 B", "ours": 12.34567, "peer": 10.0, "ratio": 1.234567,
          "goal": "<= 1.5", "reached": True}


class BenchTableTest(unittest.TestCase):
    def test_rounds_and_says_yes_or_no(self):
        row = ["pair, 256 B", "12.35", "10", "1.235", "<= 1.5", "yes"]
        self.assertEqual(rows_of([FIGURE]), [row])
        self.assertEqual(rows_of([{**FIGURE, "reached": False}])[0][-1], "no")

    def test_markdown_has_a_row_a_figure(self):
        self.assertEqual(len(as_markdown(rows_of([FIGURE])).splitlines()), 3)

    def test_names_the_processor(self):
        self.assertEqual(processor("x\nmodel name\t: AMD EPYC\n", 2), "AMD EPYC, 2 cores")
        self.assertIn(", 1 cores", processor("", 1))

    def test_text_lines_up(self):
        header, row = as_text(rows_of([FIGURE])).splitlines()
        self.assertEqual(header.index("ours"), row.index("12.35"))


if __name__ == "__main__":
    unittest.main()
