#!/usr/bin/env python3
"""`make test`: runs every stage of STAGES, whatever fails before it, and sums up.

To add a stage, write a function that returns a list of Suite and give it a line in STAGES.
"""
import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from suites import (Suite, closing_line, failures, one, read_ctest, read_specs, read_surefire, read_tap, tried_again,
                    summary)

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
EVERYTHING = "unit|model|fault|conformance|governor|capi|threads|process|cuda|cli|examples"  # labels of tests/CMakeLists.txt
RANDOMISED = "model|fault|threads|governor|conformance"
RACED = "unit|threads|cuda|examples"
# What `make test` compiles of these presets; `make soak` compiles all.
SUITES_BUILT = {"asan": EVERYTHING, "tsan": RACED}
UNIT_TESTS = "tests/unit/*/*_test.cpp"
COVERED = ("memory", "tensor")
COVERAGE_GOAL = 90.0
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}


@dataclass
class Options:
    jobs: int = 2
    fuzz_seconds: int = 30
    soak_minutes: int = 0
    soak_seconds: int = 0  # of each of the stages in C++, which share the minutes


OPTIONS = Options()


@dataclass(frozen=True)
class Stage:
    name: str
    covers: str  # what the progress line says
    run: Callable[[], list[Suite]]
    needs: str = ""  # a glob; without a match the stage is passed over, and says so


# ---- commands -----------------------------------------------------------------------------------


def say(text: str) -> None:
    print(f"      {text}", flush=True)


