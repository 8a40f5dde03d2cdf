"""What functions of ebb_core.wasm are counted under: by their names, and by the object files that have them."""
import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))

from web_core_parts import feature_of, parse, plain_name, strip_names, without  # noqa: E402


def section(kind, contents):
    return bytes([kind, len(contents)]) + contents


def text(name):
    return bytes([len(name)]) + name.encode()


def module():
    """Imports `env.f`; has functions `one` and `two` of 3 and 4 bytes, data, and their names."""
    names = bytes([2, 1]) + text("one") + bytes([2]) + text("two")
    parts = [section(2, bytes([1]) + text("env") + text("f") + bytes([0, 0])),
             section(10, bytes([2, 2, 0, 0x0B, 3, 0, 1, 0x0B])),
             section(11, bytes([0])),
             section(0, text("name") + bytes([1, len(names)]) + names)]
    return b"\0asm\1\0\0\0" + b"".join(parts)


class WebCorePartsTest(unittest.TestCase):
    def test_functions_have_their_names_and_sizes(self):
        bodies = parse(module()).bodies
        self.assertEqual([(name, end - begin) for name, begin, end in bodies], [("one", 3), ("two", 4)])

    def test_without_removes_bodies_alone(self):
        parsed = parse(module())
        spans = [(begin, end) for _, begin, end in parsed.bodies]
        self.assertEqual(len(without(parsed, spans)), len(parsed.contents) - 7)

    def test_a_page_gets_no_names(self):
        stripped = strip_names(module())
        self.assertTrue(module().startswith(stripped))
        self.assertTrue(stripped.endswith(section(11, bytes([0]))))

    def test_plain_names(self):
        self.assertEqual(plain_name("void std::sort<ebb::A<int>, int>(ebb::A<int>*)"), "std::sort")
        self.assertEqual(plain_name("ebb::Governor::plan(unsigned long) const"), "ebb::Governor::plan")

    def test_features(self):
        sources = {"ebb::Governor::plan()": "governor", "void std::sort<ebb::Site>()": "report", "page_open": "core.cc"}
        for name, feature in [("ebb::Governor::plan()", "governor and reclaim"),
                              ("byn$mgfn-shared$ebb::Governor::plan()", "governor and reclaim"),
                              ("void std::sort<ebb::Site>()", "books, reports, errors"),
                              ("void std::sort<int>()", "the C++ library"),
                              ("int fmt::v9::write<ebb::Site>()", "messages (fmt)"),
                              ("page_open", "calls from the page"), ("dlmalloc", "the C library")]:
            self.assertEqual(feature_of(name, sources), feature, name)

    def test_a_source_of_no_feature_is_an_error(self):
        with self.assertRaises(SystemExit):
            feature_of("ebb::unheard()", {"ebb::unheard()": "unheard"})


if __name__ == "__main__":
    unittest.main()
