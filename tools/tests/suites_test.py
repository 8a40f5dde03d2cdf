"""The summary of `make test` must not lose a failure."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from suites import closing_line, one, read_ctest  # noqa: E402


def gtest_json(*tests):
    return json.dumps({"testsuites": [{"testsuite": list(tests)}]})


PASSED = {"result": "COMPLETED"}
FAILED = {"result": "COMPLETED", "failures": [{"failure": "1 != 2"}]}
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


if __name__ == "__main__":
    unittest.main()
