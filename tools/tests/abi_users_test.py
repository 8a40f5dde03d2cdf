"""Each function of ebb.h has a user: a host, a backend, the tool, an example, or a document that shows its use."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ("hosts/*/addon/*", "hosts/*/native/*", "examples/**/*", "cli/*", "src/backends/**/*")


def functions() -> set[str]:
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "include/ebb.h").read_text(), flags=re.DOTALL)
    return set(re.findall(r"^EBB_API [^;]*?\b(ebb_\w+)\(", header, re.MULTILINE))


def words(pattern: str) -> set[str]:
    files = (path for path in ROOT.glob(pattern) if path.suffix in (".c", ".cc", ".cpp", ".hpp", ".h", ".cu"))
    return {word for path in files for word in re.findall(r"\bebb_\w+", path.read_text())}


class Users(unittest.TestCase):
    def test_no_function_is_without_one(self):
        found = functions()
        self.assertGreater(len(found), 50)
        used = set().union(*map(words, SOURCES))
        self.assertEqual(sorted(found - used), [])


if __name__ == "__main__":
    unittest.main()