def command(log: str, *arguments, env: dict[str, str] | None = None) -> bool:
    """Runs a command with its output in build/logs/<log>.log; shows the end of it on failure."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{log}.log"
    with path.open("w") as output:
        done = subprocess.run([str(argument) for argument in arguments], cwd=ROOT, stdout=output,
                              stderr=subprocess.STDOUT, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        say(f"failed ({done.returncode}): {' '.join(map(str, arguments))}")
        print("\n".join(path.read_text(errors="replace").splitlines()[-80:]), flush=True)
    return done.returncode == 0


def check(name: str, *arguments, env: dict[str, str] | None = None) -> Suite:
    """A command that passes or fails as one."""
    start = time.monotonic()
    ok = command(name.replace(" ", "-"), *arguments, env=env)
    return one(name, ok, time.monotonic() - start)


def suites_built(preset: str) -> list[str]:
    if preset not in SUITES_BUILT:
        return []
    suites = "" if OPTIONS.soak_minutes else SUITES_BUILT[preset].replace("|", ";")
    return [f"-DEBB_TEST_SUITES={suites}"]


@functools.cache
def build(preset: str) -> bool:
    start = time.monotonic()
    ok = (command(f"{preset}-configure", "cmake", "--preset", preset, *suites_built(preset))
          and command(f"{preset}-build", "cmake", "--build", "--preset", preset, "-j",
                      OPTIONS.jobs))
    if ok:
        say(f"{preset} built in {time.monotonic() - start:.0f} s")
    return ok


# ---- ctest --------------------------------------------------------------------------------------


def labels_of(preset: str) -> dict[str, str]:
    arguments = ["ctest", "--test-dir", str(BUILD / preset), "--show-only=json-v1"]
    listed = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    return {test["name"]: value[0]
            for test in json.loads(listed)["tests"]
            for value in [prop["value"] for prop in test["properties"] if prop["name"] == "LABELS"]}


@functools.cache
def without_address_randomisation() -> tuple[str, ...]:
    """TSan of gcc 12 cannot map its shadow where the kernel randomises more than it expects."""
    prefix = ("setarch", "-R")
    able = shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True)
    return prefix if able and able.returncode == 0 else ()


def run_ctest(preset: str, wanted: str, env: dict[str, str] | None = None) -> list[Suite]:
    """Runs the entries whose label matches `wanted`, and counts their tests."""
    results = BUILD / preset / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    junit = results / "ctest.xml"
    prefix = without_address_randomisation() if preset == "tsan" else ()
    ok = command(f"{preset}-test", *prefix, "ctest", "--test-dir", BUILD / preset, "-j",
                 OPTIONS.jobs, "-L", f"^({wanted})$", "--output-on-failure", "--no-tests=error",
                 "--test-output-size-passed", 1 << 20, "--output-junit", junit,
                 env={**SANITIZER_OPTIONS, **(env or {})})
    suites = read_ctest(junit, results, labels_of(preset), preset) if junit.exists() else []
    if not ok and not any(suite.failed for suite in suites):
        suites.append(one(f"{preset} ctest", False))
    return suites


def preset_stage(preset: str, wanted: str, first: Callable[[], list[Suite]] = list) -> list[Suite]:
    if not build(preset):
        return [one(f"{preset} build", False)]
    return first() + run_ctest(preset, wanted)


# ---- stages -------------------------------------------------------------------------------------


def layers_stage() -> list[Suite]:
    return [check("layers", sys.executable, "tools/check_layers.py"),
            check("arithmetic", sys.executable, "tools/check_arithmetic.py"),
            check("tree", sys.executable, "tools/check_tree.py"), tools_suite()]


def tools_suite() -> Suite:
    start = time.monotonic()
    tests = unittest.defaultTestLoader.discover(str(ROOT / "tools/tests"), "*_test.py")
    LOGS.mkdir(parents=True, exist_ok=True)
    with (LOGS / "tools.log").open("w") as output:
        result = unittest.TextTestRunner(stream=output).run(tests)
    broken = result.failures + result.errors
    for test, trace in broken:
        say(f"failed: {test}\n{trace}")
    passed = result.testsRun - len(broken) - len(result.skipped)
    return Suite("tools", passed, len(broken), len(result.skipped), time.monotonic() - start,
                 broken=[str(test) for test, _ in broken])


def format_stage() -> list[Suite]:
    return [check("format", sys.executable, "tools/format.py", "--check")]


def headers_suite() -> list[Suite]:
    """Each public header compiles on its own."""
    return [check("headers", "cmake", "--build", "--preset", "dev", "-j", OPTIONS.jobs, "--target",
                  "all_verify_interface_header_sets")]


def abi_stage() -> list[Suite]:
    """Hosts that were built against the last release run with this library."""
    if not (command("abi-configure", "cmake", "--preset", "dev")
            and command("abi-build", "cmake", "--build", "--preset", "dev", "--target", "ebb_abi",
                        "-j", OPTIONS.jobs)):
        return [one("abi build", False)]
    return [check("abi", sys.executable, "tools/check_abi.py")]


def fuzz_stage() -> list[Suite]:
    if not build("fuzz"):
        return [one("fuzz build", False)]
    names = sorted(path.stem for path in (ROOT / "tests/fuzz").glob("*.cpp"))
    with ThreadPoolExecutor(OPTIONS.jobs) as pool:
        return list(pool.map(fuzz, names))


FROM_STRANGERS = {"recording_fuzz"}  # files that people are sent: all of the minutes of a soak


def fuzz(name: str) -> Suite:
    """New inputs go to build/fuzz/corpus; the corpus in the tree is only read."""
    start = time.monotonic()
    seconds = OPTIONS.soak_minutes * 60 if OPTIONS.soak_minutes and name in FROM_STRANGERS else OPTIONS.fuzz_seconds
    found, kept = BUILD / "fuzz/corpus" / name, ROOT / "tests/fuzz/corpus" / name
    found.mkdir(parents=True, exist_ok=True)
    corpora = [found, kept] if kept.is_dir() else [found]
    ok = command(f"fuzz-{name}", BUILD / "fuzz/fuzz" / name,
                 f"-max_total_time={seconds}",
                 "-timeout=20", "-rss_limit_mb=4096", f"-artifact_prefix={BUILD}/fuzz/{name}-",
                 "-print_final_stats=1", *corpora, env=SANITIZER_OPTIONS)
    suite = one(f"fuzz {name}", ok, time.monotonic() - start)
    log = (LOGS / f"fuzz-{name}.log").read_text(errors="replace")
    runs = re.search(r"number_of_executed_units:\s*(\d+)", log)
    suite.notes = [f"{name}: {runs[1]} inputs"] if runs else []
    return suite


def coverage_stage() -> list[Suite]:
    start = time.monotonic()
    if not build("coverage"):
        return [one("coverage build", False)]
    for stale in (BUILD / "coverage").rglob("*.gcda"):
        stale.unlink()
    # Lines, not calls: what a million random calls reach, fifty thousand reach too.
    tests = run_ctest("coverage", EVERYTHING, {"EBB_MODEL_CALLS": "50000"})
    if any(suite.failed for suite in tests):
        return [one("coverage", False, time.monotonic() - start)]
    return [one("coverage", gcovr(), time.monotonic() - start)]


def gcovr() -> bool:
    """Prints the lines covered, by file, and holds their share against the goal."""
    folders = [f"{top}/{layer}/" for layer in COVERED for top in ("src", "include/ebb")]
    filters = [f"--filter={folder}" for folder in folders]
    report = BUILD / "coverage/summary.json"
    if not command("gcovr", "gcovr", "-j", OPTIONS.jobs, "--root", ROOT, *filters,
                   "--exclude-unreachable-branches", "--print-summary", "--txt",
                   BUILD / "coverage/report.txt", "--json-summary", report, BUILD / "coverage"):
        return False
    covered = json.loads(report.read_text())
    for file in covered["files"]:
        say(f"{file['line_percent'] or 0:5.1f}%  {file['filename']}")
    percent = covered["line_percent"] or 0.0
    say(f"{percent:5.1f}%  of {covered['line_total']} lines; goal {COVERAGE_GOAL:.0f}%")
    return percent >= COVERAGE_GOAL


def install_stage() -> list[Suite]:
    """A program outside the tree finds, links and runs against an installed Ebb."""
    start = time.monotonic()
    prefix, consumer = BUILD / "install/prefix", BUILD / "install/consumer"
    shutil.rmtree(BUILD / "install", ignore_errors=True)
    ok = (build("dev")
          and command("install", "cmake", "--install", BUILD / "dev", "--prefix", prefix)
          and command("install-configure", "cmake", "-S", ROOT / "tests/install", "-B", consumer,
                      "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
          and command("install-build", "cmake", "--build", consumer)
          and command("install-run", consumer / "consumer"))
    flags = f"$(PKG_CONFIG_PATH={prefix}/lib/pkgconfig pkg-config --cflags --libs ebb)"
    by_pkg_config = ok and (
        command("install-pkg-config", "sh", "-c", f"g++ tests/install/main.cpp {flags} -o {consumer}/by_pkg_config")
        and command("install-pkg-config-run", consumer / "by_pkg_config"))
    return [one("install", ok, time.monotonic() - start), one("install by pkg-config", by_pkg_config)]


# ---- the report's page -------------------------------------------------------------------------


def page_stage() -> list[Suite]:
    """What the tool writes, in Debian's Chromium."""
    start = time.monotonic()
    if not (build("dev") and command("page-install", "npm", "--prefix", "tests/page", "ci", "--silent",
                                     env=node_environment())):
        return [one("page build", False)]
    ok = command("page", "npm", "--prefix", "tests/page", "--silent", "test",
                 env={**node_environment(), "EBB_TOOL": str(BUILD / "dev/bin/ebb"),
                      "EBB_MAKE_RECORDING": str(BUILD / "dev/tests/make_recording"),
                      "EBB_LIVE_PROCESS": str(BUILD / "dev/tests/live_process")})
    suite = read_tap((LOGS / "page.log").read_text(errors="replace"), "page", ok)
    suite.seconds = time.monotonic() - start
    return [suite]


