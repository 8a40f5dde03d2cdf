"""Lines that ask for a memory order are found, where the operation begins and where they are argued."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mutants  # noqa: E402
import orders  # noqa: E402


class OrdersTest(unittest.TestCase):
    def test_finds_what_the_sources_ask_for(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src/memory").mkdir(parents=True)
            (root / "src/memory/a.hpp").write_text(
                "a.load(std::memory_order_relaxed);\n  b.load(std::memory_order_acquire);\n")
            self.assertEqual(orders.written(root),
                             {"memory/a.hpp:2": "b.load(std::memory_order_acquire);"})
        self.assertGreater(len(orders.written()), 40)

    def test_an_order_may_be_written_below_its_operation(self):
        met = {"memory/a.hpp:7": []}
        self.assertEqual(orders.line_met("memory/a.hpp:8", met), "memory/a.hpp:7")
        self.assertEqual(orders.line_met("memory/a.hpp:6", met), "")
        self.assertEqual(orders.line_met("memory/b.hpp:7", met), "")

    def test_only_its_section_argues(self):
        document = "`a`\n## Orders that change nothing\n| `b  c` |\n## Next\n`d`\n"
        self.assertEqual(orders.argued(document), "change nothing | `b c` |")

    def test_each_relaxed_order_of_the_mutations_is_a_line_that_asks_for_one(self):
        written = orders.written()
        for mutation in mutants.load():
            if mutation.kind == mutants.FENCE:
                for line in mutants.relaxed_lines(mutation):
                    self.assertIn(line, written, mutation)


if __name__ == "__main__":
    unittest.main()
