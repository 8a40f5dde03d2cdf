"""The files that docs/tour.md leads through are there, and each way has its steps in order."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STEP = re.compile(r"^\| (\d+) \| `([^`]+)` \| \S", re.MULTILINE)
NAMED = re.compile(r"`((?:src|include|hosts|examples|tools|cmake)/[\w/.-]+)`")


class Tour(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "docs/tour.md").read_text(encoding="utf-8")

    def test_files_are_there(self):
        named = NAMED.findall(self.text)
        self.assertGreater(len(named), 25)
        for path in named:
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).is_file())

    def test_ways_are_numbered(self):
        ways = re.split(r"^\| \| file \|.*$", self.text, flags=re.MULTILINE)[1:]
        self.assertEqual(len(ways), 6)  # the first way has two: Node and the JVM
        for way in ways:
            numbers = [int(number) for number, _ in STEP.findall(way)]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
            self.assertGreater(len(numbers), 5)


if __name__ == "__main__":
    unittest.main()
