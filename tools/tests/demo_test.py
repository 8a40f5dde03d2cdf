"""The demo's steps fit together: each needs what comes before it, and a demo alone builds no more than it needs."""
import contextlib
import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import demo  # noqa: E402


def names(steps):
    return [step.name for step in steps]


class Demo(unittest.TestCase):
    def test_a_step_needs_earlier_ones(self):
        seen = set()
        for step in demo.STEPS:
            self.assertLessEqual(set(step.needs), seen, step.name)
            seen.add(step.name)
        self.assertEqual({step.lane for step in demo.STEPS}, {"fetch", "build", "show"})

    def test_the_smallest_is_shown_first_and_waits_for_neither_npm_nor_maven(self):
        self.assertEqual(names(demo.wanted(["host"])), ["configure", "books", "host"])
        self.assertEqual(next(step for step in demo.STEPS if step.lane == "show").name, "host")

    def test_a_line_is_written_in_one_call(self):
        class Writes(io.StringIO):
            calls = []

            def write(self, text):
                self.calls += [text] if text else []
                return super().write(text)

        with contextlib.redirect_stdout(Writes()) as out:
            demo.say("npm: fetch")
        self.assertEqual(len(out.calls), 1)
        self.assertTrue(out.calls[0].endswith("npm: fetch\n"))

    def test_node_alone_builds_no_jar(self):
        self.assertNotIn("jar", names(demo.wanted(["node"])))

    def test_what_failed_is_not_built_upon(self):
        first = demo.Step("first", "build", "fails", ["false"])
        second = demo.Step("second", "build", "must not run", ["false"], ("first",))
        first.ok, second.ok = False, True
        first.done.set()
        demo.BY_NAME["first"] = first
        self.addCleanup(demo.BY_NAME.pop, "first")
        demo.run_lane([second])
        self.assertFalse(second.ok)
        self.assertTrue(second.done.is_set())


if __name__ == "__main__":
    unittest.main()
