"""What ebb-spark promises, on a cluster of two executors: `tools/spark.py quick` runs class Quick, `test` Short, `soak` Short and
Long.

The same job runs with the plugin and without; executors are killed, tasks repeated, copied and stopped.
"""
import re
import shutil
import sys
import time
import unittest
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import spark  # noqa: E402

OLD, NEW = spark.SPARKS
RUNS = spark.ROOT / "build/spark"
ARRAYS_A_BATCH = 7  # that Classifier makes; two more when an executor builds its network
BATCHES = 20
CLOSED_A_BATCH = 2  # by DJL itself: numbers that it reads
MEGABYTE = 1 << 20


def submit(name: str, version: str, arguments: dict, settings: dict | None = None, seconds: int = 600,
           **more) -> spark.Outcome:
    folder = RUNS / name
    shutil.rmtree(folder, ignore_errors=True)
    return spark.Submission(version, folder, {"batches": BATCHES, **arguments}, settings or {},
                            **more).run(seconds)


class Scenario(unittest.TestCase):
    longMessage = True

    def assert_ended(self, outcome: spark.Outcome) -> None:
        self.assertEqual(outcome.code, 0, outcome.driver_log()[-3000:])

    def assert_counted_once(self, outcome: spark.Outcome, partitions: int, kept: int = 0) -> None:
        """Each partition counts once, and once for each executor the network that it holds."""
        stages = outcome.report()["stages"].values()
        made = sum(row[0] for row in stages) - partitions * (BATCHES * ARRAYS_A_BATCH + kept)
        executors = len(outcome.report()["executors"])
        self.assertIn(made, range(0, 2 * executors + 1, 2), outcome.report()["stages"])

    def assert_within_budget(self, outcome: spark.Outcome) -> None:
        for executor in outcome.report()["executors"]:
            memory = executor["memory"]
            if memory:
                self.assertLessEqual(memory["peakLiveBytes"], executor["budget"], executor)

    def assert_books_balance(self, outcome: spark.Outcome) -> None:
        for executor in outcome.report()["executors"]:
            books = executor["memory"]
            if books:
                ends = ("live", "disposed", "regionEnded", "reclaimed", "shutdown")
                self.assertEqual(books["created"], sum(books[end] for end in ends), books)
                self.assertEqual(books["createdBytes"], sum(books[f"{end}Bytes"] for end in ends), books)


class Quick(Scenario):
    """Half a minute, for `make test`."""

    def test_a_small_job_gives_back_what_it_drops_and_an_executor_is_lost(self):
        stock = submit("quick-stock", OLD, {"partitions": 6}, plugin=False)
        outcome = submit("quick", OLD, {"partitions": 6, "kill": 3})
        self.assert_ended(outcome)
        self.assertEqual(outcome.scores(), stock.scores())
        self.assert_counted_once(outcome, 6)
        self.assert_within_budget(outcome)
        self.assert_books_balance(outcome)
        self.assertTrue(any(executor["lost"] for executor in outcome.report()["executors"]))
        self.assertGreater(sum(executor["memory"].get("reclaimed", 0) for executor in outcome.report()["executors"]), 0)


class Short(Scenario):
    """A minute or two."""

    @classmethod
    def setUpClass(cls):
        cls.stock = submit("stock", OLD, {"partitions": 12}, plugin=False)

    def test_spark_3_an_executor_is_lost_and_a_task_keeps_arrays(self):
        outcome = submit("lost-3", OLD, {"partitions": 12, "care": "KEEPS", "kill": 5},
                         {"spark.ebb.trace": "true"})
        self.assert_ended(outcome)
        self.assertEqual(outcome.scores(), self.stock.scores())
        self.assert_counted_once(outcome, 12, kept=1)
        self.assert_within_budget(outcome)
        self.assert_books_balance(outcome)
        report = outcome.report()
        self.assertTrue(any(executor["lost"] for executor in report["executors"]), report["executors"])
        self.assertGreater(sum(executor["memory"].get("reclaimed", 0) for executor in report["executors"]), 0)
        self.assertGreaterEqual(report["kept_tasks"], 2)
        self.assertRegex(outcome.executor_logs(), r"\[ebb\] task \d+\.\d in stage \d+\.\d \(TID \d+\) has ended, "
                         r"and something still reaches(.*\n)+?.*Classifier.keep \(Classifier.java")
        self.assertRegex(outcome.executor_logs(), r"WARN.*\[ebb\] task", "the second task that keeps is a warning")
        self.assertRegex(outcome.driver_log(), r"\[ebb\] device memory of DJL arrays: \d+ made")
        sites = [site["text"] for site in report["sites"]]
        self.assertTrue(any("Classifier.forward" in site for site in sites), sites)
        self.assertFalse(any("org.apache.spark" in site for site in sites), sites)

    def test_spark_4_with_the_users_classes_first_and_a_page(self):
        folder = RUNS / "first-4"
        shutil.rmtree(folder, ignore_errors=True)
        first = {"spark.executor.userClassPathFirst": "true", "spark.driver.userClassPathFirst": "true"}
        arguments = {"partitions": 12, "batches": BATCHES, "kill": 3, "stay": 4}
        started = spark.Submission(NEW, folder, arguments, first).start()
        try:
            page = self.page(folder, started)
            outcome = spark.Outcome(folder, started.wait(300))
        finally:
            started.kill()
        self.assert_ended(outcome)
        self.assertEqual(outcome.scores(), self.stock.scores())
        self.assert_counted_once(outcome, 12)
        self.assert_within_budget(outcome)
        self.assertIn("Device memory", page)
        self.assertRegex(page, r'id="ebb-executors"(.|\n)*<td>0</td>')
        self.assertRegex(page, r'id="ebb-stages"(.|\n)*<td>0</td>')
        self.assertIn(">lost</td>", page)
        self.assertNotIn("runs without Ebb", outcome.driver_log())

    def page(self, folder: Path, started) -> str:
        """The tab, once the job has found what it was to find."""
        found = spark.wait_for(folder / "found.json", started)
        time.sleep(1.5)  # a report of each executor's
        with urllib.request.urlopen(f"{found['web']}/ebb/", timeout=20) as answer:
            return answer.read().decode()

    def test_without_the_agents_jar_the_driver_says_what_is_missing(self):
        outcome = submit("no-agent", OLD, {"partitions": 1}, jars=[None], seconds=240)
        self.assertNotEqual(outcome.code, 0)
        self.assertRegex(outcome.driver_log(), r"ebb-djl, the agent, is not here: add its jar to spark\.jars")

    def test_a_wrong_setting_stops_the_driver(self):
        outcome = submit("wrong", OLD, {"partitions": 1}, {"spark.ebb.budgets": "1g"}, seconds=240)
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("spark.ebb.budgets=1g: no such setting", outcome.driver_log())


