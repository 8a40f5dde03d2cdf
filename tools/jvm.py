#!/usr/bin/env python3
"""Builds ebb-djl and tests, measures, soaks or shows it: tools/jvm.py build|install|fetch|prepare|test|engines|integration|bench|soak|server|asan|demo.

Java is JAVA_HOME's, or the one on the PATH.
"""
import argparse
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "hosts/djl"
TARGET = PROJECT / "target"
# DJL's versions and what selects them in hosts/djl/pom.xml. Tests tagged `once` run with the newest only.
SETS = {"0.35.1": [], "0.28.0": ["-Pdjl-0.28"], "0.24.0": ["-Pdjl-0.24"], "0.20.0": ["-Pdjl-0.20"]}
NEWEST, *_, SEED = SETS
# Other engines: what is tested with each, by profile of hosts/djl/engines/pom.xml. On stock DJL only what stock DJL promises.
ENGINES = {"TensorFlow": ["behaviour", "engines.EngineTest"], "MXNet": ["behaviour", "engines.EngineTest"],
           "XGBoost": ["engines.XgBoostTest"], "LightGBM": ["engines.LightGbmTest"]}
SOAK_SECONDS = 600
MAVEN = ["mvn", "-B", "-q", "-Dstyle.color=never"]
# Some tests measure memory and shares of time beside whatever else the machine does; Maven lists those it tried again.
TRY_AGAIN = "-Dsurefire.rerunFailingTestsCount=1"


def environment() -> dict[str, str]:
    """PyTorch's second thread spins on a core that the collector or a neighbour wants."""
    return {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1"),
            "DJL_CACHE_DIR": str(TARGET / "djl-cache")}


def run(*command, **more) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, env=environment(), **more)


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin/java") if home else shutil.which("java") or "java"


@functools.cache
def jar() -> Path:
    found = sorted(path for path in TARGET.glob("ebb-djl-*.jar") if "original" not in path.name)
    if len(found) != 1:
        sys.exit(f"jvm: one jar expected in {TARGET}, not {len(found)}; make jvm builds it")
    return found[0]


@functools.cache
def mnist() -> str:
    found = subprocess.run([ROOT / "tools/mnist_data.sh"], check=True, capture_output=True,
                           text=True)
    return found.stdout.strip()


def build(goal: str = "package") -> None:
    run(ROOT / "tools/build_jvm.sh", goal)


def libraries(djl: str, name: str, *profiles) -> list[str]:
    """What the tests need with one version of DJL."""
    listed = TARGET / f"{name}-{djl}.txt"
    if not listed.exists() or listed.stat().st_mtime < (PROJECT / "pom.xml").stat().st_mtime:
        run(*MAVEN, "-f", PROJECT / "pom.xml", *SETS[djl], *profiles,
            "dependency:build-classpath", "-DincludeScope=test", f"-Dmdep.outputFile={listed}")
    return [entry for entry in listed.read_text().strip().split(os.pathsep)
            if "byte-buddy" not in entry]


def compiled(classes: Path, sources: list, others: list[str]) -> str:
    """The class path with these sources in front, which it compiles."""
    path = os.pathsep.join([str(classes), *others])
    stamp = classes / ".compiled"
    if stamp.exists() and stamp.stat().st_mtime > newest([*sources, jar()]):
        return path
    shutil.rmtree(classes, ignore_errors=True)
    classes.mkdir(parents=True)
    run(Path(java()).with_name("javac"), "-nowarn", "-proc:none", "-d", classes, "-cp", path,
        *sources)
    stamp.touch()
    return path


def newest(files: list) -> float:
    return max(Path(file).stat().st_mtime for file in files)


@functools.cache
def class_path(djl: str) -> str:
    """Of the tests' programs with one version of DJL."""
    sources = [path for path in (PROJECT / "src/test/java").rglob("*.java")
               if "unit" not in path.parts]
    return compiled(TARGET / f"programs-{djl}", sources,
                    [str(jar()), *libraries(djl, "class-path")])


def program(djl: str, *arguments, flags: tuple = ()) -> None:
    """Runs one of the tests' programs."""
    properties = [f"-Debb.mnist={mnist()}", f"-Debb.test.jar={jar()}", "-Dai.djl.offline=true"]
    run(java(), *properties, *flags, "-cp", class_path(djl), *arguments)


