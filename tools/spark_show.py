"""What tools/spark.py shows and measures: the example's job with the plugin and without, figures, a picture of the page."""
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import spark

RUNS = spark.ROOT / "build/spark"
MEGABYTE = 1 << 20
TAB = "ebb"


def submitted(name: str, arguments: dict, settings: dict | None = None, version: str = spark.SPARKS[0],
              **more) -> spark.Outcome:
    folder = RUNS / name
    shutil.rmtree(folder, ignore_errors=True)
    outcome = spark.Submission(version, folder, arguments, settings or {}, **more).run(1500)
    if outcome.code != 0:
        sys.exit(f"spark: the job failed; see {folder / 'driver.log'}")
    return outcome


def demo() -> None:
    """The same careless job twice; nothing in it knows of Ebb."""
    print("A job of 60 partitions scores rows with DJL in map(), and closes nothing: two executors, 1 GB of heap each.")
    job = {"partitions": 60}
    without = submitted("demo-without", job, plugin=False)
    show("without the plugin", without)
    with_plugin = submitted("demo-with", job, {"spark.ebb.malloc": "trim"})
    show("with ebb-spark", with_plugin)
    print("the same scores:", "yes" if without.scores() == with_plugin.scores() else "NO")
    log = with_plugin.driver_log()
    start = log.find("[ebb] device memory")
    print("\nThe driver's report:\n" + "\n".join(log[start:].splitlines()[:12]))


def show(what: str, outcome: spark.Outcome) -> None:
    print(f"{what:20} {outcome.found()['seconds'][0]:6.1f} s, most resident memory of an executor "
          f"{outcome.peak() // MEGABYTE} MB", flush=True)


def bench() -> None:
    """Careful code with the plugin against without, in turn; and what careless code has resident."""
    careful = {"partitions": 16, "care": "CAREFUL", "repeat": 12, "rows": 512}
    seconds = {True: [], False: []}
    for _ in range(2):
        for on in (False, True):
            outcome = submitted("bench-careful", careful, plugin=on)
            seconds[on] += outcome.found()["seconds"][2:]  # the first ones load and compile
    # The best runs: the machine's other work only ever adds.
    best = {on: statistics.mean(sorted(each)[:5]) for on, each in seconds.items()}
    idle = submitted("bench-idle", {"partitions": 16, "care": "CAREFUL", "rows": 8}, plugin=False)
    careless = {"partitions": 100}
    flat = submitted("bench-careless", careless, {"spark.ebb.malloc": "trim"})
    stock = submitted("bench-stock", careless, plugin=False)
    budget = max(executor["budget"] for executor in flat.report()["executors"])
    figures = {
        "careful code, plugin on to off": round(best[True] / best[False], 3),
        "careful code, s on": round(best[True], 3),
        "careful code, s off": round(best[False], 3),
        "resident with hardly any tensors, MB": idle.peak() // MEGABYTE,
        "budget, MB": budget // MEGABYTE,
        "careless, 100 partitions: most resident with the plugin, MB": flat.peak() // MEGABYTE,
        "careless, 100 partitions: most resident without, MB": stock.peak() // MEGABYTE,
        "resident to budget + 1.15 x without tensors": round(flat.peak() / (budget + 1.15 * idle.peak()), 3),
    }
    file = spark.ROOT / "build/bench/spark.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(figures, indent=1) + "\n")
    for name, value in figures.items():
        print(f"{name:64} {value}")


def screenshot(picture: Path = spark.ROOT / "docs/images/spark_device_memory.png") -> None:
    """The tab, in headless Chromium, while a job that keeps arrays is there."""
    folder = RUNS / "screenshot"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([spark.ROOT / "tools/install_deps.sh", "browser"], check=True)
    tools = spark.ROOT / "build/tools/playwright"
    tools.mkdir(parents=True, exist_ok=True)
    node = subprocess.run([spark.ROOT / "tools/ensure_node.sh"], check=True, text=True, stdout=subprocess.PIPE)
    variables = {**os.environ, "PATH": f"{node.stdout.strip()}{os.pathsep}{os.environ['PATH']}"}
    if not (tools / "node_modules/playwright-core").exists():
        subprocess.run(["npm", "install", "--prefix", tools, "--no-audit", "--no-fund", "--silent",
                        "playwright-core@1.49"], check=True, env=variables)
    arguments = {"partitions": 24, "care": "KEEPS", "kill": 9, "stay": 60}
    settings = {"spark.ebb.report.top": 6, "spark.ebb.trace": "true"}
    started = spark.Submission(spark.SPARKS[1], folder, arguments, settings).start()
    try:
        web = spark.wait_for(folder / "found.json", started)["web"]
        subprocess.run(["node", spark.PROJECT / "page.cjs", f"{web}/{TAB}/", picture, tools], check=True,
                       env=variables, timeout=120)
        print(f"spark: {picture.relative_to(spark.ROOT)}")
    finally:
        started.kill()
