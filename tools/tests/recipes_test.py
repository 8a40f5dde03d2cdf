"""The recipes of packaging/: what they take along and switch off is enough to configure Ebb, where there is nothing that
only the rest of the tree needs."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OF_THE_REST = ("CLI11", "GTest", "benchmark")


def configure(source: Path, options: list[str]) -> subprocess.CompletedProcess:
    with tempfile.TemporaryDirectory() as build:
        absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON" for package in OF_THE_REST]
        return subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", *options, *absent], text=True,
                              capture_output=True, check=False)


class Recipes(unittest.TestCase):
    def test_conan(self):
        recipe = (ROOT / "packaging/conan/conanfile.py").read_text()
        patterns = re.findall(r'"([^"]+)"', re.search(r"for pattern in \((.*?)\):", recipe)[1])
        options = [f"-D{part}=OFF" for part in re.findall(r'"(\w+)"', re.search(r"for part in \((.*?)\):", recipe)[1])]
        self.assertIn("-DEBB_CPU=OFF", options)
        with tempfile.TemporaryDirectory() as folder:
            for pattern in patterns:
                name = pattern.removesuffix("/*")
                copy = shutil.copytree if pattern.endswith("/*") else shutil.copyfile
                copy(ROOT / name, Path(folder) / name)
            done = configure(Path(folder), options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_vcpkg(self):
        port = (ROOT / "packaging/vcpkg/ebb/portfile.cmake").read_text()
        options = re.findall(r"-D\w+=(?:ON|OFF)", port)
        self.assertIn("-DEBB_CPU=OFF", options)
        done = configure(ROOT, options)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