def test(djl: str) -> bool:
    """Everything with reclaim on; what DJL itself promises also without the agent, with reclaim off
    and with collections forced. Surefire's reports tell them apart by the end of their names."""
    shutil.rmtree(TARGET / "surefire-reports", ignore_errors=True)
    everything = (["verify", f"-Debb.test.faulty={faulty_jar()}"] if djl == NEWEST
                  else ["verify", "-DexcludedGroups=once"])
    behaviour = ["surefire:test@default-test", "-Dtest=dev.ebb.djl.behaviour.*Test"]
    modes = [everything,
             [*behaviour, "-Dtest.agent=", "-Dsurefire.reportNameSuffix=stock"],
             [*behaviour, "-Dtest.reclaim=false", "-Dsurefire.reportNameSuffix=off"],
             [*behaviour, "-Debb.test.forced=true", "-Dsurefire.reportNameSuffix=forced"]]
    return all([passes(*MAVEN, "-f", PROJECT / "pom.xml", *SETS[djl],
                       f"-Debb.mnist={mnist()}", TRY_AGAIN, *mode) for mode in modes])


def engines(names: list[str], everything: bool) -> bool:
    """Other engines with reclaim on; everything: also with reclaim off and with collections forced."""
    return all([engine(name, everything) for name in names])


def engine(name: str, everything: bool) -> bool:
    """Whatever becomes of a test of DJL's promises on stock DJL has to become of it with Ebb: some engines cannot do all.
    The tests of Ebb's own promises have to pass."""
    listed = TARGET / f"engine-{name}.txt"
    pom = PROJECT / "engines/pom.xml"
    if not listed.exists() or listed.stat().st_mtime < pom.stat().st_mtime:
        run(*MAVEN, "-f", pom, f"-P{name}", "dependency:build-classpath", f"-Dmdep.outputFile={listed}")
    tests = PROJECT / "src/test/java/dev/ebb/djl"
    sources = [*(tests / "behaviour").glob("*.java"),
               *(tests / "engines" / f"{part}Test.java" for part in ("Engine", "XgBoost", "LightGbm")),
               *(tests / "support" / f"{part}.java"
                 for part in ("ForcedCollections", "Fork", "LightGbmModel", "Managers", "Resident", "WithCollections")),
               tests / "loaders/Undeployed.java"]
    path = compiled(TARGET / f"engine-{name}", sources, [str(jar()), *listed.read_text().strip().split(os.pathsep)])
    agent = (f"-javaagent:{jar()}", "-Debb.reclaim=true")
    modes = {"stock": (), "on": agent}
    if everything:
        modes |= {"off": (f"-javaagent:{jar()}",), "forced": (*agent, "-Debb.test.forced=true")}
    found = {mode: outcomes(path, name, mode, flags) for mode, flags in modes.items()}
    good = True
    for mode, results in found.items():
        counts = {end: list(results.values()).count(end) for end in sorted(set(results.values()))}
        print(f"{name}, {mode}: {counts}")
        for test, end in sorted(results.items()):
            if end != found["stock"].get(test, "passed"):
                good = False
                print(f"  {test}: {end}, on stock {found['stock'].get(test, 'not run')}")
    return good and all(found[mode] for mode in found if mode != "stock")


def engine_environment(path: str) -> dict[str, str]:
    """TensorFlow's library for the CPU says in its jar that it is for CUDA, so DJL does not find it there: it is unpacked."""
    jars = [entry for entry in path.split(os.pathsep) if "tensorflow-native-cpu" in entry]
    if not jars:
        return environment()
    folder = TARGET / "tensorflow"
    if not folder.exists():
        unpacking = Path(tempfile.mkdtemp(dir=TARGET))
        with zipfile.ZipFile(jars[0]) as archive:
            for entry in archive.infolist():
                if ".so" in entry.filename:
                    with archive.open(entry) as packed, open(unpacking / Path(entry.filename).name, "wb") as library:
                        shutil.copyfileobj(packed, library)
        unpacking.rename(folder)
    return {**environment(), "TENSORFLOW_LIBRARY_PATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"}


def outcomes(path: str, name: str, mode: str, flags: tuple) -> dict[str, str]:
    """What became of each test."""
    chosen = [part for part in ENGINES[name] if mode != "stock" or part == "behaviour"]
    reports = TARGET / f"engine-reports/{name}-{mode}"
    shutil.rmtree(reports, ignore_errors=True)
    select = [f"--select-package=dev.ebb.djl.{part}" if part == "behaviour" else f"--select-class=dev.ebb.djl.{part}"
              for part in chosen]
    if select:
        subprocess.run([java(), "-Xmx2g", "-Dai.djl.offline=true", f"-Debb.test.jar={jar()}", f"-Dai.djl.default_engine={name}", *flags, "-cp", path,
                        "org.junit.platform.console.ConsoleLauncher", "execute", *select, "--details=none",
                        "--disable-banner", f"--reports-dir={reports}"],
                       cwd=ROOT, env=engine_environment(path), stdout=subprocess.DEVNULL, check=False)
    results = {}
    for report in reports.glob("*jupiter.xml"):
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            end = next((part for part in ("failure", "error", "skipped") if case.find(part) is not None), "passed")
            results[f"{case.get('classname')}.{case.get('name')}"] = end
    return results


