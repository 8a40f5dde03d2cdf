#!/usr/bin/env python3
"""`make dist-test`: what `make dist` left in dist/, on machines that have nothing of this one. Needs root (debootstrap).

  sums       SHA256SUMS says what is there
  symbols    every file that a package carries, unpacked
  five       the commands of docs/node.md, "The first five minutes", in clean roots of Debian 11 and 13: with npm's Node,
             as a user who is not root, where there is no compiler
  absent     ebb-tfjs where there is no native part: installs, says once that nothing is reclaimed, and the program runs
  cuda       the plug-in's package where there is no GPU: loaded only if asked for, and then it says what is missing
  arm64      the package on emulated processors, one with NEON alone, one with SVE: equal to the bit. On the same two:
  arm64-suites       the core's unit, model and fault suites
  arm64-conformance  the conformance suite (long)
  arm64-specs        tfjs-core's specs (long)
  musl       the package, where there is nothing but musl and a Node that was built for it, and tfjs-core's specs
  musl-arm64 the same on an emulated processor, with a tenth of the specs
  cpp        the tar.gz, unpacked in two places, serves CMake and pkg-config; the Debian package has the same files
  conan      Conan builds the recipe, with the distribution's fmt and nlohmann-json, and a program uses what it made
  maven      each file that Maven Central asks for, in the jar the libraries of the platforms
  workflows  actionlint, from Go's module proxy, finds nothing in .github/workflows
  again      the same commit built again in a clone without ccache gives the same bytes (long)
"""
import argparse
import hashlib
import os
import re
import shutil
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[1] / "tools")]
import elsewhere
import recipes
from checks import DIST, ROOT, ROOTS, USER, Failure, connect, connected, expect, run
from version import version

SUITES = {"bullseye": "Debian 11", "trixie": "Debian 13"}
ACTIONLINT = "v1.7.7"
# npm's name of a platform and the jar's.
JAR_PLATFORMS = (("linux-arm64", "linux-aarch64"), ("linux-x64-musl", "linux-x86_64-musl"),
                 ("linux-arm64-musl", "linux-aarch64-musl"))
PLATFORMS = ("linux-x64", "linux-arm64", "linux-x64-musl", "linux-arm64-musl")
# What packaging/make.py puts beside ebb-tfjs-linux-x64, by the part that makes it.
NATIVE_PARTS = {"arm64": "linux-arm64", "musl": "linux-x64-musl", "cuda": "cuda-linux-x64"}

OPTIONS = argparse.Namespace()


# ---- clean roots --------------------------------------------------------------------------------


def clean_root(suite: str) -> Path:
    """A Debian with what every Debian has, and npm's Node."""
    root = ROOTS / suite
    if not (root / "ready").exists():
        shutil.rmtree(root, ignore_errors=True)
        ROOTS.mkdir(parents=True, exist_ok=True)
        run("debootstrap", "--variant=minbase", "--include=ca-certificates", suite, root)
        (root / "ready").touch()
    connect(root)
    return root


def inside(root: Path, folder: str, script: str) -> str:
    """A script of a user's, in a folder of the clean root."""
    environment = connected(HOME="/srv/user", PATH="/opt/npm/bin:/usr/bin:/bin")
    words = [f"{name}={value}" for name, value in environment.items()]
    return run("chroot", f"--userspec={USER}:{USER}", root, "env", "-i", *words, "sh", "-ec",
               f"cd {folder}\n{script}")


def prepare_user(root: Path) -> None:
    home = root / "srv/user"
    shutil.rmtree(home, ignore_errors=True)
    (home / "project").mkdir(parents=True)
    binaries = root / "opt/npm/bin"
    binaries.mkdir(exist_ok=True)
    for name, target in (("node", "../node_modules/node/bin/node"), ("npm", "../node_modules/npm/bin/npm-cli.js"),
                         ("npx", "../node_modules/npm/bin/npx-cli.js")):
        (binaries / name).unlink(missing_ok=True)
        (binaries / name).symlink_to(target)
        (binaries / name).resolve().chmod(0o755)
    shutil.copytree(DIST / "npm/linux-x64", home / "packages")
    for path in [home, *home.rglob("*")]:
        os.chown(path, USER, USER)


