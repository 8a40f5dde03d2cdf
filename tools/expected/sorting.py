"""Sorting, searching, and what is there once."""
import numpy as np


def top_k(cases):
    for dtype in ("float32", "int32", "float64", "uint8"):
        x = cases.values((3, 17), dtype, 0, 9)
        for k in (0, 1, 5, 17):
            order = np.stack([sorted(range(17), key=lambda i: (-float(row[i]), i))[:k]
                              for row in x]).astype(np.int32).reshape(3, k)
            values = np.stack([row[o] for row, o in zip(x, order)]).reshape(3, k).astype(x.dtype)
            cases.add("TopK", [x], [values, order], [k, 1])
    x = np.array([np.nan, 1, np.inf, -np.inf, 1], np.float32)
    cases.add("TopK", [x], [x[[2, 1, 4, 3, 0]], np.array([2, 1, 4, 3, 0], np.int32)], [5, 1])


def unique(cases):
    x = np.array([3, 1, 3, 0, -0.0, 1, 7], np.float32)
    cases.add("Unique", [x], [np.array([3, 1, 0, 7], np.float32),
                              np.array([0, 1, 0, 2, 2, 1, 3], np.int32)], [0])
    y = np.array([[1, 0, 1, 2], [3, 0, 3, 2]], np.int32)
    cases.add("Unique", [y], [y[:, [0, 1, 3]], np.array([0, 1, 0, 2], np.int32)], [1])
    rows = np.array([[1, 2], [3, 4], [1, 2]], np.int32)
    cases.add("Unique", [rows], [rows[:2], np.array([0, 1, 0], np.int32)], [0])
    deep = np.stack([rows, rows], 2)
    cases.add("Unique", [deep], [deep[:2], np.array([0, 1, 0], np.int32)], [0])
    cases.add("Unique", [np.zeros((0,), np.int32)],
              [np.zeros((0,), np.int32), np.zeros((0,), np.int32)], [0])


def search(cases):
    for dtype in ("float32", "int32"):
        sequence = np.sort(cases.values((3, 11), dtype, 0, 9), axis=1)
        values = cases.values((3, 5), dtype, 0, 9)
        for side, name in (("left", "LowerBound"), ("right", "UpperBound")):
            found = np.stack([np.searchsorted(s, v, side) for s, v in zip(sequence, values)])
            cases.add(name, [sequence, values], found.astype(np.int32))
            cases.add("SearchSorted", [sequence, values], found.astype(np.int32),
                      [int(side == "right")])


def add_cases(cases):
    top_k(cases)
    unique(cases)
    search(cases)
