#!/usr/bin/env python3
"""Writes files as NumPy does, for the tests of reading and writing them: make_files.py FOLDER

Each NAME.npy has a NAME.raw beside it: its elements in C order, and nothing else. list.txt names
them, one a line, with the dtype, whether Ebb must write the same file, and the extents.
"""
import sys
from pathlib import Path

import numpy as np

DTYPES = ["float32", "int32", "bool", "complex64", "float64", "int64", "uint8", "float16", "int8"]
SHAPES = [(), (0,), (5,), (2, 3), (3, 0, 2), (1, 2, 3, 2), (100000,)]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20261115)
    lines = []
    for dtype in DTYPES:
        for shape in SHAPES:
            values = random.integers(0, 100, shape)
            for order in "CF":
                array = np.asarray(values, dtype, order=order)
                name = f"{dtype}-{'x'.join(map(str, shape))}-{order}"
                np.save(folder / f"{name}.npy", array)
                (folder / f"{name}.raw").write_bytes(array.tobytes("C"))
                same = int(array.flags.c_contiguous)
                lines.append(" ".join(map(str, [name, dtype, same, *shape])))
    (folder / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
