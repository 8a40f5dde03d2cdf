"""Holding two trees' figures against each other: what is worse is said to be."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from compare_bench import quotient, table, worse  # noqa: E402


def figure(ratio=None, ours=1.0, goal="<= 1"):
    return {"ours": ours, "ratio": ratio, "goal": goal}


class CompareBenchTest(unittest.TestCase):
    def test_ratios_to_the_peer_count_before_numbers(self):
        self.assertAlmostEqual(quotient(figure(0.5, 100), figure(0.6, 80)), 1.2)
        self.assertAlmostEqual(quotient(figure(None, 100), figure(None, 80)), 0.8)

    def test_above_one_is_worse_also_where_more_is_better(self):
        self.assertAlmostEqual(quotient(figure(4.0, goal=">= 1"), figure(2.0, goal=">= 1")), 2.0)

    def test_nothing_stays_nothing(self):
        self.assertEqual(quotient(figure(0, 0), figure(0, 0)), 1.0)
        self.assertIsNone(quotient(figure(0, 0), figure(0, 3)))

    def test_the_median_decides(self):
        rows = [("a", [1], [2], [1.0, 2.0, 1.1]), ("b", [1], [1], [1.0, 1.04, 9.0])]
        self.assertEqual(worse(rows, 1.05), ["a"])
        self.assertIn("| a | 1 | 2 | 1.100 (1.00 to 2.00) |", table(rows))


if __name__ == "__main__":
    unittest.main()
