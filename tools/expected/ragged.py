"""Ragged tensors, as Python's nested lists."""
import numpy as np


def splits_of(rows):
    return np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32)


def flat(rows):
    return [each for row in rows for each in row]


def random_rows(cases, depth, most=4):
    """Nested lists, `depth` ragged levels deep; the innermost are value numbers."""
    counter = iter(range(10**6))

    def row(level):
        count = int(cases.random.integers(0, most))
        return [next(counter) if level == 0 else row(level - 1) for _ in range(count)]
    return [row(depth - 1) for _ in range(3)]


def levels(rows, depth):
    """The splits of each level, and the innermost values."""
    splits = []
    for _ in range(depth):
        splits.append(splits_of(rows))
        rows = flat(rows)
    return splits, rows


def gathered(rows, indices):
    if indices.ndim == 0:
        return rows[int(indices)]
    return [gathered(rows, each) for each in indices]


def gather_cases(cases):
    for depth in (1, 2, 3):
        for shape in [(), (0,), (4,), (2, 3)]:
            rows = random_rows(cases, depth)
            splits, numbers = levels(rows, depth)
            for tail in [(), (2,)]:
                values = cases.values((len(numbers), *tail))
                indices = cases.random.integers(0, 3, shape).astype(np.int32)
                rank = depth + len(shape) - 1
                out_splits, out_numbers = levels(gathered(rows, indices), rank)
                picked = values[np.array(out_numbers, np.int64)]
                cases.add("RaggedGather", [*splits, values, indices], [*out_splits, picked], [rank])


def range_cases(cases):
    for dtype in ("float32", "int32", "float64"):
        for starts, limits, deltas in [(0, 5, 1), ([0, 5, 8], [8, 7, 8], 1), ([3, 0], [0, 3], [-1, 1]),
                                       ([0, 0], 10, [3, 4]), (5, 2, 1), ([], 3, 1)]:
            given = [np.array(each, dtype) for each in (starts, limits, deltas)]
            rows = [np.arange(*map(float, each)) for each in zip(*(
                each.ravel() for each in np.broadcast_arrays(*given)))]
            cases.add("RaggedRange", given, [splits_of(rows), np.array(flat(rows), dtype)])
    half = [np.array(each, np.float32) for each in (0.0, 2.2, 0.5)]
    cases.add("RaggedRange", half, [np.array([0, 5], np.int32),
                                    np.array([0, 0.5, 1, 1.5, 2], np.float32)])


def dense(rows, shape, values, default):
    """A full array of the default, with the rows that fit put in."""
    out = np.empty((*shape, *values.shape[1:]), values.dtype)
    out[...] = default

    def put(at, row):
        for i, each in enumerate(row[:shape[len(at)]]):
            if isinstance(each, list):
                put(at + (i,), each)
            else:
                out[at + (i,)] = values[each]
    put((), rows)
    return out


def widths(rows, depth):
    found = [len(rows)]
    for _ in range(depth):
        found.append(max((len(row) for row in rows), default=0))
        rows = flat(rows)
    return found


def to_dense_cases(cases):
    for depth in (1, 2, 3):
        for tail in [(), (2,)]:
            for cut in (False, True):
                rows = random_rows(cases, depth)
                splits, numbers = levels(rows, depth)
                values, default = cases.values((len(numbers), *tail)), cases.values(())
                natural = widths(rows, depth)
                shape = [2] * (depth + 1) if cut else natural
                wanted = np.array(shape + list(tail) if cut else [-1] * (depth + 1 + len(tail)), np.int32)
                expected = dense(rows, shape, values, default)
                cases.add("RaggedTensorToTensor", [wanted, values, default, *splits], expected,
                          [[2] * depth])
                count = np.array(len(rows), np.int32)
                by_ids = [np.repeat(np.arange(len(each) - 1), np.diff(each)).astype(np.int32)
                          for each in splits]
                cases.add("RaggedTensorToTensor", [wanted, values, default, count, *by_ids], expected,
                          [[0] + [1] * depth])
    values = cases.values((3, 2))
    default = np.array([7, 8], np.float32)
    cases.add("RaggedTensorToTensor",
              [np.array(-1, np.int32), values, default, np.array([0, 1, 1, 3], np.int32)],
              dense([[0], [], [1, 2]], [3, 2], values, default), [[2]], note="no shape asked for")


def add_cases(cases):
    gather_cases(cases)
    range_cases(cases)
    to_dense_cases(cases)
