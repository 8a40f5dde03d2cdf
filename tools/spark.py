#!/usr/bin/env python3
"""Builds ebb-spark and tests, measures or shows it: tools/spark.py build|install|quick|test|soak|bench|demo|screenshot.

Spark is what PyPI's pyspark carries (tools/ensure_spark.sh); Java is JAVA_HOME's, or the one on the PATH.
"""
import argparse
import functools
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import jvm

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "hosts/spark"
SPARKS = ("3.5.7", "4.1.1")
# Two executors of one core each; the heap is 1 GB, and 384 MB beside it, as Spark reckons them.
MASTER = "local-cluster[2,1,1024]"


def build(goal: str = "package") -> None:
    """ebb-djl goes to the local repository, where ebb-spark's pom finds it."""
    jvm.build("install")
    jvm.run(*jvm.MAVEN, "-f", PROJECT / "pom.xml", "-Dmaven.test.skip=true", goal)


def only(pattern: str) -> Path:
    found = [path for path in PROJECT.glob(pattern) if "original" not in path.name]
    if len(found) != 1:
        sys.exit(f"spark: one {pattern} expected in {PROJECT}, not {len(found)}; tools/spark.py build makes it")
    return found[0]


@functools.cache
def plugin() -> Path:
    return only("plugin/target/ebb-spark-*.jar")


@functools.cache
def job() -> Path:
    return only("jobs/target/ebb-spark-jobs-*.jar")


@functools.cache
def djl() -> list[str]:
    """DJL's jars. Spark has SLF4J and Apache Commons."""
    listed = (PROJECT / "jobs/target/class-path.txt").read_text().strip().split(os.pathsep)
    return [jar for jar in listed if "slf4j" not in jar and "/commons-" not in jar]


@functools.cache
def home(version: str) -> Path:
    found = subprocess.run([ROOT / "tools/ensure_spark.sh", version], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.strip()
    return Path(found)


@dataclass
class Submission:
    """A job on a cluster of this machine's, with the plugin or without."""
    spark: str
    folder: Path  # for what it writes
    arguments: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    plugin: bool = True
    jars: list = field(default_factory=list)  # None among them: leave ebb-djl out
    master: str = MASTER

    def command(self) -> list[str]:
        jars = [jar for jar in djl() if jar not in native()]
        if self.plugin:
            jars += [str(plugin())] + ([] if None in self.jars else [str(jvm.jar())])
        settings = {"spark.driver.memory": "512m",
                    "spark.ui.showConsoleProgress": "false",
                    "spark.executor.extraClassPath": os.pathsep.join(native()),
                    "spark.executorEnv.DJL_CACHE_DIR": jvm.TARGET / "djl-cache",
                    "spark.executorEnv.DJL_OFFLINE": "true",
                    "spark.executorEnv.OMP_NUM_THREADS": "1",
                    "spark.local.dir": self.folder / "local",
                    "spark.driver.host": "127.0.0.1"}
        if self.plugin:
            settings |= {"spark.plugins": "dev.ebb.spark.EbbPlugin",
                         "spark.ebb.report.file": self.folder / "report.json",
                         "spark.ebb.report.interval": "1s"}
        settings |= self.settings
        listed = [part for name, value in settings.items() if value is not None
                  for part in ("--conf", f"{name}={value}")]
        given = {"out": self.folder / "found.json", **self.arguments}
        return [str(self.folder / "home/bin/spark-submit"), "--master", self.master,
                "--jars", ",".join(jars), *listed, "--class", "dev.ebb.spark.jobs.Inference",
                str(job()), *[f"{name}={value}" for name, value in given.items()]]

    def environment(self) -> dict[str, str]:
        java = Path(jvm.java()).resolve().parent.parent
        return {**jvm.environment(), "SPARK_HOME": str(self.folder / "home"),
                "JAVA_HOME": str(java), "SPARK_LOCAL_IP": "127.0.0.1"}

    def start(self) -> subprocess.Popen:
        # A cluster on one machine has its executors' logs below SPARK_HOME: one for each run.
        (self.folder / "home").mkdir(parents=True, exist_ok=True)
        for part in ("bin", "jars"):
            (self.folder / "home" / part).symlink_to(home(self.spark) / part)
        with (self.folder / "driver.log").open("w") as log:
            return subprocess.Popen(self.command(), cwd=self.folder, env=self.environment(),
                                    stdout=log, stderr=subprocess.STDOUT)

    def run(self, seconds: int = 300) -> "Outcome":
        started = self.start()
        try:
            code = started.wait(seconds)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
            code = -1
        return Outcome(self.folder, code)


@dataclass
class Outcome:
    folder: Path
    code: int

    def found(self) -> dict:
        return json.loads((self.folder / "found.json").read_text())

    def scores(self) -> list[float]:
        return [each["score"] for each in self.found()["partitions"]]

    def peak(self) -> int:
        """The most that any executor had resident when a task ended, in bytes."""
        return max(each["peak"] for each in self.found()["partitions"])

    def report(self) -> dict:
        return json.loads((self.folder / "report.json").read_text())

    def driver_log(self) -> str:
        return (self.folder / "driver.log").read_text(errors="replace")

    def executor_logs(self) -> str:
        return "\n".join(path.read_text(errors="replace")
                         for path in sorted(self.folder.rglob("stderr")))


def native() -> list[str]:
    return [jar for jar in djl() if "native" in jar]


def wait_for(file: Path, started: subprocess.Popen, seconds: int = 600) -> dict:
    """What a job writes, once it has written it."""
    deadline = time.monotonic() + seconds
    while not file.exists():
        if started.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"spark: the job ended without {file}; see driver.log beside it")
        time.sleep(0.1)
    return json.loads(file.read_text())


def scenarios(*names: str) -> bool:
    """JUnit's tests first, then jobs on clusters: one line each."""
    jvm.run(*jvm.MAVEN, "-f", PROJECT / "pom.xml", "package")
    done = subprocess.run([sys.executable, "-m", "unittest", "-v",
                           *[f"scenarios.{name}" for name in names]], cwd=PROJECT, check=False)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["build", "install", "quick", "test", "soak", "bench", "demo", "screenshot"])
    parser.add_argument("--built", action="store_true", help="take the jars that are there")
    chosen = parser.parse_args()
    if not chosen.built:
        build("install" if chosen.what == "install" else "package")
    if chosen.what == "quick":
        return 0 if scenarios("Quick") else 1
    if chosen.what == "test":
        return 0 if scenarios("Short") else 1
    if chosen.what == "soak":
        return 0 if scenarios("Short", "Long") else 1
    if chosen.what in ("bench", "demo", "screenshot"):
        import spark_show
        getattr(spark_show, chosen.what)()
    return 0


if __name__ == "__main__":
    sys.exit(main())
