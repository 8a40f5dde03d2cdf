"""Counting by number, and sums of segments."""
import numpy as np


def counted(x, weights, size, binary=False):
    kept = x < size
    if binary:
        return (np.bincount(x[kept], minlength=size) > 0).astype(weights.dtype)
    used = weights[kept].astype(np.float64) if weights.size else None
    return np.bincount(x[kept], used, minlength=size).astype(weights.dtype)


def add_cases(cases):
    for dtype in ("float32", "int32", "float64", "int64", "float16"):
        for length, size in [(0, 0), (0, 4), (1, 1), (7, 3), (33, 0), (100, 9)]:
            x = cases.values((length,), "int32", 0, 8)
            none, weights = np.zeros(0, dtype), cases.values((length,), dtype)
            tolerance = (1e-5, 1e-5) if dtype != "float16" else (3e-2, 3e-2)
            for each in (none, weights):
                cases.add("Bincount", [x, each], counted(x, each, size), [size], tolerance=tolerance)
                cases.add("DenseBincount", [x, each], counted(x, each, size), [size, False],
                          tolerance=tolerance)
                cases.add("DenseBincount", [x, each], counted(x, each, size, True), [size, True])
        for rows, length, size in [(0, 3, 2), (3, 0, 2), (2, 9, 5), (4, 33, 7)]:
            x, weights = cases.values((rows, length), "int32", 0, 8), cases.values((rows, length), dtype)
            expected = np.array([counted(x[i], weights[i], size) for i in range(rows)], dtype)
            cases.add("DenseBincount", [x, weights], expected.reshape(rows, size), [size, False],
                      tolerance=(1e-5, 1e-5) if dtype != "float16" else (3e-2, 3e-2))
    for dtype in ("float32", "int32", "float64"):
        for shape, rank, segments in [((0,), 1, 3), ((5,), 1, 4), ((5, 3), 1, 4), ((2, 3, 4), 1, 2),
                                      ((2, 3, 4), 2, 5), ((6,), 1, 0), ((3, 0), 1, 2)]:
            x, ids = cases.values(shape, dtype), cases.values(shape[:rank], "int32", -1, 4)
            expected = np.zeros((segments, *shape[rank:]), np.float64)
            for at in np.ndindex(*shape[:rank]):
                if 0 <= ids[at] < segments:
                    expected[ids[at]] += x[at]
            cases.add("UnsortedSegmentSum", [x, ids], expected.astype(dtype), [segments],
                      tolerance=(1e-5, 1e-5))
