#!/usr/bin/env python3
"""`make dist`: everything that is published, into dist/. packaging/make.py [--out FOLDER] [--only npm cpp maven arm64 ...]

  npm/<platform>/   tarballs: `npm i ./*.tgz` there installs ebb-tfjs with its native part
  cpp/              a relocatable tar.gz and a Debian package
  maven/            ebb-djl as Maven Central asks for it: jar, sources, javadoc, pom
  arm64, musl and cuda are parts of npm/; the first two of the jar too
  LICENSES/  ebb.spdx.json  RELEASE_NOTES.md  SHA256SUMS

So that the same tree gives the same bytes (make dist-test compares two builds), files have the commit's time, archives are sorted, what is shipped is stripped.
"""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "packaging"), str(ROOT / "tools")]
import archives
import papers
from version import version

RELEASE = ROOT / "build/release"
PARTS = ("npm", "cpp", "maven", "arm64", "musl", "cuda")
# What is built for other machines, by part: npm's name of the platform, and its preset.
CROSS = {"arm64": {"linux-arm64": "arm64"}, "musl": {"linux-x64-musl": "musl", "linux-arm64-musl": "musl-arm64"}}
EVERY_GPU = "75;80;86;89;90"


def epoch() -> int:
    """The time of what is packed: the commit's, or SOURCE_DATE_EPOCH."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    return int(told.stdout)


def run(*command, **more) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch())}
    print(f"dist: {' '.join(map(str, command))}", flush=True)
    subprocess.run([str(word) for word in command], cwd=ROOT, check=True, env=environment,
                   stdout=subprocess.DEVNULL, **more)


def install(tree: Path, prefix: Path, *options: str) -> Path:
    shutil.rmtree(prefix, ignore_errors=True)
    run("cmake", "--install", tree, "--prefix", prefix, "--strip", *options)
    return prefix


def check_symbols(place: Path, libc: str = "glibc") -> None:
    run(sys.executable, "tools/check_symbols.py", "--libc", libc, place)


def make_npm(out: Path, stage: Path, parts: list[str]) -> None:
    run("tools/build_node.sh")
    run("tools/install_deps.sh", "wasm")
    run("tools/build_web.sh")
    natives = {"linux-x64": install(RELEASE, stage / "node", "--component", "node")}
    for platform, preset in presets(parts).items():
        natives[platform] = install(ROOT / "build" / preset, stage / platform, "--component", "node")
    if "cuda" in parts:
        natives["cuda-linux-x64"] = install(ROOT / "build/cuda", stage / "cuda", "--component", "plugin")
    for name, native in natives.items():
        check_symbols(native, libc_of(name))
    node = subprocess.run([ROOT / "tools/ensure_node.sh"], check=True, capture_output=True, text=True).stdout.strip()
    run(Path(node) / "node", "hosts/tfjs/scripts/pack.mjs", out / "npm",
        *(f"{name}={folder}" for name, folder in natives.items()))


def presets(parts: list[str]) -> dict[str, str]:
    """By platform, those of other machines."""
    return {platform: preset for part in CROSS if part in parts for platform, preset in CROSS[part].items()}


def libc_of(platform: str) -> str:
    return "musl" if platform.endswith("-musl") else "glibc"


def make_cross(preset: str) -> None:
    """What is native, for another machine: the preset's toolchain file fetches its compiler and libraries."""
    run("tools/build_node.sh", "install")  # Node's headers
    run("cmake", "--preset", preset, "--log-level=WARNING")
    run("cmake", "--build", "--preset", preset, "--target", "ebb_node", "ebb_tool", "ebb_jni")


def make_cuda() -> None:
    """The plug-in, for every GPU from Turing on: code for those to Hopper, PTX for newer ones."""
    run("cmake", "--preset", "cuda", f"-DEBB_CUDA_ARCHITECTURES={EVERY_GPU}")
    run("cmake", "--build", "--preset", "cuda", "--target", "ebb_cuda")


def make_cpp(out: Path, stage: Path) -> None:
    run("cmake", "--preset", "release", "--log-level=WARNING")
    run("cmake", "--build", "--preset", "release", "--target", "ebb")
    name = f"ebb-{version()}-linux-x86_64"
    prefix = install(RELEASE, stage / "cpp" / name)
    check_symbols(prefix)
    papers.copy_terms("cpp", prefix / "share/doc/ebb")
    (out / "cpp").mkdir(parents=True, exist_ok=True)
    archives.write_tar(out / "cpp" / f"{name}.tar.gz", prefix, name, epoch())
    archives.write_deb(out / "cpp" / f"libebb-dev_{version()}_amd64.deb", prefix, stage / "deb", version(), epoch())


def make_maven(out: Path, stage: Path, parts: list[str]) -> None:
    """What `mvn deploy` would sign and send: laid out as in a repository."""
    run("cmake", "--preset", "release", "--log-level=WARNING", "-DEBB_BUILD_JVM=ON")
    run("cmake", "--build", "--preset", "release", "--target", "ebb_jni")
    natives = stage / "jni"
    shutil.rmtree(natives, ignore_errors=True)
    for platform, preset in {"linux-x64": "release", **presets(parts)}.items():
        check_symbols(ROOT / "build" / preset / "native", libc_of(platform))
        shutil.copytree(ROOT / "build" / preset / "native", natives, dirs_exist_ok=True)
    run("mvn", "-B", "-q", "-Dstyle.color=never", "-f", "hosts/djl/pom.xml", "-Dmaven.test.skip=true", "-Ppublish",
        f"-Debb.native={natives}", "clean", "package")
    place = out / "maven/dev/ebb/ebb-djl" / version()
    place.mkdir(parents=True, exist_ok=True)
    for kind in ("", "-sources", "-javadoc"):
        jar = ROOT / f"hosts/djl/target/ebb-djl-{version()}{kind}.jar"
        terms = None if kind else papers.terms(papers.jar_parts(jar))
        archives.copy_jar(jar, place / jar.name, epoch(), terms)
    shutil.copyfile(ROOT / "hosts/djl/target/pom.xml", place / f"ebb-djl-{version()}.pom")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    chosen = parser.parse_args(arguments)
    out, stage = chosen.out.resolve(), ROOT / "build/dist-stage"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if "cuda" in chosen.only:
        make_cuda()
    for preset in presets(chosen.only).values():
        make_cross(preset)
    if "npm" in chosen.only:
        make_npm(out, stage, chosen.only)
    if "cpp" in chosen.only:
        make_cpp(out, stage)
    if "maven" in chosen.only:
        make_maven(out, stage, chosen.only)
    papers.write(out, version(), epoch())
    print(f"dist: {len(list(out.rglob('*')))} entries in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