def first_five_minutes() -> str:
    """The commands of the document. The registry does not have the packages before they are published: the tarballs
    take the place of the name."""
    text = (ROOT / "docs/node.md").read_text()
    block = re.search(r"^## The first five minutes$.*?^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if block is None:
        raise Failure("docs/node.md has no first five minutes")
    commands = [line for line in block[1].splitlines() if line]
    expect(len(commands) == 4, f"4 commands expected, not {len(commands)}")
    return "\n".join(commands).replace("npm install ebb-tfjs", "npm install ../packages/*.tgz")


def test_five() -> str:
    seen = []
    for suite, name in SUITES.items():
        root = clean_root(suite)
        prepare_user(root)
        expect(run("chroot", root, "sh", "-c", "command -v gcc cc make python3 sudo || true") == "",
               f"{name}: the root is not clean")
        output = inside(root, "/srv/user/project", first_five_minutes())
        expect(output.rstrip().endswith("flat"), f"{name}: {output}")
        plain = inside(root, "/srv/user/project", "node careless.cjs")
        expect(plain.rstrip().endswith("growing"), f"{name}, without Ebb: {plain}")
        backend = inside(root, "/srv/user/project",
                         """node -e "const tf = require('ebb-tfjs/backend');
                         console.log(tf.getBackend(), tf.matMul(tf.ones([64, 64]), tf.ones([64, 64])).max().dataSync()[0],
                         tf.conv2d(tf.ones([1, 8, 8, 4]), tf.ones([3, 3, 4, 16]), 1, 'valid').sum().dataSync()[0])" """)
        expect(backend.rstrip().endswith("ebb 64 20736"), f"{name}, the backend: {backend}")
        seen.append(name)
    return ", ".join(seen)


# Loads the package, asks for a GPU in the way of its argument, and says what came of it and which plug-in was loaded.
ASKS_FOR_GPU = """
const tf = require('ebb-tfjs/backend');
(async () => {
  const asked = process.argv[2] === 'ask' && (await tf.setBackend('ebb-cuda'));
  const loaded = process.report.getReport().sharedObjects.some((file) => file.endsWith('libebb_cuda.so'));
  console.log('got', asked, 'loaded', loaded);
})();
"""


def test_cuda() -> str:
    """In a clean root: no GPU, no driver, neither cuBLAS nor cuDNN."""
    expect((DIST / "npm/cuda-linux-x64").exists(), "make dist made no package of the plug-in")
    root = clean_root("trixie")
    prepare_user(root)
    project = root / "srv/user/project"
    for package in (DIST / "npm/cuda-linux-x64").glob("ebb-tfjs-cuda-*.tgz"):
        shutil.copyfile(package, root / "srv/user/packages" / package.name)
    (project / "gpu.cjs").write_text(ASKS_FOR_GPU)
    where = "/srv/user/project"
    inside(root, where, "npm install --loglevel=error @tensorflow/tfjs ../packages/*.tgz")
    unasked = inside(root, where, "node gpu.cjs")
    expect("got false loaded false" in unasked, f"loaded though nobody asked: {unasked}")
    asked = inside(root, where, "node gpu.cjs ask 2>&1")
    expect("got false loaded true" in asked and "no NVIDIA driver was found" in asked, f"asked: {asked}")
    at_start = inside(root, where, "EBB_DEVICE=cuda:0 node gpu.cjs 2>&1 || echo status $?")
    expect("status 1" in at_start and "no NVIDIA driver was found" in at_start, f"EBB_DEVICE: {at_start}")
    inside(root, where, "npm uninstall --loglevel=error ebb-tfjs-cuda-linux-x64")
    without = inside(root, where, "EBB_DEVICE=cuda:0 node gpu.cjs 2>&1 || echo status $?")
    expect("npm install ebb-tfjs-cuda-linux-x64" in without, f"without the package: {without}")
    return "says that there is no driver, or no package"


# Before a program: Node as it is where there is no native part.
ELSEWHERE = """
for (const [name, value] of [['platform', 'darwin'], ['arch', 'arm64']]) Object.defineProperty(process, name, { value });
"""


def test_absent() -> str:
    """ebb-tfjs alone, as npm installs it where no native part fits."""
    root = clean_root("trixie")
    prepare_user(root)
    (root / "srv/user/project/elsewhere.cjs").write_text(ELSEWHERE)
    where = "/srv/user/project"
    inside(root, where, f"npm install --loglevel=error --os=darwin --cpu=arm64 @tensorflow/tfjs "
                        f"../packages/ebb-tfjs-{version()}.tgz\ncp node_modules/ebb-tfjs/examples/careless.cjs .")
    installed = inside(root, where, "ls node_modules").split()
    expect("ebb-tfjs" in installed and not any(name.startswith("ebb-tfjs-") for name in installed), str(installed))
    there = "node --require ./elsewhere.cjs"
    output = inside(root, where, f"{there} --import ebb-tfjs/auto careless.cjs 2>&1")
    expect(output.count("Nothing is reclaimed: there is no native part for darwin-arm64") == 1
           and "\ngrowing\n" in output, f"auto: {output}")  # a warning comes when the program lets Node turn
    for name in ("ebb-tfjs/backend", "ebb-tfjs"):
        thrown = inside(root, where, f"{there} -e \"require('{name}').reclaim.on()\" 2>&1 || echo status $?")
        expect("status 1" in thrown and all(platform in thrown for platform in PLATFORMS), f"{name}: {thrown}")
    omitted = inside(root, where, "node -e \"require('ebb-tfjs/backend')\" 2>&1 || echo status $?")
    expect("status 1" in omitted and "ebb-tfjs-linux-x64 is not installed" in omitted, f"without pretending: {omitted}")
    return "the program runs, told once; the backend throws, naming the platforms"


# ---- the rest -----------------------------------------------------------------------------------


def test_sums() -> str:
    lines = (DIST / "SHA256SUMS").read_text().splitlines()
    for line in lines:
        digest, name = line.split("  ", 1)
        expect(hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest, f"{name} is not what it was")
    present = {str(path.relative_to(DIST)) for part in ("npm", "cpp", "maven")
               for path in (DIST / part).rglob("*") if path.is_file()}
    expect(present <= {line.split("  ", 1)[1] for line in lines}, "a file has no sum")
    return f"{len(lines)} files"


def test_symbols() -> str:
    with tempfile.TemporaryDirectory() as folder:
        for archive in [*DIST.glob("npm/*/*-linux-*.tgz"), *DIST.glob("cpp/*.tar.gz")]:
            libc = "musl" if "-musl-" in archive.name else "glibc"
            with tarfile.open(archive) as opened:
                opened.extractall(Path(folder) / libc / archive.name, filter="tar")
        for jar in DIST.glob("maven/**/ebb-djl-*[0-9].jar"):
            with zipfile.ZipFile(jar) as opened:
                for name in opened.namelist():
                    opened.extract(name, Path(folder) / ("musl" if "-musl/" in name else "glibc") / jar.name)
        told = [run(sys.executable, ROOT / "tools/check_symbols.py", "--libc", libc.name, libc).strip().splitlines()[-1]
                for libc in sorted(Path(folder).iterdir())]
        return "; ".join(told)


def test_cpp() -> str:
    archive = DIST / f"cpp/ebb-{version()}-linux-x86_64.tar.gz"
    with tempfile.TemporaryDirectory() as folder:
        for place in ("here", "there/deeper"):
            with tarfile.open(archive) as opened:
                opened.extractall(Path(folder) / place, filter="tar")
            prefix = Path(folder) / place / archive.name.removesuffix(".tar.gz")
            use_prefix(prefix, Path(folder) / place / "consumer")
            shutil.rmtree(prefix)  # whoever still looks here fails in the other place
        package = next((DIST / "cpp").glob("*.deb"))
        run("dpkg-deb", "--extract", package, Path(folder) / "deb")
        expect((Path(folder) / "deb/usr/lib/libebb.so").exists(), "the package has no libebb.so")
        use_prefix(Path(folder) / "deb/usr", Path(folder) / "deb/consumer")
    return "tar.gz in two places, .deb"


def use_prefix(prefix: Path, consumer: Path) -> None:
    run("cmake", "-S", ROOT / "tests/install", "-B", consumer, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", consumer)
    run(consumer / "consumer")
    flags = run("pkg-config", "--cflags", "--libs", "ebb",
                env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()
    run("g++", ROOT / "tests/install/main.cpp", *flags, "-o", consumer / "by_pkg_config")
    run(consumer / "by_pkg_config")


def test_maven() -> str:
    folder = DIST / "maven/dev/ebb/ebb-djl" / version()
    name = f"ebb-djl-{version()}"
    expect({path.name for path in folder.iterdir()}
           == {f"{name}.jar", f"{name}-sources.jar", f"{name}-javadoc.jar", f"{name}.pom"}, "other files than Central's")
    pom = (folder / f"{name}.pom").read_text()
    for part in ("name", "description", "url", "licenses", "developers", "scm"):
        expect(f"<{part}>" in pom, f"the pom has no <{part}>")
    with zipfile.ZipFile(folder / f"{name}.jar") as jar:
        for platform in ("linux-x86_64", *(name for part, name in JAR_PLATFORMS if (DIST / "npm" / part).exists())):
            for file in ("libebb_jni.so", "ebb"):
                expect(f"dev/ebb/djl/native/{platform}/{file}" in jar.namelist(), f"the jar has no {file} for {platform}")
        for terms in ("LICENSE", "licenses/fmt.txt", "licenses/byte-buddy.txt"):
            expect(f"META-INF/{terms}" in jar.namelist(), f"the jar has no {terms}")
    return "jar, sources, javadoc, pom"


def test_workflows() -> str:
    expect(shutil.which("go") is not None, "Go is needed, to run actionlint")
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    run("go", "run", f"github.com/rhysd/actionlint/cmd/actionlint@{ACTIONLINT}", "-shellcheck=", "-pyflakes=", *files,
        cwd=tempfile.gettempdir())
    return f"{len(files)} files"


def test_again() -> str:
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        clone = Path(folder) / "clone"
        run("git", "clone", "--quiet", ROOT, clone)
        shutil.copytree(ROOT / "build/tools", clone / "build/tools", symlinks=True)
        parts = OPTIONS.parts or parts_there()
        cache = {} if OPTIONS.ccache else {"CCACHE_DISABLE": "1"}
        run(sys.executable, clone / "packaging/make.py", "--only", *parts, env={**os.environ, **cache})
        first = set((DIST / "SHA256SUMS").read_text().splitlines())
        again = set((clone / "dist/SHA256SUMS").read_text().splitlines())
    if OPTIONS.parts:  # the SBOM is of everything that was made
        again = {line for line in again if not line.endswith("  ebb.spdx.json")}
    differing = again - first if OPTIONS.parts else again ^ first
    expect(bool(again) and not differing, "different: " + ", ".join(sorted({line.split()[1] for line in differing})))
    return f"{len(again)} of {len(first)} files" + (", compiled with ccache" if OPTIONS.ccache else "")


def parts_there() -> list[str]:
    parts = [part for part in ("npm", "cpp", "maven") if (DIST / part).exists()]
    return parts + [part for part, platform in NATIVE_PARTS.items() if (DIST / "npm" / platform).exists()]


TESTS = {"sums": test_sums, "symbols": test_symbols, "five": test_five, "absent": test_absent, "cuda": test_cuda,
         "arm64": elsewhere.test_arm64, "arm64-suites": elsewhere.test_arm64_suites,
         "arm64-conformance": elsewhere.test_arm64_conformance, "arm64-specs": elsewhere.test_arm64_specs,
         "musl": elsewhere.test_musl, "musl-arm64": elsewhere.test_musl_arm64, "cpp": test_cpp,
         "conan": recipes.test_conan, "maven": test_maven, "workflows": test_workflows, "again": test_again}


def minutes_since(began: float) -> str:
    return f"{(time.monotonic() - began) / 60:.1f} min"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=TESTS, default=list(TESTS))
    parser.add_argument("--ccache", action="store_true", help="again: link and pack again, but compile with ccache")
    parser.add_argument("--parts", nargs="+", help="again: these parts of make dist alone (maven with those whose files the jar has)")
    parser.parse_args(arguments, OPTIONS)
    failed = []
    for name in OPTIONS.only:
        began = time.monotonic()
        try:
            told = TESTS[name]()
            print(f"ok {name} ({minutes_since(began)}): {told}", flush=True)
        except (Failure, OSError) as failure:
            failed.append(name)
            print(f"not ok {name} ({minutes_since(began)}): {failure}", flush=True)
    left_out = [name for name in TESTS if name not in OPTIONS.only]
    print(f"dist-test: {len(OPTIONS.only)} of {len(TESTS)} stages, {len(failed)} failed"
          + (f"; not run: {', '.join(left_out)}" if left_out else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
