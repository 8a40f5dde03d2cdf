"""The list of mutations applies to the sources as they are, and the tool finds one that does not."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import mutants  # noqa: E402


class MutantsTest(unittest.TestCase):
    def test_each_applies_at_one_place(self):
        self.assertEqual(mutants.complaints(mutants.load()), [])

    def test_there_are_enough_of_each_layer(self):
        layers = [mutation.layer for mutation in mutants.load()]
        self.assertGreaterEqual(len(layers), 150)
        self.assertEqual(set(layers), {"memory", "tensor", "capi"})

    def test_complains_of_what_does_not_apply(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src/memory").mkdir(parents=True)
            (root / "src/memory/a.cpp").write_text("++count;\n++twice;\n")
            (root / "src/memory/b.cpp").write_text("++twice;\n")

            def complaints(*olds):
                return mutants.complaints([mutants.Mutation("memory", "dropped counter", old, ";")
                                           for old in olds], root)

            self.assertEqual(complaints("++count;"), [])
            self.assertEqual(len(complaints("++twice;")), 1)
            self.assertEqual(len(complaints("++gone;")), 1)
            self.assertEqual(len(complaints(";")), 2)
            self.assertEqual(len(complaints("++count;", "++count;")), 1)

    def test_names_the_test_that_failed(self):
        output = "note: seed 1\n[  FAILED  ] Pool.KeepsBytes, where x = 1 (2 ms)\n"
        self.assertEqual(mutants.first_failure(output), "Pool.KeepsBytes")
        self.assertEqual(mutants.first_failure("terminate called"), "ended without a word")

    def test_the_last_verdict_counts_and_others_are_still_to_be_judged(self):
        one, two, three = (mutants.Mutation("memory", "dropped counter", f"++{name};", ";")
                           for name in "abc")
        with tempfile.TemporaryDirectory() as folder:
            kept, mutants.VERDICTS = mutants.VERDICTS, Path(folder) / "verdicts.jsonl"
            try:
                self.assertEqual(mutants.read_verdicts(), {})
                mutants.keep(one, mutants.Verdict(mutants.SURVIVED))
                mutants.keep(two, mutants.Verdict(mutants.SURVIVED))
                mutants.keep(one, mutants.Verdict(mutants.KILLED, "test_capi: A.B", 2))
                verdicts = mutants.read_verdicts()
            finally:
                mutants.VERDICTS = kept
        self.assertEqual(verdicts[one].what, mutants.KILLED)
        rows = mutants.table([one, two, three], verdicts).splitlines()
        self.assertIn("| memory | 3 | 1 | 0 | 1 | 0 | 1 |", rows)
        self.assertEqual([row for row in rows if "survived:" in row],
                         ["   2 survived: memory, dropped counter: ++b; -> ;"])


if __name__ == "__main__":
    unittest.main()
