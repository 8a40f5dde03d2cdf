"""Gathers and scatters."""
import numpy as np


def gathers(cases):
    for dtype in ("float32", "int32", "bool", "complex64", "float16"):
        x = cases.values((5, 6, 3), dtype)
        i = np.array([[4, 0, 2], [1, 1, 3]], np.int32)
        cases.add("GatherV2", [x, i], np.take(x, i, 0), [0, 0])
        cases.add("GatherV2", [x, i], np.take(x, i, 1), [1, 0])
        cases.add("GatherV2", [x, np.int32(1)], x[:, :, 1], [-1, 0])
        rows = np.array([[5, 0], [1, 2], [3, 3], [4, 0], [2, 1]], np.int32)
        batched = np.stack([x[b][rows[b]] for b in range(5)])
        cases.add("GatherV2", [x, rows], batched, [1, 1])
        nd = np.array([[0, 5], [4, 1], [2, 2]], np.int32)
        cases.add("GatherNd", [x, nd], x[nd[:, 0], nd[:, 1]])
        full = np.array([[[0, 5, 2]], [[4, 1, 0]]], np.int32)
        cases.add("GatherNd", [x, full], x[full[..., 0], full[..., 1], full[..., 2]])
    cases.add("GatherV2", [cases.values((4, 0)), np.array([1, 3], np.int32)],
              np.zeros((2, 0), np.float32), [0, 0])
    cases.add("GatherV2", [cases.values((4, 2)), np.zeros((0,), np.int32)],
              np.zeros((0, 2), np.float32), [0, 0])


def scatters(cases):
    i = np.array([[1], [3], [1]], np.int32)
    for dtype in ("float32", "int32", "complex64", "float64"):
        updates = cases.values((3, 4), dtype)
        expected = np.zeros((5, 4), updates.dtype)
        np.add.at(expected, i[:, 0], updates)
        cases.add("ScatterNd", [i, updates], expected, [[5, 4]])
        base = cases.values((5, 4), dtype)
        changed = base.copy()
        for row, update in zip(i[:, 0], updates):
            changed[row] = update
        cases.add("TensorScatterUpdate", [base, i, updates], changed)
    pairs = np.array([[0, 1], [2, 2]], np.int32)
    values = np.array([7, 8], np.float32)
    dense = np.full((3, 4), -1, np.float32)
    dense[0, 1], dense[2, 2] = 7, 8
    cases.add("SparseToDense", [pairs, values, np.float32(-1)], dense, [[3, 4]])
    line = np.full((6,), 2, np.int32)
    line[[1, 4]] = 9
    cases.add("SparseToDense", [np.array([1, 4], np.int32), np.int32(9), np.int32(2)], line, [[6]])
    one = np.zeros((6,), np.int32)
    one[3] = 5
    cases.add("SparseToDense", [np.int32(3), np.int32(5), np.int32(0)], one, [[6]])


def where(cases):
    for shape in ((7,), (3, 4), (2, 3, 4), (0,)):
        condition = cases.values(shape, "bool")
        cases.add("Where", [condition], np.argwhere(condition).astype(np.int32))


def add_cases(cases):
    gathers(cases)
    scatters(cases)
    where(cases)
