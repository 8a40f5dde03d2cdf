"""check_arithmetic.py sees what it says it sees, and nothing else."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))
from check_arithmetic import offences_in  # noqa: E402


class CheckArithmetic(unittest.TestCase):
    def assert_bare(self, code: str, path: str = "src/ops/x.cpp", count: int = 1):
        self.assertEqual(len(offences_in(path, code)), count, code)

    def assert_fine(self, code: str, path: str = "src/ops/x.cpp"):
        self.assertEqual(offences_in(path, code), [], code)

    def test_products_and_sums_of_sizes_are_offences(self):
        self.assert_bare("dims.push_back(x.shape.dims()[i] * reps[i]);")
        self.assert_bare("whole[i + 1] *= block[i];")
        self.assert_bare("call.check(begin[i] + size[i] <= dim, text);")
        self.assert_bare("offset += begin;")
        self.assert_bare("step = a *\n       b;")
        self.assert_bare("x = static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);")
        self.assert_bare("for (const auto& piece : pieces) total += piece.bytes;")
        self.assert_bare("row = width * channels * 4;", count=2)

    def test_algorithms_that_multiply_or_add_are_offences(self):
        self.assert_bare("return std::accumulate(of, whole.end(), std::int64_t{1}, std::multiplies());", count=2)
        self.assert_fine("return std::accumulate(sums, sums + count, 0.0);", "src/backends/cpu/kernels/x.cpp")
        self.assert_fine("// arithmetic: ones and zeroes\nauto n = std::accumulate(flags.begin(), flags.end(), 0);")

    def test_literals_do_not_excuse_products(self):
        self.assert_bare("step = 2 * extent;")
        self.assert_fine("last = extent + 1;")

    def test_helpers_are_the_way(self):
        self.assert_fine("dims.push_back(checked_mul(dim, reps[i]));")
        self.assert_bare("x = checked_mul(a, b + c);")

    def test_what_is_small_is_let_be(self):
        self.assert_fine("pads.size() == 2 * windows.axes")
        self.assert_fine("x = call.input(i).shape.rank() + 1;")
        self.assert_fine("at = pads[2 * i + offset];")
        self.assert_fine("bytes = count_of(kMost * sizeof(T));")

    def test_what_is_no_arithmetic_on_sizes(self):
        self.assert_fine("Strides* next = *first;\nvoid f(const Shape& a, T* b);")
        self.assert_fine('std::string text = "[" + name;')
        self.assert_fine("end = list.data() + count;")
        self.assert_fine("hash = (hash ^ number) * prime;")
        self.assert_fine("// twice * as many\nx = y;  /* a + b */")
        self.assert_fine('fail("a * b + c");')
        self.assert_fine("auto& self = *static_cast<Packed*>(call->owner);")

    def test_a_reason_excuses_a_line(self):
        self.assert_fine("x = a * b;  // arithmetic: both are within the rank")
        self.assert_fine("// arithmetic: in floating point\nx = a *\n    b;")
        self.assert_fine("// arithmetic: a reason\n// in two lines\nx = a * b;")
        self.assert_bare("// arithmetic: a reason\nx = a * b;\ny = a * b;")
        self.assert_bare("x = a * b;  // arithmetic:")

    def test_a_reason_for_a_file(self):
        self.assert_fine("// arithmetic of this file: of tensors\nx = a * b;\ny = a * b;")

    def test_kernels_answer_for_what_they_take(self):
        for folder in ("src/backends/cpu", "src/backends/cuda/plugin/kernels"):
            path = f"{folder}/x.cpp"
            self.assert_fine("to[i * step] = from[row * width + i];\nat = row * width;", path)
            self.assert_bare("float* made = call.workspace<float>(rows * width);", path)
            self.assert_bare("call.make(dtype, Shape{rows + columns});", path)
            self.assert_bare("list.resize(rows *\n            width);", path)

    def test_the_books_may_count(self):
        path = "src/tensor/x.cpp"
        self.assert_fine("sum.books += part.books;\nstrided += record.strided();", path)
        self.assert_bare("at = of.tag + byte_offset;", path)
        self.assert_bare("bytes = count * size;", path)

    def test_the_program_prints_the_line_and_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "src/io/x.cpp"
            source.parent.mkdir(parents=True)
            source.write_text("// one\nend = begin + length;\n")
            command = [sys.executable, TOOLS / "check_arithmetic.py", "--root", folder]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("src/io/x.cpp:2: a bare begin + length", done.stdout)


if __name__ == "__main__":
    unittest.main()