# ---- hosts/tfjs ---------------------------------------------------------------------------------

NODE_PACKAGE = "hosts/tfjs/package.json"
NODES = ("20", "22", "24", "26")


@functools.cache
def node_environment() -> dict[str, str]:
    """With a Node that is new enough in front."""
    folder = subprocess.run([ROOT / "tools/ensure_node.sh"], check=True, capture_output=True,
                            text=True).stdout.strip()
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@functools.cache
def build_node() -> bool:
    start = time.monotonic()
    ok = command("node-build", ROOT / "tools/build_node.sh")
    if ok:
        say(f"ebb-tfjs built in {time.monotonic() - start:.0f} s")
    return ok


def npm(script: str, *arguments, log: str = "", env: dict[str, str] | None = None) -> tuple[bool, str]:
    """Runs a script of hosts/tfjs/package.json; returns what it printed."""
    log = log or f"node-{script.replace(':', '-')}"
    ok = command(log, "npm", "--prefix", "hosts/tfjs", "--silent", "run", script, "--", *arguments,
                 env={**node_environment(), **(env or {})})
    return ok, (LOGS / f"{log}.log").read_text(errors="replace")


def node_stage() -> list[Suite]:
    if not build_node():
        return [one("node build", False)]
    return [check("node lint", "npm", "--prefix", "hosts/tfjs", "--silent", "run", "lint",
                  env=node_environment()),
            tap_suite("node", "test"), tap_suite("node runners", "test:runners"),
            tap_suite("node package", "test:package"),
            check("node flat", "node", "hosts/tfjs/soak/tidy_reshape.mjs", 1_000_000, "wasm",
                  env=node_environment())]


