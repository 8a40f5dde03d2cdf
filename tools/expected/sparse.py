"""Sparse tensors: what their dense counterparts say."""
import numpy as np


def fill_empty_rows(indices, values, shape, default):
    rows = [[] for _ in range(shape[0])]
    for i, index in enumerate(indices):
        rows[index[0]].append((tuple(index), values[i], i))
    out, empty = [], []
    reverse = np.zeros(len(indices), np.int32)
    for row, entries in enumerate(rows):
        empty.append(not entries)
        for index, value, i in entries or [((row,) + (0,) * (len(shape) - 1), default, None)]:
            if i is not None:
                reverse[i] = len(out)
            out.append((index, value))
    return [np.array([each[0] for each in out], np.int32).reshape(len(out), len(shape)),
            np.array([each[1] for each in out], values.dtype), np.array(empty, np.bool_), reverse]


def fill_cases(cases):
    for dtype in ("float32", "int32", "bool", "complex64"):
        for count, shape in [(0, (4, 3)), (5, (3, 4)), (9, (7, 2, 3)), (3, (1,)), (0, (0, 3))]:
            cells = cases.random.integers(0, max(1, int(np.prod(shape))), count)
            indices = np.stack(np.unravel_index(cells, tuple(max(d, 1) for d in shape)), 1)
            indices = indices.astype(np.int32).reshape(count, len(shape))
            values, default = cases.values((count,), dtype), cases.values((), dtype)
            cases.add("SparseFillEmptyRows", [indices, values, np.array(shape, np.int32), default],
                      fill_empty_rows(indices, values, shape, default))


def reshape_cases(cases):
    for old, new in [((6,), (2, 3)), ((2, 3), (-1,)), ((4, 3, 2), (2, -1, 3)), ((2, 3), (6, 1, 1)),
                     ((1, 1), ()), ((0, 3), (3, 0)), ((0, 3), (-1, 3)), ((70000, 70000), (-1, 7))]:
        total = int(np.prod(np.array(old, np.int64)))
        count = 5 if total > 5 else (1 if total else 0)
        flat = np.sort(cases.random.choice(min(total, 10**6), count, replace=False)) if count else \
            np.zeros(0, np.int64)
        flat = flat * (total // 10**6) if total > 10**6 else flat
        known = int(np.prod([d for d in new if d >= 0], dtype=np.int64))
        full = tuple(total // known if d < 0 else d for d in new)
        before = np.array([np.unravel_index(i, old) for i in flat], np.int32).reshape(count, len(old))
        after = np.array([np.unravel_index(i, full) if full else () for i in flat], np.int32)
        cases.add("SparseReshape", [before, np.array(old, np.int32), np.array(new, np.int32)],
                  [after.reshape(count, len(new)), np.array(full, np.int32)])


def segment_cases(cases):
    for dtype in ("float32", "int32", "float64", "int64"):
        for shape, ids in [((5,), [0, 0, 1]), ((5, 3), [0, 2, 2, 5]), ((4, 2, 2), [1]), ((3, 2), []),
                           ((6, 0), [0, 1])]:
            data = cases.values(shape, dtype)
            ids = np.array(ids, np.int32)
            indices = cases.random.integers(0, shape[0], len(ids)).astype(np.int32)
            rows = int(ids[-1]) + 1 if len(ids) else 0
            total, count = np.zeros((rows, *shape[1:]), np.float64), np.zeros(rows)
            for index, segment in zip(indices, ids):
                total[segment] += data[index]
                count[segment] += 1
            mean = total / np.maximum(count, 1).reshape((rows,) + (1,) * (len(shape) - 1))
            cases.add("SparseSegmentSum", [data, indices, ids], total.astype(dtype))
            cases.add("SparseSegmentMean", [data, indices, ids], np.trunc(mean).astype(dtype)
                      if dtype.startswith("int") else mean.astype(dtype))


def add_cases(cases):
    fill_cases(cases)
    reshape_cases(cases)
    segment_cases(cases)