def integration(djl: str, sources: Path) -> bool:
    """DJL's own integration tests, from a checkout of that version: stock, with reclaim on, with
    collections forced, and with results owned by the shortest-lived manager. Whatever becomes of a test on stock DJL has
    to become of it with Ebb."""
    needs = [entry for entry in libraries(djl, "integration", "-Pintegration")
             if "slf4j-nop" not in entry and "onnxruntime-engine" not in entry]
    tests = [*(sources / "integration/src/main").rglob("*.java"),
             *(sources / "testing/src/main").rglob("*.java"),
             PROJECT / "src/test/java/dev/ebb/djl/support/WithCollections.java"]
    path = compiled(TARGET / f"integration-{djl}", tests, needs)
    agent = (f"-javaagent:{jar()}", "-Debb.reclaim=true")
    modes = {"stock": (), "reclaim on": agent, "forced": (*agent, "-Debb.test.forced=true"),
             "shortest": (*agent, "-Debb.ownership=shortest")}
    found = {mode: integrated(path, *flags) for mode, flags in modes.items()}
    for mode, results in found.items():
        counts = {end: list(results.values()).count(end) for end in sorted(set(results.values()))}
        print(f"DJL {djl}, {mode}: {counts}")
        for test in sorted(found["stock"].keys() | results.keys()):
            if results.get(test) != found["stock"].get(test):
                print(f"  {test}: {results.get(test)}, on stock {found['stock'].get(test)}")
    return all(results and results == found["stock"] for results in found.values())