# Scripts whose tests measure memory and time beside whatever else the machine does. What fails is tried once again, by
# files and alone, as Maven does with the JVM's; the summary's notes name it.
TRIED_AGAIN = {"test", "test:web"}


def tap_suite(name: str, script: str, env: dict[str, str] | None = None) -> Suite:
    start = time.monotonic()
    env = {"EBB_TEST_REPORTER": "tap", **(env or {})}
    ok, output = npm(script, env=env)
    suite = read_tap(output, name, ok)
    if suite.failed and suite.files and script in TRIED_AGAIN:
        say(f"{name}: again {' '.join(suite.files)}")
        ok, output = npm(script, *suite.files, log=f"node-{script.replace(':', '-')}-again", env=env)
        suite = tried_again(suite, read_tap(output, name, ok))
    suite.seconds = time.monotonic() - start
    return suite


def node_versions_stage(*nodes: str) -> list[Suite]:
    """The same binary on other Nodes that it is for; stage `node` has tested the usual one."""
    if not build_node():
        return [one("node build", False)]
    start = time.monotonic()
    ok, output = npm("test:all", env={"EBB_NODES": ",".join(other_nodes(nodes))})
    runs = re.findall(r"^Node (v\S+): (\S+) passed, (\S+) failed", output, re.MULTILINE)
    suites = [Suite(f"node {version}", int(passed), int(failed))
              for version, passed, failed in runs if passed != "?"]
    if suites:
        suites[-1].seconds = time.monotonic() - start
    if not ok and not any(suite.failed for suite in suites):
        suites.append(one("node versions", False))
    return suites


def other_nodes(nodes: tuple[str, ...]) -> list[str]:
    version = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True,
                             env={**os.environ, **node_environment()}).stdout
    return [node for node in nodes if not version.startswith(f"v{node}.")]


def wasm_stage() -> list[Suite]:
    """The core for pages: its own tests under Node's WebAssembly, and how large it is."""
    if not command("wasm-deps", "tools/install_deps.sh", "wasm"):
        return [one("wasm packages", False)]
    suites = preset_stage("wasm", "unit|model|fault")
    return suites + [check("wasm size", sys.executable, "tools/check_web_size.py", "core"),
                     check("wasm parts", sys.executable, "tools/web_core_parts.py")]


def web_stage() -> list[Suite]:
    if not command("web-deps", "tools/install_deps.sh", "wasm", "browser"):
        return [one("web packages", False)]
    if not build_node() or not command("web-build", "tools/build_web.sh"):
        return [one("web build", False)]
    return [tap_suite("web", "test:web"),
            check("web size", sys.executable, "tools/check_web_size.py", "core", "script")]


def web_soak_stage() -> list[Suite]:
    if not build_node() or not command("web-build", "tools/build_web.sh"):
        return [one("web build", False)]
    return [tap_suite("web matrix", "soak:web")]


def gpu_stage(*gpus: str, share: float = 1) -> list[Suite]:
    """ebb-tfjs in Node on GPUs made of software; tfjs-core's specs there and in Chromium, or a share of them."""
    groups = ("wasm", "browser", "headless-gl") if "webgl" in gpus else ("wasm", "browser")
    if not command("gpu-deps", "tools/install_deps.sh", *groups):
        return [one("gpu packages", False)]
    if not build_node() or not command("web-build", "tools/build_web.sh"):
        return [one("gpu build", False)]
    suite = tap_suite("gpu", "test:gpu", {"EBB_TEST_GPUS": ",".join(gpus)})
    ok, output = npm("specs:gpu", env={"EBB_SPECS_SHARE": str(share)})
    return [suite, *read_specs(output, ok)]


