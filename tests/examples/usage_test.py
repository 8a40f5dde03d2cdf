#!/usr/bin/env python3
"""What examples/mnist and examples/transformer say to --help, and to arguments that are wrong.

    usage_test.py build/dev/examples/mnist build/dev/examples/transformer
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MNIST, TRANSFORMER = sys.argv[1:3]


def call(program: str, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Usage(unittest.TestCase):
    def test_help(self) -> None:
        for program, arguments in ((MNIST, "FOLDER [EPOCHS [MODEL"), (TRANSFORMER, "TEXT [STEPS [MODEL")):
            for option in ("--help", "-h"):
                done = call(program, option)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(f"{Path(program).name} {arguments}", done.stdout)

    def refused(self, says: str, program: str, *arguments: object) -> None:
        done = call(program, *arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""), arguments)
        self.assertIn(says, done.stderr)
        self.assertRegex(done.stderr, rf"^{Path(program).name}: .* \({Path(program).name} --help\)\n$")

    def test_what_is_wrong_is_one_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            short, empty = Path(folder) / "short.txt", Path(folder) / "empty.txt"
            short.write_text("a short text")
            empty.write_text("")
            self.refused("tools/mnist_data.sh", MNIST, folder)
            self.refused("tools/mnist_data.sh", MNIST, Path(folder) / "none")
            self.refused("EPOCHS is 'many'", MNIST, folder, "many")
            self.refused("EPOCHS is '0'", MNIST, folder, "0")
            self.refused("4 arguments", MNIST, folder, 1, "model", "more")
            self.refused("there is no --epochs", MNIST, "--epochs")
            self.refused("no TEXT was given", TRANSFORMER)
            self.refused("cannot be read", TRANSFORMER, Path(folder) / "none")
            self.refused("a directory", TRANSFORMER, folder)
            self.refused("is empty", TRANSFORMER, empty)
            self.refused("has 12 characters", TRANSFORMER, short)
            self.refused("STEPS is '1e3'", TRANSFORMER, short, "1e3")

    def test_a_file_that_is_no_idx(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for part in ("train", "t10k"):
                for kind in ("images-idx3", "labels-idx1"):
                    (Path(folder) / f"{part}-{kind}-ubyte").write_text("no numbers")
            self.refused("train-images-idx3-ubyte", MNIST, folder)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