def integrated(path: str, *flags) -> dict[str, str]:
    """What became of each test."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [java(), "-Xmx3g", "-Dai.djl.offline=true", "-Dai.djl.default_engine=PyTorch", *flags,
             "-cp", path, "dev.ebb.djl.support.WithCollections",
             "ai.djl.integration.IntegrationTest"],
            cwd=folder, env=environment(), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
    return dict(re.findall(r"Test (\S+) (PASSED|FAILED|SKIPPED|UNSUPPORTED)", done.stdout))


def passes(*command) -> bool:
    try:
        run(*command)
        return True
    except subprocess.CalledProcessError:
        return False


def bench(part: str = "") -> None:
    program(NEWEST, "dev.ebb.djl.bench.Figures", ROOT / "build/bench/jvm.json", part,
            flags=(f"-Debb.classpath.seed={class_path(SEED)}",))


def soak(seconds: int) -> None:
    program(NEWEST, "dev.ebb.djl.soak.Soak", seconds, flags=(f"-javaagent:{jar()}",))
    server(seconds)
    program(NEWEST, "dev.ebb.djl.soak.Found", 60)
    program(NEWEST, "dev.ebb.djl.threads.Interrupted", 1000, flags=(f"-javaagent:{jar()}",))
    program(NEWEST, "dev.ebb.djl.core.Border", seconds, int(time.time()), flags=(f"-javaagent:{jar()}", "-Xmx512m"))


def server(seconds: int) -> None:
    """A careless server. Its heap is of one size and touched: what grows is not the heap."""
    program(NEWEST, "dev.ebb.djl.soak.Server", seconds, os.environ.get("EBB_SOAK_PAUSE_MS", "0"),
            flags=(f"-javaagent:{jar()}", "-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch",
                   "-Dsun.net.httpserver.nodelay=true"))


def asan(djl: str, repetitions: int) -> None:
    """Threads that make, drop and close, random calls at the border, and calls of JNI that fail, with Ebb's native part under
    AddressSanitizer. The JVM uses SIGSEGV itself and does not free what it has at exit."""
    folder = ROOT / "build/jvm-asan"
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "--log-level=WARNING",
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DEBB_SANITIZE=address", "-DEBB_BUILD_JVM=ON",
        "-DEBB_BUILD_TESTS=OFF", "-DEBB_BUILD_EXAMPLES=OFF")
    run("cmake", "--build", folder, "--target", "ebb_jni", "ebb_jni_faulty", "-j", os.cpu_count() or 2)
    checked = jar_with(folder / "native/linux-x86_64/libebb_jni.so", folder / jar().name)
    failing = jar_with(folder / "native-faulty/linux-x86_64/libebb_jni.so", folder / "faulty.jar")
    # The C++ library too: the sanitizer looks for what exceptions need when the process starts, and java is no C++ program.
    libraries = [subprocess.run(["g++", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
                 for name in ("libasan.so", "libstdc++.so.6")]
    variables = {"LD_PRELOAD": ":".join(libraries),
                 "ASAN_OPTIONS": "handle_segv=0:detect_leaks=0:allocator_may_return_null=1"}
    budget = ["-Debb.reclaim=true", "-Debb.budget=2MB"]
    for agent, options, *program_and_arguments in (
            (checked, budget, "dev.ebb.djl.threads.Churn", "8", str(repetitions), "200"),
            (checked, budget, "dev.ebb.djl.core.Border", "60", "1"),
            (failing, ["-Xmx256m"], "dev.ebb.djl.core.Faults")):
        subprocess.run([java(), f"-javaagent:{agent}", *options, "-Dai.djl.offline=true",
                        "-cp", class_path(djl).replace(str(jar()), str(agent)), *program_and_arguments],
                       cwd=ROOT, check=True, env={**environment(), **variables})


def faulty_jar() -> Path:
    """With calls of JNI that fail when core.Faults asks for it."""
    run("cmake", "--build", ROOT / "build/release", "--target", "ebb_jni_faulty", "-j", os.cpu_count() or 2)
    library, = (ROOT / "build/release/native-faulty").glob("*/libebb_jni.so")
    return jar_with(library, TARGET / "faulty.jar")


def jar_with(library: Path, other: Path) -> Path:
    """The jar with another build of the native part."""
    inside = f"dev/ebb/djl/native/{library.parent.name}/libebb_jni.so"
    with zipfile.ZipFile(jar()) as old, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(entry, library.read_bytes() if entry.filename == inside else old.read(entry))
    return other


def fetch() -> None:
    """What Maven brings for the build and for the demo."""
    run(*MAVEN, "-f", PROJECT / "pom.xml", "dependency:resolve-plugins")
    for djl in (NEWEST, SEED):
        libraries(djl, "class-path")


def prepare() -> None:
    """Everything that the demo runs, fetched and compiled."""
    mnist(), class_path(NEWEST), class_path(SEED)


def demo() -> None:
    folder = subprocess.run([ROOT / "tools/ensure_node.sh"], check=True, capture_output=True,
                            text=True).stdout.strip()
    variables = {"JAVA": java(), "EBB_JAR": str(jar()), "EBB_MNIST": mnist(),
                 "EBB_CLASSPATH": class_path(NEWEST), "EBB_CLASSPATH_SEED": class_path(SEED)}
    subprocess.run([Path(folder) / "node", PROJECT / "demo/run.mjs"], cwd=ROOT, check=True,
                   env={**environment(), **variables})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["build", "install", "fetch", "prepare", "test", "engines", "integration", "bench", "soak", "server", "asan", "demo"])
    parser.add_argument("--djl", nargs="+", choices=SETS, default=[NEWEST, SEED],
                        help="test, integration, asan: with")
    parser.add_argument("--sources", type=Path, help="integration: a checkout of that DJL")
    parser.add_argument("--part", default="", help="bench: figures of this part only")
    parser.add_argument("--seconds", type=int, default=SOAK_SECONDS, help="soak, server: how long")
    parser.add_argument("--built", action="store_true", help="take the jar that is there")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=[*ENGINES], help="engines: these only")
    parser.add_argument("--everything", action="store_true", help="engines: in all modes")
    parser.add_argument("--repetitions", type=int, default=5, help="asan: how often")
    chosen = parser.parse_args()
    try:
        if chosen.what == "fetch":
            fetch()
        elif not chosen.built:
            build("install" if chosen.what == "install" else "package")
        if chosen.what == "test":
            return 0 if all([test(djl) for djl in chosen.djl]) else 1
        if chosen.what == "engines":
            return 0 if engines(chosen.engine, chosen.everything) else 1
        if chosen.what == "integration":
            if chosen.sources is None or len(chosen.djl) != 1:
                parser.error("integration needs --djl VERSION and --sources, a checkout of it")
            return 0 if integration(chosen.djl[0], chosen.sources) else 1
        if chosen.what == "bench":
            bench(chosen.part)
        elif chosen.what == "soak":
            soak(chosen.seconds)
        elif chosen.what == "server":
            server(chosen.seconds)
        elif chosen.what == "asan":
            for djl in chosen.djl:
                asan(djl, chosen.repetitions)
        elif chosen.what == "prepare":
            prepare()
        elif chosen.what == "demo":
            demo()
    except subprocess.CalledProcessError as error:
        print(f"jvm: failed ({error.returncode}): {' '.join(map(str, error.cmd))[:300]}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