def specs_stage() -> list[Suite]:
    if not build_node():
        return [one("node build", False)]
    ok, output = npm("specs")
    return read_specs(output, ok)


def node_soak_stage() -> list[Suite]:
    if not build_node():
        return [one("node build", False)]
    env = {**node_environment(), "EBB_SOAK_SECONDS": str(OPTIONS.soak_minutes * 60)}
    return [check("node flat", "node", "hosts/tfjs/soak/tidy_reshape.mjs", env=env),
            check("node wasm full", "node", "hosts/tfjs/soak/wasm_exhaustion.mjs", env=env),
            check("node server", "node", "hosts/tfjs/soak/server.mjs", env=env),
            check("node leaks", "node", "hosts/tfjs/soak/leaks.mjs", env=env),
            check("node border", "node", "hosts/tfjs/soak/border.mjs", env=env),
            check("node recorded", "node", "hosts/tfjs/soak/recorded.mjs", env=env),
            check("node terminated", "node", "hosts/tfjs/soak/terminated.mjs", env=env),
            check("node mnist", "node", "hosts/tfjs/soak/backend_mnist.mjs", env=env),
            check("specs without the tape", "node", "hosts/tfjs/specs/run.mjs", "ebb",
                  env={**env, "EBB_TAPE": "0"})]


