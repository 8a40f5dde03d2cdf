#!/usr/bin/env python3
"""`make demo`: builds and shows, the smallest first. What is needed later is fetched and built beside what is shown.

Each step says what it does and how long it took; the output of builds is in build/logs/demo-STEP.log. --only shows
some of them, and builds what these need.
"""
import argparse
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/logs"
START = time.monotonic()
JOBS = os.environ.get("JOBS") or str(os.cpu_count() or 2)


@dataclass
class Step:
    """A command of a lane. The steps of a lane run one after the other, in the order of STEPS."""
    name: str
    lane: str  # fetch: waits for the network; build: uses one build tree; show: prints
    what: str
    command: list
    needs: tuple[str, ...] = ()
    done: threading.Event = field(default_factory=threading.Event)
    ok: bool = False


def built(*targets: str) -> list:
    return ["cmake", "--build", "--preset", "release", "-j", JOBS, "--target", *targets]


def node_folder() -> str:
    found = subprocess.run([ROOT / "tools/ensure_node.sh"], check=True, capture_output=True,
                           text=True)
    return found.stdout.strip()


NODE = [ROOT / "tools/build_node.sh"]
STEPS = [
    Step("configure", "build", "fetch oneDNN, configure build/release",
         ["cmake", "--preset", "release", "--log-level=WARNING"]),
    Step("books", "build", "compile what keeps the books", built("demo_careless_host"),
         ("configure",)),
    Step("host", "show", "a careless host on a simulated device, in C++",
         [ROOT / "build/release/examples/demo_careless_host"], ("books",)),
    Step("npm", "fetch", "fetch TensorFlow.js and the other npm packages", [*NODE, "install"]),
    Step("java", "fetch", "install a JDK and Maven if they are missing",
         [ROOT / "tools/install_deps.sh", "jvm"]),
    Step("djl", "fetch", "fetch DJL, PyTorch and what Maven needs", [sys.executable, ROOT / "tools/jvm.py", "fetch"],
         ("java",)),
    Step("kernels", "build", "compile operations and the CPU's kernels",
         built("ebb_capi", "ebb_backends_cpu", "ebb_backends_cuda", "ebb_print_ops"), ("books",)),
    Step("addon", "build", "build ebb-tfjs: TypeScript, and the addon from the same objects",
         [*NODE, "compile", "addon"], ("npm", "kernels")),
    Step("node", "show", "careless MNIST training in Node: wasm, then backend ebb",
         ["npm", "--prefix", "hosts/tfjs", "--silent", "run", "demo"], ("addon",)),
    Step("jar", "build", "build ebb-djl: the JNI library from the same objects",
         [sys.executable, ROOT / "tools/jvm.py", "prepare"], ("djl", "npm", "kernels")),
    Step("jvm", "show", "MNIST training with DJL on the JVM",
         [sys.executable, ROOT / "tools/jvm.py", "demo", "--built"], ("jar",)),
    Step("leak", "show", "ebb run on a server that leaks: which line, what holds it, and a page to open",
         ["node", "hosts/tfjs/dist/node/cli.js", "run", "--out", "build/demo/server.ebbrec",
          "hosts/tfjs/test/leaks/server.cjs"], ("addon",)),
]
BY_NAME = {step.name: step for step in STEPS}


def say(text: str) -> None:
    passed = int(time.monotonic() - START)
    # The end of the line with it, in one call: steps that run beside each other speak at once.
    print(f"[{passed // 60}:{passed % 60:02}] {text}\n", end="", flush=True)


def environment(step: Step) -> dict[str, str]:
    if step.name not in ("node", "leak"):
        return dict(os.environ)
    return {**os.environ, "PATH": f"{node_folder()}{os.pathsep}{os.environ['PATH']}",
            "LEAK": "1", "SECONDS": "8"}


def command_of(step: Step) -> list[str]:
    """What is built beside a demo leaves it the processor."""
    words = [str(word) for word in step.command]
    return words if step.lane == "show" else ["nice", *words]


def run(step: Step) -> bool:
    say(f"{step.name}: {step.what}")
    start = time.monotonic()
    if step.lane == "show":
        print(flush=True)
        (ROOT / "build/demo").mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command_of(step), cwd=ROOT, env=environment(step))
        print(flush=True)
    else:
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / f"demo-{step.name}.log"
        with log.open("w") as output:
            done = subprocess.run(command_of(step), cwd=ROOT, env=environment(step), stdout=output,
                                  stderr=subprocess.STDOUT)
        if done.returncode != 0:
            print("\n".join(log.read_text(errors="replace").splitlines()[-40:]), flush=True)
    ok = done.returncode == 0
    say(f"{step.name}: {'done' if ok else f'failed ({done.returncode})'} "
        f"in {time.monotonic() - start:.0f} s")
    return ok


def run_lane(steps: list[Step]) -> None:
    for step in steps:
        needed = [BY_NAME[name] for name in step.needs]
        for other in needed:
            other.done.wait()
        try:
            step.ok = all(other.ok for other in needed) and run(step)
        finally:
            step.done.set()


def wanted(names: list[str]) -> list[Step]:
    """These steps and what they need, in the order of STEPS."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += BY_NAME[name].needs
    return [step for step in STEPS if step.name in found]


def main(arguments: list[str]) -> int:
    shows = [step.name for step in STEPS if step.lane == "show"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=shows, default=shows, metavar="DEMO",
                        help=", ".join(shows))
    steps = wanted(parser.parse_args(arguments).only)
    lanes = [threading.Thread(target=run_lane, args=([s for s in steps if s.lane == lane],))
             for lane in ("fetch", "build", "show")]
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    failed = [step.name for step in steps if not step.ok]
    say("the pictures are in build/demo" if not failed else f"not shown: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
