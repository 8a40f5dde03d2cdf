"""The Conan recipe, by Conan itself: Ebb is built from this checkout, its dependencies are the distribution's."""
import os
import shutil
import sys
import tempfile
from pathlib import Path

from checks import ROOT, expect, run
from version import version

CONAN = "conan==2.*"
# What the recipe asks for and Debian 12 has: Conan takes it as there.
PROFILE = """include(default)
[platform_requires]
fmt/9.1.0
nlohmann_json/3.11.2
"""


def conan_program() -> Path:
    folder = ROOT / "build/tools/conan"
    if not (folder / "bin/conan").exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", CONAN)
    return folder / "bin/conan"


def test_conan() -> str:
    conan = conan_program()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CONAN_HOME": f"{folder}/home"}
        run(conan, "profile", "detect", env=environment)
        profile = Path(folder) / "home/profiles/system"
        profile.write_text(PROFILE)
        run(conan, "create", ROOT / "packaging/conan", "--profile:all=system", env=environment)
        run(conan, "install", f"--requires=ebb/{version()}", "--profile:all=system", "--generator=CMakeToolchain",
            f"--output-folder={folder}/toolchain", env=environment, cwd=folder)  # it leaves presets where it runs
        consumer = Path(folder) / "consumer"
        run("cmake", "-S", ROOT / "tests/install", "-B", consumer, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_TOOLCHAIN_FILE={folder}/toolchain/conan_toolchain.cmake")
        run("cmake", "--build", consumer)
        found = (consumer / "CMakeCache.txt").read_text()
        expect(f"ebb_DIR:PATH={folder}/home" in found, "the program was built with another ebb than Conan's")
        run(consumer / "consumer")
    return "created, and used by a program"
