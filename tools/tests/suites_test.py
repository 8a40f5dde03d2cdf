"""The summary of `make test` must not lose a failure."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from suites import closing_line, failures, one, read_ctest, read_specs, read_surefire, read_tap, tried_again  # noqa: E402


def gtest_json(*tests):
    return json.dumps({"testsuites": [{"testsuite": list(tests)}]})


PASSED = {"result": "COMPLETED"}
FAILED = {"classname": "Trim", "name": "GivesBack", "result": "COMPLETED", "failures": [{"failure": "1 != 2"}]}
SKIPPED = {"result": "SKIPPED"}


class SuitesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, status, *tests, output=""):
        if tests:
            (self.folder / "test_model.json").write_text(gtest_json(*tests))
        junit = self.folder / "ctest.xml"
        junit.write_text(f'<testsuite><testcase name="test_model" time="2" status="{status}">'
                         f"<system-out>{output}</system-out></testcase></testsuite>")
        return read_ctest(junit, self.folder, {"test_model": "model"}, "asan")[0]

    def counts(self, *arguments):
        suite = self.read(*arguments)
        return suite.passed, suite.failed, suite.skipped

    def test_counts_tests_not_entries(self):
        self.assertEqual(self.counts("run", PASSED, PASSED, SKIPPED), (2, 0, 1))
        self.assertEqual(self.counts("fail", PASSED, FAILED), (1, 1, 0))

    def test_an_executable_that_died_is_a_failure(self):
        self.assertEqual(self.counts("fail"), (0, 1, 0))

    def test_a_leak_found_at_exit_is_a_failure(self):
        self.assertEqual(self.counts("fail", PASSED, PASSED), (2, 1, 0))

    def test_names_the_preset_and_the_label(self):
        suite = self.read("run", PASSED)
        self.assertEqual((suite.name, suite.seconds), ("asan model", 2.0))

    def test_keeps_the_notes(self):
        self.assertEqual(self.read("run", PASSED, output="x\nnote: seed 7\n").notes, ["seed 7"])

    def test_the_closing_line_adds_up(self):
        self.assertEqual(closing_line([one("a", True), one("b", False)]), "1 passed, 1 failed")

    def test_the_end_names_what_failed(self):
        self.assertEqual(failures([one("a", True)]), "")
        self.assertEqual(failures([self.read("fail", PASSED, FAILED)]), "failed:\n  asan model: Trim.GivesBack")
        self.assertEqual(failures([one("b", False)]), "failed:\n  b: see its log")

    def test_an_executable_that_died_is_named(self):
        self.assertEqual(failures([self.read("fail")]), "failed:\n  asan model: test_model")

    def test_many_failures_are_counted_instead(self):
        self.assertTrue(failures([one("b", False)] * 25).endswith("  b: see its log\n  and 5 more"))


class SurefireTest(unittest.TestCase):
    def test_counts_by_package_and_mode(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, tests, failures, errors, skipped in [
                    ("behaviour.ATest", 5, 1, 1, 1), ("behaviour.BTest", 2, 0, 0, 0),
                    ("behaviour.ATest-forced", 3, 0, 0, 0)]:
                (folder / f"TEST-dev.ebb.djl.{file}.xml").write_text(
                    f'<testsuite tests="{tests}" failures="{failures}" errors="{errors}" '
                    f'skipped="{skipped}" time="1,000.5"/>')
            found = [(suite.name, suite.passed, suite.failed, suite.skipped, suite.seconds)
                     for suite in read_surefire(folder, "jvm")]
        self.assertEqual(found, [("jvm behaviour forced", 3, 0, 0, 1000.5),
                                 ("jvm behaviour", 4, 2, 1, 2001.0)])


TAP_FAILURES = """    not ok 1 - in a
      ---
      location: '/t/a.test.mjs:3:23'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be equal:

        1 !== 2

      code: 'ERR_ASSERTION'
      stack: |-
        error: 'no'
      ...
not ok 1 - A
  ---
  location: '/t/a.test.mjs:3:1'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
not ok 2 - b
  ---
  location: '/t/b.test.mjs:4:1'
  failureType: 'testCodeFailure'
  error: "'x' is wrong"
  ...
# pass 1
# fail 2
"""


def tap(text, ok=True):
    suite = read_tap(text, "node", ok)
    return suite.passed, suite.failed, suite.skipped


class TapTest(unittest.TestCase):
    def test_counts(self):
        text = "ok 1 - a\n# tests 7\n# pass 4\n# fail 1\n# cancelled 1\n# skipped 1\n# todo 0\n"
        self.assertEqual(tap(text, False), (4, 2, 1))

    def test_names_what_failed(self):
        suite = read_tap("not ok 1 - whole file\n    not ok 2 - its test\n# pass 1\n# fail 2\n", "node", False)
        self.assertEqual(suite.broken, ["whole file", "its test"])

    def test_says_why_and_where(self):
        suite = read_tap(TAP_FAILURES, "node", False)
        self.assertEqual(suite.broken, ["in a: Expected values to be equal: 1 !== 2", "b: 'x' is wrong"])
        self.assertEqual(suite.files, ["/t/a.test.mjs", "/t/b.test.mjs"])

    def test_what_passes_alone_is_a_note_and_what_does_not_a_failure(self):
        first = read_tap(TAP_FAILURES, "node", False)
        passed = tried_again(first, read_tap("# pass 3\n", "node", True))
        self.assertEqual((passed.passed, passed.failed, passed.broken), (3, 0, []))
        self.assertEqual(passed.notes[1], "failed once, then passed alone: b: 'x' is wrong")
        failed = tried_again(first, first)
        self.assertEqual((failed.passed, failed.failed), (1, 2))
        self.assertIn("again: b: 'x' is wrong", failed.broken)
        self.assertEqual(tried_again(first, read_tap("", "node", False)).failed, 2)

    def test_a_run_that_died_or_ran_nothing_is_a_failure(self):
        self.assertEqual(tap("# pass 4\n# fail 0\n", False), (4, 1, 0))
        self.assertEqual(tap("# pass 0\n"), (0, 1, 0))
        self.assertEqual(tap(""), (0, 1, 0))


SPECS = """cpu, reclaim off: 10 specs, 8 passed, 1 failed, 1 pending (3.5 s)
cpu, reclaim on: 10 specs, 7 passed, 2 failed, 1 pending (3.5 s); 9 tensors
cpu, reclaim forced: 10 specs, 7 passed, 2 failed, 1 pending (3.5 s); 9 tensors
"""


class SpecsTest(unittest.TestCase):
    def counts(self, text, ok):
        return [(suite.name, suite.passed, suite.failed, suite.skipped)
                for suite in read_specs(text, ok)]

    def test_what_fails_without_ebb_as_well_is_skipped(self):
        self.assertEqual(self.counts(SPECS, True), [
            ("specs cpu off", 8, 0, 2), ("specs cpu on", 7, 0, 3), ("specs cpu forced", 7, 0, 3)])

    def test_what_differs_is_a_failure_of_its_run(self):
        faults = "  FAULT differs with reclaim on: a\n    why\n  differs, as it may: b\n"
        self.assertEqual(self.counts(SPECS + faults, False)[1], ("specs cpu on", 7, 1, 2))

    def test_any_other_fault_is_a_failure(self):
        self.assertEqual(self.counts("  FAULT ran on something else", False), [("specs", 0, 1, 0)])
        self.assertEqual(self.counts("", False), [("specs", 0, 1, 0)])


if __name__ == "__main__":
    unittest.main()
