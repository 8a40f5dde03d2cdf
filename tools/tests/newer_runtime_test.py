import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = r"""
#include <charconv>
#include <cstdio>
#include <cstring>
#include <initializer_list>
int main() {
  const char* texts[] = {"1.5", "1e3x", " 1", "+1", "-2.5e-3", "0x10", "-0x1p3", "nan", "inf", "-inf", "1e999",
                         "1e-999", "", "abc", "12e", "1.", "-", ".5", "1.5e+2z", "1\t2", "--1", "-+1", "1e5.5",
                         "0.1000000000000000055511151231257827", "179769313486231570000"};
  for (auto format : {std::chars_format::general, std::chars_format::fixed}) {
    for (const char* text : texts) {
      double value = -7;
      const auto [end, error] = std::from_chars(text, text + std::strlen(text), value, format);
      std::printf("%s: %a %d %d\n", text, value, int(end - text), int(error));
    }
  }
}
"""


class NewerRuntime(unittest.TestCase):
    def test_reads_numbers_as_the_library_does(self):
        """cmake/newer_runtime.cpp takes the place of libstdc++'s own, to the bit."""
        with tempfile.TemporaryDirectory() as folder:
            outputs = [self.output(Path(folder) / name, *more)
                       for name, *more in (("theirs",), ("ours", str(ROOT / "cmake/newer_runtime.cpp")))]
        self.assertEqual(*outputs)
        self.assertIn("1.5: 0x1.8p+0 3 0", outputs[0])

    def output(self, program: Path, *sources: str) -> str:
        subprocess.run(["g++", "-std=c++20", "-x", "c++", "-", *sources, "-o", str(program)], input=PROGRAM,
                       text=True, check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    unittest.main()
