"""TopK, Unique, and the place of a value in a sorted row."""
import numpy as np

from .case import DTYPES

REAL = ["float32", "int32", "bool", "float64", "int64", "uint8", "float16", "int8"]


def top_k(x, k):
    """The largest first, ties by the smaller index; NaN is the largest."""
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")
    nan = np.isnan(x.astype(np.float64))
    order = np.take_along_axis(order, np.argsort(
        ~np.take_along_axis(nan, order, -1), axis=-1, kind="stable"), -1)[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def unique(x, axis):
    """Distinct slices in the order of their first appearance."""
    slices = np.moveaxis(x, axis, 0)
    seen, chosen, indices = {}, [], []
    for i, each in enumerate(slices):
        key = tuple("nan" if value != value else value for value in np.ravel(each).tolist())
        if key not in seen:
            seen[key] = len(chosen)
            chosen.append(i)
        indices.append(seen[key])
    return np.take(x, np.array(chosen, np.int64), axis), np.array(indices, np.int32)


def top_k_cases(cases):
    for dtype in REAL:
        for shape, k in [((1,), 1), ((7,), 3), ((33,), 33), ((100,), 0), ((3, 20), 5), ((2, 3, 9), 4)]:
            x = cases.values(shape, dtype)
            cases.add("TopK", [x], top_k(x, k), [k, True])
    x = cases.values((5, 20000))
    cases.add("TopK", [x], top_k(x, 100), [100, True], note="long rows")
    odd = np.array([1, np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan, 1], np.float32)
    cases.add("TopK", [odd], top_k(odd, 8), [8, True], note="NaN, infinities, zeros")
    extremes = np.array([2**31 - 1, -2**31, 0, -1, 2**31 - 1], np.int32)
    cases.add("TopK", [extremes], top_k(extremes, 5), [5, True])
    cases.add("TopK", [np.zeros((0, 3), np.float32)],
              [np.zeros((0, 2), np.float32), np.zeros((0, 2), np.int32)], [2, True], note="no rows")
    cases.add("TopK", [np.zeros((2, 0), np.float32)],
              [np.zeros((2, 0), np.float32), np.zeros((2, 0), np.int32)], [0, True], note="empty rows")
    every = np.array([3, 1, 2], np.float32)
    cases.add("TopK", [every[:1]], top_k(every[:1], 1), [1, False], note="not sorted")


def unique_cases(cases):
    for dtype in list(DTYPES):
        for shape, axis in [((0,), 0), ((1,), 0), ((40,), 0), ((40,), -1), ((12, 1), 0), ((6, 2, 2), 0),
                            ((2, 9, 1), 1), ((2, 2, 9), 2), ((3, 0), 0), ((0, 3), 1)]:
            x = cases.values(shape, dtype, low=-1, high=1)
            if dtype in ("float32", "float64", "float16", "complex64"):
                x = np.round(x * 2).astype(x.dtype)
            cases.add("Unique", [x], unique(x, axis), [axis])
    odd = np.array([np.nan, -0.0, np.nan, 0.0, np.inf, -np.inf, np.inf], np.float32)
    cases.add("Unique", [odd], unique(odd, 0), [0], note="NaN and zeros are one each")
    many = cases.values((3000,), "int32", -1000, 1000)
    cases.add("Unique", [many], unique(many, 0), [0])


def search_cases(cases):
    for dtype in REAL:
        for rows, length, sought in [(1, 1, 1), (3, 7, 5), (2, 0, 3), (2, 3, 0), (0, 3, 2), (4, 33, 40)]:
            x = np.sort(cases.values((rows, length), dtype), -1)
            values = cases.values((rows, sought), dtype)
            for side in ("left", "right"):
                found = [np.searchsorted(x[i], values[i], side) for i in range(rows)]
                expected = np.array(found, np.int32).reshape(rows, sought)
                cases.add("SearchSorted", [x, values], expected, [side == "right"])
                cases.add("LowerBound" if side == "left" else "UpperBound", [x, values], expected)


def add_cases(cases):
    top_k_cases(cases)
    unique_cases(cases)
    search_cases(cases)
