"""One partition into families: rows, functions, meanings, kernels and TypeScript have the same stems."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = ROOT / "include/ebb/ops/rows"
FAMILY = re.compile(r'^    \{"(\w+)", ".*", detail::k\w+Rows\},$', re.MULTILINE)
FAMILIES = FAMILY.findall((ROOT / "include/ebb/ops/rows.hpp").read_text(encoding="utf-8"))
NAME = re.compile(r'^    \{\d+, "(\w+)"', re.MULTILINE)
FAMILY_OF = {name: path.stem for path in ROWS.glob("*.hpp")
             for name in NAME.findall(path.read_text(encoding="utf-8"))}
SET = re.compile(r'\.set\((?:ops::)?op_id\("(\w+)"\)')
CUDA = re.compile(r"EBB_CUDA_KERNEL\((\w+),")


def family_of(path: Path) -> str:
    """The family whose name a file's begins with; empty for what families share."""
    stem = path.name.split(".")[0].removesuffix("-inl")
    return next((each for each in FAMILIES if stem == each or stem.startswith(each + "_")), "")


class Families(unittest.TestCase):
    def test_rows_and_functions_are_a_file_each(self):
        self.assertGreater(len(FAMILIES), 10)
        for folder in ("rows", "functions"):
            stems = {path.stem for path in (ROOT / "include/ebb/ops" / folder).glob("*.hpp")}
            self.assertEqual(stems, set(FAMILIES))

    def test_each_has_a_file_of_meanings(self):
        for family in FAMILIES:
            self.assertTrue((ROOT / f"src/ops/{family}.cpp").is_file(), family)

    def assert_registered_at_home(self, folder: str, pattern: re.Pattern) -> None:
        found = 0
        for path in sorted((ROOT / folder).iterdir()):
            for name in pattern.findall(path.read_text(encoding="utf-8")):
                found += 1
                self.assertEqual(FAMILY_OF[name], family_of(path), f"{name} in {path.name}")
        self.assertGreater(found, 80)

    def test_meanings_are_at_home(self):
        files = [path for path in (ROOT / "src/ops").glob("*.cpp")]
        for path in files:
            for name in SET.findall(path.read_text(encoding="utf-8")):
                self.assertEqual(FAMILY_OF[name], family_of(path), f"{name} in {path.name}")

    def test_kernels_are_at_home(self):
        self.assert_registered_at_home("src/backends/cpu/kernels", SET)
        self.assert_registered_at_home("src/backends/cuda/plugin/kernels", CUDA)

    def test_typescript_has_the_same_files(self):
        folder = ROOT / "hosts/tfjs/src/backend/kernels"
        for family in FAMILIES:
            text = (folder / f"{family}.ts").read_text(encoding="utf-8")
            for name in re.findall(r"^  (\w+): (?:many[Oo]p|op)\(", text, re.MULTILINE):
                self.assertEqual(FAMILY_OF[name], family, f"{name} in {family}.ts")


if __name__ == "__main__":
    unittest.main()