class Long(Scenario):
    """Each of Spark's ways to run a task more than once, and 500 partitions."""

    def test_a_copy_of_a_slow_task_is_killed_and_counts_once(self):
        for version in spark.SPARKS:
            with self.subTest(version):
                outcome = submit(f"copies-{version}", version, {"partitions": 10, "slow": 2},
                                 {"spark.speculation": "true", "spark.speculation.quantile": "0.5",
                                  "spark.speculation.interval": "100ms"})
                self.assert_ended(outcome)
                self.assert_counted_once(outcome, 10)
                self.assertLess(outcome.found()["seconds"][0], 60, "the copy was faster")

    def test_map_tasks_repeated_for_a_shuffle_count_once(self):
        for version in spark.SPARKS:
            with self.subTest(version):
                outcome = submit(f"shuffle-{version}", version, {"partitions": 12, "kill": 9, "shuffle": "true"})
                self.assert_ended(outcome)
                self.assert_counted_once(outcome, 12)

    def test_careful_code_leaves_nothing_and_leaks_can_fail_a_task(self):
        careful = submit("careful", NEW, {"partitions": 4, "care": "CAREFUL"})
        self.assert_ended(careful)
        failing = submit("failing", NEW, {"partitions": 4}, {"spark.ebb.leaks": "fail"})
        self.assertNotEqual(failing.code, 0)
        self.assertRegex(failing.driver_log(), r"did not close \d+ of the \d+ arrays")

    def test_the_agent_from_the_command_line(self):
        outcome = submit("javaagent", OLD, {"partitions": 4},
                         {"spark.executor.extraJavaOptions": f"-javaagent:{spark.jvm.jar()}"}, jars=[None])
        self.assert_ended(outcome)
        self.assert_counted_once(outcome, 4)

    def test_one_process_for_driver_and_executor(self):
        for version in spark.SPARKS:
            with self.subTest(version):
                outcome = submit(f"local-{version}", version, {"partitions": 6},
                                 {"spark.driver.extraClassPath": ":".join(spark.native())}, master="local[2]")
                self.assert_ended(outcome)
                self.assert_counted_once(outcome, 6)

    def test_the_page_in_a_browser(self):
        """The tab is active, its tables are filled, no script of Spark's fails on it."""
        import spark_show
        picture = RUNS / "page.png"
        picture.unlink(missing_ok=True)
        spark_show.screenshot(picture)
        self.assertGreater(picture.stat().st_size, 10_000)

    def test_500_partitions_stay_flat(self):
        for version in spark.SPARKS:
            with self.subTest(version):
                outcome = submit(f"flat-{version}", version, {"partitions": 500, "kill": 250},
                                 {"spark.ebb.malloc": "trim"}, seconds=3000)
                self.assert_ended(outcome)
                self.assert_counted_once(outcome, 500)
                self.assert_within_budget(outcome)
                residents = [each["resident"] for each in outcome.found()["partitions"]]
                early, late = max(residents[50:100]), max(residents[-50:])
                self.assertLess(late, 1.15 * early + 32 * MEGABYTE)
                peak = outcome.peak()
                print(f"Spark {version}: 500 partitions, most resident {peak // MEGABYTE} MB", flush=True)


if __name__ == "__main__":
    unittest.main()
