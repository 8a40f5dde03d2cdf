"""The check of the ABI fails when it should: each library below is held against the same first one."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import check_abi  # noqa: E402

HEADER = """
#include <stdint.h>
#define EBB_ABI_VERSION 4
#define EBB_MAX_RANK 6
typedef enum ebb_status { EBB_OK = 0, EBB_STALE_HANDLE = 2 } ebb_status;
typedef struct ebb_options {
  uint32_t size;
  uint32_t kind; /* = 9 */
} ebb_options;
typedef struct ebb_ended {
  uint64_t handle;
} ebb_ended;
ebb_status ebb_open(const ebb_options* options, uint32_t* device);
ebb_status ebb_end(const ebb_ended* ended, uint64_t count);
"""
SOURCE = """
#include "ebb.h"
ebb_status ebb_open(const ebb_options* options, uint32_t* device) {
  *device = options->kind;
  return EBB_OK;
}
ebb_status ebb_end(const ebb_ended* ended, uint64_t count) {
  return ended->handle == count ? EBB_OK : EBB_STALE_HANDLE;
}
"""


@unittest.skipUnless(shutil.which("abidiff"), "abigail-tools is not installed")
class CheckAbi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.first = Path(cls.folder.name)
        check_abi.record(*built(cls.first, HEADER, SOURCE), cls.first, "0.2.0")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def complaints(self, *changes):
        header, source = HEADER, SOURCE
        for old, new in changes:
            self.assertIn(old, header + source)
            header, source = header.replace(old, new), source.replace(old, new)
        with tempfile.TemporaryDirectory() as folder:
            found = check_abi.complaints(*built(Path(folder), header, source), self.first, "0.2.0")
        return "\n".join(found)

    def test_the_same(self):
        self.assertEqual(self.complaints(), "")

    def test_a_function_added(self):
        more = "ebb_status ebb_trim(uint32_t device)"
        self.assertEqual(self.complaints(
            ("ebb_status ebb_end(const ebb_ended* ended, uint64_t count);",
             f"{more};\nebb_status ebb_end(const ebb_ended* ended, uint64_t count);"),
            ("ebb_status ebb_end(const ebb_ended* ended, uint64_t count) {",
             f"{more} {{ return device ? EBB_OK : EBB_STALE_HANDLE; }}\n"
             "ebb_status ebb_end(const ebb_ended* ended, uint64_t count) {")), "")

    def test_a_field_added_to_a_sized_struct(self):
        self.assertEqual(self.complaints(("/* = 9 */", "uint64_t budget;")), "")

    def test_a_constant_added(self):
        self.assertEqual(self.complaints(("EBB_STALE_HANDLE = 2 }", "EBB_STALE_HANDLE = 2, EBB_LATE = 3 }"),
                                         ("VERSION 4", "VERSION 5")), "")

    def test_a_function_gone(self):
        self.assertIn("ebb_end", self.complaints(("ebb_end", "ebb_end_all")))

    def test_a_parameter_changed(self):
        self.assertIn("ebb_end", self.complaints(("uint64_t count", "uint32_t count")))

    def test_a_field_changed(self):
        self.assertIn("kind", self.complaints(("uint32_t kind;", "uint64_t kind;")))

    def test_a_field_put_in_between(self):
        self.assertIn("kind", self.complaints(("uint32_t kind;", "uint32_t mode, kind;")))

    def test_a_field_added_to_a_struct_without_a_size(self):
        self.assertIn("reason", self.complaints(("uint64_t handle;", "uint64_t handle, reason;")))

    def test_a_constant_changed(self):
        self.assertIn("EBB_MAX_RANK was 6, is 8", self.complaints(("RANK 6", "RANK 8")))
        self.assertIn("EBB_STALE_HANDLE was 2, is 3", self.complaints(("HANDLE = 2", "HANDLE = 3")))

    def test_a_struct_that_was_not_recorded(self):
        layouts = check_abi.Layouts(self.first / "ebb-0.2.0.abi")
        self.assertEqual(check_abi.changed_structs(layouts, layouts, ["ebb_options"]), [])
        self.assertNotEqual(check_abi.changed_structs(layouts, layouts, ["ebb_other"]), [])

    def test_the_version_only_grows(self):
        self.assertIn("EBB_ABI_VERSION", self.complaints(("VERSION 4", "VERSION 3")))

    def test_what_a_comment_says_is_no_constant(self):
        self.assertEqual(check_abi.constants_of("/* EBB_X = 3 */ enum { EBB_Y = 4 };"), {"EBB_Y": "4"})


def built(folder: Path, header: str, source: str) -> tuple[Path, Path]:
    library = folder / "libebb_abi.so"
    (folder / "ebb.h").write_text(header)
    (folder / "ebb.c").write_text(source)
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "-o", library, folder / "ebb.c"], check=True)
    return library, folder / "ebb.h"


if __name__ == "__main__":
    unittest.main()
