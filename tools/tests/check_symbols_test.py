import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import check_symbols


def compiled(folder: Path, name: str, source: str, *flags: str) -> Path:
    library = folder / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", *flags,
                    "-o", str(library)], input=source,
                   text=True, check=True)
    return library


class Versions(unittest.TestCase):
    def test_numbers_are_compared_as_numbers(self):
        self.assertFalse(check_symbols.too_new("GLIBC_2.4"))
        self.assertFalse(check_symbols.too_new("GLIBC_2.31"))
        self.assertTrue(check_symbols.too_new("GLIBC_2.32"))
        self.assertTrue(check_symbols.too_new("GLIBCXX_3.4.30"))
        self.assertFalse(check_symbols.too_new("GLIBCXX_3.4.9"))

    def test_what_nobody_knows_is_too_new(self):
        for version in ("GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "LIBFOO_1.0"):
            self.assertTrue(check_symbols.too_new(version), version)

    def test_what_a_file_defines_is_not_what_it_needs(self):
        text = """Version definition section '.gnu.version_d':
  0x1c: Rev: 1  Flags: none  Index: 2  Cnt: 1  Name: GLIBC_2.99

Version needs section '.gnu.version_r':
  0x10:   Name: GLIBC_2.14  Flags: none  Version: 3
"""
        self.assertEqual(check_symbols.versions_needed(text), {"GLIBC_2.14"})


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_an_old_function_passes(self):
        library = compiled(self.folder, "old.so", "#include <stdlib.h>\nvoid* f() { return malloc(1); }")
        self.assertEqual(check_symbols.faults(library), [])
        self.assertEqual(check_symbols.main([str(self.folder)]), 0)

    def test_arc4random_is_too_new(self):
        library = compiled(self.folder, "new.so", "extern unsigned arc4random(void);\nunsigned f() { return arc4random(); }")
        self.assertEqual(check_symbols.faults(library), ["needs GLIBC_2.36"])
        self.assertEqual(check_symbols.main([str(library)]), 1)

    def test_a_library_has_to_lie_beside(self):
        inner = compiled(self.folder, "libinner.so.1", "int inner(void) { return 1; }", "-Wl,-soname,libinner.so.1")
        outer = compiled(self.folder, "outer.so", "int inner(void);\nint f() { return inner(); }", str(inner))
        self.assertEqual(check_symbols.faults(outer), [])
        inner.unlink()
        self.assertIn("needs libinner.so.1, which is not beside it", check_symbols.faults(outer))

    def test_a_symbol_that_nobody_has(self):
        library = compiled(self.folder, "addon.so", "void napi_x(void);\nvoid gone(void);\nvoid f() { napi_x(); gone(); }")
        self.assertEqual(check_symbols.faults(library), ["needs gone, which nothing there has"])

    def test_a_path_of_this_machine(self):
        library = compiled(self.folder, "path.so", "int x;", "-Wl,-rpath,$ORIGIN:/opt/build")
        self.assertEqual(check_symbols.faults(library), ["looks for libraries in /opt/build"])

    def test_glibc_is_nothing_for_musl(self):
        library = compiled(self.folder, "old.so", "#include <stdlib.h>\nvoid* f() { return malloc(1); }")
        self.assertTrue(any("GLIBC" in fault for fault in check_symbols.faults(library, "musl")))

    def test_names_of_cplusplus_are_not_musls(self):
        library = compiled(self.folder, "mixed.so", "void _Z4gonev(void);\nvoid sin_(void);\nvoid f() { _Z4gonev(); sin_(); }")
        faults = check_symbols.faults(library, "musl")
        self.assertIn("needs _Z4gonev, which nothing there has", faults)
        self.assertFalse(any("sin_" in fault for fault in faults))

    def test_nothing_to_check_is_a_failure(self):
        (self.folder / "text").write_text("no library")
        self.assertEqual(check_symbols.main([str(self.folder)]), 1)


if __name__ == "__main__":
    unittest.main()