def training_stage() -> list[Suite]:
    """The C++ examples in full; then TensorFlow.js evaluates the models that they have saved."""
    if not build("dev") or not build_node():
        return [one("training build", False)]
    mnist = subprocess.run(["tools/mnist_data.sh"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    text = "docs/jvm.md"
    models = BUILD / "training"
    models.mkdir(parents=True, exist_ok=True)
    suites = []
    for name, arguments, more in (("mnist", (mnist, "3"), ()), ("transformer", (text, "600"), (text,))):
        model = models / f"{name}.safetensors"
        suites += [check(f"{name} in C++", BUILD / f"dev/examples/{name}", *arguments, model),
                   check(f"{name} in Node", "node", "hosts/tfjs/soak/nn_models.mjs", name, model, *more,
                         env=node_environment())]
    return suites


# ---- hosts/djl ----------------------------------------------------------------------------------

JVM_PROJECT = "hosts/djl/pom.xml"
DJL_VERSIONS = ("0.35.1", "0.20.0")


def jvm_stage() -> list[Suite]:
    """With each version of DJL; what stock DJL promises, without Ebb as well."""
    suites = []
    for djl in DJL_VERSIONS:
        ok = command(f"jvm-{djl}", sys.executable, "tools/jvm.py", "test", "--djl", djl)
        found = read_surefire(ROOT / "hosts/djl/target/surefire-reports", f"jvm {djl}")
        if not ok and not any(suite.failed for suite in found):
            found.append(one(f"jvm {djl}", False))
        suites += found
    return suites


def jvm_engines_stage(*modes: str) -> list[Suite]:
    return [check(f"jvm {engine}", sys.executable, "tools/jvm.py", "engines", "--engine", engine, *modes)
            for engine in ("TensorFlow", "MXNet", "XGBoost", "LightGBM")]


def jvm_soak_stage() -> list[Suite]:
    return [check("jvm soak", sys.executable, "tools/jvm.py", "soak", "--seconds",
                  OPTIONS.soak_minutes * 60)]


# ---- hosts/spark --------------------------------------------------------------------------------

SPARK_PROJECT = "hosts/spark/pom.xml"


def spark_stage(what: str = "test") -> list[Suite]:
    """ebb-spark's own tests, then jobs on a cluster of two executors with each version of Spark."""
    start = time.monotonic()
    ok = command(f"spark-{what}", sys.executable, "tools/spark.py", what)
    plugin = Suite("spark plugin")
    for suite in read_surefire(ROOT / "hosts/spark/plugin/target/surefire-reports", "spark"):
        plugin.add(suite)
    log = (LOGS / f"spark-{what}.log").read_text(errors="replace")
    ran = sum(map(int, re.findall(r"^Ran (\d+) test", log, re.MULTILINE)))
    failed = len(re.findall(r"^(?:FAIL|ERROR): ", log, re.MULTILINE))
    if not (ok and ran) and not failed and not plugin.failed:
        failed = 1
    return [plugin, Suite("spark cluster", max(0, ran - failed), failed, 0, time.monotonic() - start)]


# ---- cuda ---------------------------------------------------------------------------------------


def plain_stage() -> list[Suite]:
    """What computes, without oneDNN and libgomp, which other platforms lack."""
    suites = preset_stage("plain", "conformance")
    built = command("plain-unit-build", "cmake", "--build", "--preset", "plain", "--target", "test_unit_backends_cpu",
                    "-j", OPTIONS.jobs)
    return suites + [check("plain unit", BUILD / "plain/tests/test_unit_backends_cpu") if built else one("plain unit", False)]


def cuda_stage() -> list[Suite]:
    """Builds what `make cuda` builds, with its flags; libebb's tests load the plug-in, and are told that there is no GPU."""
    plugin = BUILD / "cuda" / "libebb_cuda.so"
    compiled = build("cuda")
    suites = [one("cuda build", compiled)]
    if compiled and build("dev"):
        listed = subprocess.run(["nm", "-D", "--defined-only", str(plugin)], check=True,
                                capture_output=True, text=True).stdout
        exported = [line.split()[-1] for line in listed.splitlines()]
        suites.append(one("cuda exports", exported == ["ebb_cuda_plugin"]))
        suites.append(check("cuda plugin", BUILD / "dev/tests/test_cuda",
                            "--gtest_filter=RealPlugin.*", env={"EBB_TEST_PLUGIN": str(plugin)}))
    return suites


# ---- what is shipped ----------------------------------------------------------------------------


def symbols_stage() -> list[Suite]:
    """Every file that a package carries, as it is installed: what it needs of a machine."""
    release, shipped = BUILD / "release", BUILD / "shipped"
    shutil.rmtree(shipped, ignore_errors=True)
    installs = [(release, "node", ["--component", "node"]), (release, "cpp", []),
                (release, "jni", ["--component", "jni"]), (BUILD / "cuda", "cuda", ["--component", "plugin"])]
    ok = (build_node() and build("cuda")
          and command("symbols-configure", "cmake", "--preset", "release", "-DEBB_BUILD_NODE=ON",
                      "-DEBB_BUILD_JVM=ON")
          and command("symbols-build", "cmake", "--build", release, "-j", OPTIONS.jobs, "--target", "ebb",
                      "ebb_node", "ebb_jni")
          and all(command(f"symbols-{name}", "cmake", "--install", tree, "--prefix", shipped / name, *part)
                  for tree, name, part in installs))
    return [check("symbols", sys.executable, "tools/check_symbols.py", shipped) if ok
            else one("symbols build", False)]


# ---- soak ---------------------------------------------------------------------------------------


def soak_stage(preset: str) -> list[Suite]:
    """Repeats the randomised suites with other seeds (testing::UnitTest::random_seed)."""
    if not build(preset):
        return [one(f"{preset} build", False)]
    total, deadline, seed = {}, time.monotonic() + OPTIONS.soak_seconds, 0
    while time.monotonic() < deadline:
        seed += 1
        env = {"GTEST_SHUFFLE": "1", "GTEST_RANDOM_SEED": str(seed)}
        for suite in run_ctest(preset, RANDOMISED, env):
            total.setdefault(suite.name, Suite(suite.name)).add(suite)
        if any(suite.failed for suite in total.values()):
            say(f"failed with seed {seed}")
            break
    return list(total.values())


def campaign_stage() -> list[Suite]:
    """What docs/reliability.md counts: the short halves of `make test`, in full."""
    if not build("dev"):
        return [one("dev build", False)]
    explored = "12"  # each of some thirty scenarios takes twice that: below the limit of a suite
    in_full = {"EBB_FORGED_NAMES": "10000000", "EBB_KILLS": "1000", "EBB_EXITS": "200",
               "EBB_NAME_RACES": "100000", "EBB_FAIRNESS_SECONDS": "20",
               "EBB_SCHEDULE_SECONDS": explored}
    return [check("memory orders", sys.executable, "tools/orders.py"),
            *run_ctest("dev", "process|capi|schedules|threads", in_full)]


def calls_stage() -> list[Suite]:
    """The fuzzers' machines from seeds, in an optimised build without sanitizers. The calls of all
    runs are added up in build/soak-calls.total."""
    folder, total = BUILD / "soak", BUILD / "soak-calls.total"
    if not (command("calls-configure", "cmake", "-S", ROOT, "-B", folder, "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", "-DEBB_CPU=ON")
            and command("calls-build", "cmake", "--build", folder, "-j", OPTIONS.jobs, "--target",
                        "soak_calls")):
        return [one("calls build", False)]
    # Some calls wait for another thread that is not there: more processes than processors.
    suite = check("calls", folder / "tests/soak_calls", "--seconds", OPTIONS.soak_seconds,
                  "--processes", 3 * OPTIONS.jobs, "--seed", int(time.time()))
    made = re.search(r"(\d+) calls", (LOGS / "calls.log").read_text(errors="replace"))
    before = int(total.read_text()) if total.exists() else 0
    if made:
        total.write_text(str(before + int(made[1])))
        suite.notes = [f"C ABI: {int(made[1]):,} calls, {before + int(made[1]):,} in all runs here"]
    return [suite]


STAGES = [
    Stage("layers", "includes, tree, tools", layers_stage),
    Stage("format", "clang-format", format_stage),
    Stage("dev", f"{EVERYTHING}|schedules",
          lambda: preset_stage("dev", f"{EVERYTHING}|schedules", headers_suite), UNIT_TESTS),
    Stage("page", "the tool's report in Chromium", page_stage, "tests/page/package.json"),
    Stage("abi", "the C ABI against the last release", abi_stage, "abi/*.abi"),
    Stage("compile_fail", "programs that must be rejected",
          lambda: preset_stage("dev", "compile_fail"), "tests/compile_fail/*.cpp"),
    Stage("asan", EVERYTHING, lambda: preset_stage("asan", EVERYTHING), UNIT_TESTS),
    Stage("tsan", RACED, lambda: preset_stage("tsan", RACED), UNIT_TESTS),
    Stage("cuda", "what make cuda builds; the plug-in for sm_90, loaded without a GPU", cuda_stage,
          "src/backends/cuda/plugin/*.cpp"),
    Stage("fuzz", "each fuzzer from its corpus", fuzz_stage, "tests/fuzz/*.cpp"),
    Stage("install", "find_package(ebb) and pkg-config from a prefix", install_stage, "tests/install/main.cpp"),
    Stage("node", "lint, tests and package of ebb-tfjs", node_stage, NODE_PACKAGE),
    Stage("wasm", "base, memory, tensor as WebAssembly under Node: unit, model, fault", wasm_stage, UNIT_TESTS),
    Stage("web", "ebb-tfjs/web in Chromium and Firefox: webgl, webgpu, pages, workers", web_stage, NODE_PACKAGE),
    Stage("gpu", "ebb-tfjs in Node on webgpu; a tenth of tfjs-core's specs there and in Chromium",
          lambda: gpu_stage("webgpu", share=0.1), NODE_PACKAGE),
    Stage("specs", "tfjs-core's on cpu, wasm and ebb: reclaim off, on, usual, forced", specs_stage,
          NODE_PACKAGE),
    Stage("jvm", "ebb-djl with DJL 0.35.1 and 0.20.0: stock, off, on, forced", jvm_stage,
          JVM_PROJECT),
    Stage("jvm engines", "DJL on TensorFlow, MXNet, XGBoost and LightGBM: stock, on", jvm_engines_stage, JVM_PROJECT),
    Stage("spark", "ebb-spark's own tests; a small job on two executors, one of them lost",
          lambda: spark_stage("quick"), SPARK_PROJECT),
]

ON_DEMAND = [  # run_tests.py --only; and in make soak
    Stage("coverage", "src/memory, src/tensor", coverage_stage, "src/memory/*.cpp"),
    Stage("plain", "conformance without oneDNN and libgomp", plain_stage, UNIT_TESTS),
]

SOAK_STAGES = [
    *ON_DEMAND,
    Stage("campaign", "forged names, races for names, killed saves, exits, schedules, memory orders, in full", campaign_stage),
    Stage("calls", "the C ABI, millions of calls from seeds", calls_stage, "tests/soak/calls.cpp"),
    Stage("fuzz", "each fuzzer from its corpus", fuzz_stage, "tests/fuzz/*.cpp"),
    Stage("asan", RANDOMISED, lambda: soak_stage("asan")),
    Stage("tsan", RANDOMISED, lambda: soak_stage("tsan")),
    Stage("node", "5,000,000 tidied tensors, wasm's 4 GB filled, a careless server, MNIST", node_soak_stage,
          NODE_PACKAGE),
    Stage("training", "a conv net to 98.5% of MNIST and a transformer in C++, evaluated by TensorFlow.js",
          training_stage, NODE_PACKAGE),
    Stage("node versions", f"the tests of ebb-tfjs on the others of Node {', '.join(NODES)}",
          lambda: node_versions_stage(*NODES), NODE_PACKAGE),
    Stage("web", "all of the matrix: backends, pages and workers, ways to wait, heaps", web_soak_stage,
          NODE_PACKAGE),
    Stage("gpu", "ebb-tfjs in Node on webgpu and webgl; tfjs-core's specs there and in Chromium",
          lambda: gpu_stage("webgpu", "webgl"), NODE_PACKAGE),
    Stage("jvm", "careless threads under DJL", jvm_soak_stage, JVM_PROJECT),
    Stage("jvm engines", "DJL on TensorFlow, MXNet, XGBoost and LightGBM: on, off, forced",
          lambda: jvm_engines_stage("--everything"), JVM_PROJECT),
    Stage("spark", "executors lost, users' classes first, the page; 500 partitions, repeated and copied tasks",
          lambda: spark_stage() + spark_stage("soak"), SPARK_PROJECT),
    Stage("symbols", "glibc 2.31 and GCC 9's libstdc++ are enough for every shipped file", symbols_stage),
]


# ---- the run ------------------------------------------------------------------------------------


def run_stage(stage: Stage, place: str) -> list[Suite]:
    print(f"[{place}] {stage.name}: {stage.covers.replace('|', ', ')}", flush=True)
    if stage.needs and not any(ROOT.glob(stage.needs)):
        say(f"passed over: no {stage.needs} in the tree")
        return []
    try:
        suites = stage.run()
    except Exception as error:  # a broken stage must not hide the ones after it
        say(f"failed: {error!r}")
        suites = [one(stage.name, False)]
    for note in (note for suite in suites for note in suite.notes):
        say(note)
    say(closing_line(suites))
    return suites


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    names = [stage.name for stage in STAGES + ON_DEMAND]
    parser.add_argument("--only", nargs="+", choices=names, metavar="STAGE", help=", ".join(names))
    parser.add_argument("--fuzz-seconds", type=int, default=OPTIONS.fuzz_seconds)
    parser.add_argument("--soak", type=int, metavar="MINUTES", help="run SOAK_STAGES instead")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    chosen = parse_arguments(arguments)
    usual = SOAK_STAGES if chosen.soak else STAGES
    OPTIONS.jobs, OPTIONS.fuzz_seconds = chosen.jobs, chosen.fuzz_seconds
    if chosen.soak:
        OPTIONS.soak_minutes = chosen.soak
        OPTIONS.fuzz_seconds = OPTIONS.soak_seconds = chosen.soak * 60 // 3
    stages = usual
    if chosen.only:
        known = usual if chosen.soak else usual + ON_DEMAND
        stages = [stage for stage in known if stage.name in chosen.only]
    start, suites = time.monotonic(), []
    for number, stage in enumerate(stages, 1):
        suites += run_stage(stage, f"{number}/{len(stages)}")
    print(f"\n{time.monotonic() - start:.0f} s in all; logs in build/logs\n\n{summary(suites)}")
    if named := failures(suites):
        print(named)
    return 1 if any(suite.failed for suite in suites) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
