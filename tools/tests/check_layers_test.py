"""The layer check must fail on an include against the order, and only there."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))

from check_layers import Checker  # noqa: E402

TABLE = "base:\nmemory: base\ntensor: base memory\nbackends: base\nbackends/cpu: base backends\n" \
        "capi: base memory tensor\n"


class CheckLayersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("cmake/layers.txt", TABLE)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def reasons(self, path, include):
        self.write(path, f"// first line\n#include {include}\n")
        return [(o.path, o.line, o.reason) for o in Checker(self.root).offences()]

    def assert_allowed(self, path, include):
        self.assertEqual(self.reasons(path, include), [])

    def assert_refused(self, path, include, reason):
        self.assertEqual(self.reasons(path, include), [(path, 2, reason)])

    def test_a_lower_layer_may_be_included(self):
        self.assert_allowed("src/tensor/storage.cpp", '"memory/pool.hpp"')
        self.assert_allowed("include/ebb/tensor/storage.hpp", '"ebb/memory/pool.hpp"')

    def test_the_tool_stands_on_observe(self):
        self.write("cmake/layers.txt", TABLE + "observe: base memory\n")
        self.assert_allowed("cli/report.cpp", '"observe/replay.hpp"')
        self.assert_allowed("cli/report.cpp", '"cli/frames.hpp"')
        self.assert_refused("cli/report.cpp", '"tensor/storage.hpp"', "observe may not include tensor")

    def test_nothing_stands_on_the_tool(self):
        self.assert_refused("src/memory/pool.cpp", '"cli/frames.hpp"', "src/ may not include cli/")

    def test_a_higher_layer_may_not(self):
        self.assert_refused("src/memory/pool.cpp", '"tensor/storage.hpp"',
                            "memory may not include tensor")

    def test_nor_through_its_public_header(self):
        self.assert_refused("include/ebb/memory/pool.hpp", "<ebb/tensor/storage.hpp>",
                            "memory may not include tensor")

    def test_nor_by_a_relative_path(self):
        self.write("src/tensor/storage.hpp", "")
        self.assert_refused("src/memory/pool.cpp", '"../tensor/storage.hpp"',
                            "memory may not include tensor")

    def test_nested_layers_are_told_apart(self):
        self.assert_allowed("src/backends/cpu/add.cpp", '"backends/backend.hpp"')
        self.assert_refused("src/backends/backend.hpp", '"backends/cpu/add.hpp"',
                            "backends may not include backends/cpu")

    def test_public_headers_include_no_internal_ones(self):
        self.assert_refused("include/ebb/memory/pool.hpp", '"memory/segment.hpp"',
                            "a public header may not include an internal one")

    def test_the_umbrella_includes_every_public_header(self):
        self.assert_allowed("include/ebb/ebb.hpp", '"ebb/tensor/tensor.hpp"')

    def test_the_c_header_stands_alone(self):
        self.assert_allowed("include/ebb.h", "<stdint.h>")
        self.assert_refused("include/ebb.h", '"ebb/base/error.hpp"', "ebb.h stands alone")

    def test_only_capi_includes_the_c_header(self):
        self.assert_allowed("src/capi/capi.cpp", '"ebb.h"')
        self.assert_refused("src/memory/pool.cpp", '"ebb.h"', "memory may not include capi")

    def test_hosts_see_the_c_header_only(self):
        self.assert_allowed("hosts/tfjs/addon.cpp", '"ebb.h"')
        self.assert_refused("hosts/tfjs/addon.cpp", '"ebb/memory/pool.hpp"',
                            "hosts see ebb.h and nothing else of Ebb")

    def test_nothing_includes_hosts(self):
        self.assert_refused("src/capi/capi.cpp", '"hosts/tfjs/addon.hpp"',
                            "src/ may not include hosts/")

    def test_unit_tests_stay_within_their_layer(self):
        self.assert_allowed("tests/unit/memory/pool_test.cpp", '"support/clock.hpp"')
        self.assert_refused("tests/unit/memory/pool_test.cpp", '"ebb/tensor/tensor.hpp"',
                            "memory may not include tensor")

    def test_a_folder_outside_the_table_is_no_layer(self):
        self.assert_refused("src/extra/x.cpp", '"base/y.hpp"',
                            "extra is not a layer of cmake/layers.txt")

    def test_the_headers_of_others_are_not_ours(self):
        self.assert_allowed("src/base/x.cpp", "<memory>")
        self.assert_allowed("src/base/x.cpp", "<fmt/core.h>")

    def test_the_program_prints_the_line_and_fails(self):
        self.write("src/memory/pool.cpp", '#include "tensor/storage.hpp"\n')
        command = [sys.executable, TOOLS / "check_layers.py", "--root", self.root]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/memory/pool.cpp:1:", done.stdout)


if __name__ == "__main__":
    unittest.main()
