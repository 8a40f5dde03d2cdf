"""Reductions, scans and counts."""
import numpy as np

SHAPES = [((), []), ((5,), [0]), ((67,), [0]), ((3, 5), [0]), ((3, 5), [1]), ((3, 5), [0, 1]),
          ((4, 3, 37), [1]), ((4, 3, 5), [0, 2]), ((2, 3, 4, 5), [1, 2]), ((2, 3, 4, 5), [0, 1, 3]),
          ((1, 4, 1), [0, 2]), ((3, 5), []), ((40, 300), [0]), ((2, 3, 2, 3, 2, 2), [1, 3, 5])]


def reduced(function, x, axes, keep, **more):
    return function(x, axis=tuple(axes), keepdims=bool(keep), **more)


def summed(dtype):
    return np.int32 if dtype == "bool" else np.dtype(dtype)


def sums(cases):
    for dtype in ("float32", "int32", "bool", "float64", "int64", "complex64", "float16"):
        for shape, axes in SHAPES:
            for keep in (0, 1):
                x = cases.values(shape, dtype, -2, 2)
                wide = np.float64 if dtype in ("float32", "float16") else None
                total = reduced(np.sum, x, axes, keep, dtype=wide or summed(dtype))
                tolerance = {"float32": (1e-5, 1e-4), "float16": (2e-3, 2e-2)}.get(dtype)
                cases.add("Sum", [x], np.asarray(total).astype(summed(dtype)), [axes, keep],
                          tolerance=tolerance)
    for dtype in ("float32", "int32", "float64"):
        for shape, axes in SHAPES[:9]:
            x = cases.values(shape, dtype, 1, 2)
            product = reduced(np.prod, x.astype(np.float64), axes, 0)
            cases.add("Prod", [x], wrapped(product, dtype), [axes, 0], tolerance=(1e-4, 1e-4)
                      if dtype == "float32" else None)
            out = np.float32 if dtype == "int32" else x.dtype
            mean = np.asarray(reduced(np.mean, x.astype(np.float64), axes, 1)).astype(out)
            cases.add("Mean", [x], mean, [axes, 1], tolerance=(1e-5, 1e-5))
    cases.add("Sum", [np.zeros((0, 3), np.float32)], np.zeros((3,), np.float32), [[0], 0])
    cases.add("Sum", [np.zeros((3, 0), np.float32)], np.zeros((3,), np.float32), [[1], 0])
    cases.add("Prod", [np.zeros((3, 0), np.float32)], np.ones((3,), np.float32), [[1], 0])
    big = cases.values((300001,), "float32", -1, 1)
    cases.add("Sum", [big], np.float32(np.sum(big, dtype=np.float64)), [[0], 0],
              tolerance=(1e-4, 1e-2))


def wrapped(values, dtype):
    values = np.asarray(values)
    if dtype == "int32":
        return values.astype(np.int64).astype(np.int32)
    return values.astype(np.dtype(dtype))


def extremes(cases):
    for dtype in ("float32", "int32", "bool", "float64", "int64", "uint8", "float16"):
        for shape, axes in SHAPES:
            x = cases.values(shape, dtype, -50 if dtype != "uint8" else 0, 50)
            for keep in (0, 1):
                cases.add("Max", [x], reduced(np.max, x, axes, keep), [axes, keep])
                cases.add("Min", [x], reduced(np.min, x, axes, keep), [axes, keep])
    for length in (5, 64, 100):
        x = cases.values((length,))
        x[length // 2] = np.nan
        cases.add("Max", [x], np.float32(np.nan), [[0], 0], note="NaN wins")
        cases.add("Min", [x], np.float32(np.nan), [[0], 0], note="NaN wins")
    x = np.array([-np.inf, np.inf, 3], np.float32)
    cases.add("Max", [x], np.float32(np.inf), [[0], 0])
    cases.add("Min", [x], np.float32(-np.inf), [[0], 0])
    for shape, axes in SHAPES[:9]:
        x = cases.values(shape, "bool")
        cases.add("All", [x], reduced(np.all, x, axes, 0), [axes, 0])
        cases.add("Any", [x], reduced(np.any, x, axes, 1), [axes, 1])
    none = np.zeros((2, 0), np.bool_)
    cases.add("All", [none], np.ones((2,), np.bool_), [[1], 0])
    cases.add("Any", [none], np.zeros((2,), np.bool_), [[1], 0])


def positions(cases):
    for dtype in ("float32", "int32", "bool", "float64"):
        x = cases.values((4, 5, 6), dtype, -3, 3)
        for axis in (0, 1, 2, -1):
            cases.add("ArgMax", [x], np.argmax(x, axis).astype(np.int32), [axis])
            cases.add("ArgMin", [x], np.argmin(x, axis).astype(np.int32), [axis])


def scans(cases):
    for dtype in ("float32", "int32", "complex64"):
        x = cases.values((3, 4, 5), dtype, 1, 3)
        for axis in (0, 1, -1):
            for name, function, unit in (("Cumsum", np.cumsum, 0), ("Cumprod", np.cumprod, 1)):
                for reverse in (0, 1):
                    y = np.flip(x, axis) if reverse else x
                    whole = function(y, axis=axis).astype(x.dtype)
                    shifted = np.roll(whole, 1, axis)
                    first = [slice(None)] * 3
                    first[axis] = 0
                    shifted[tuple(first)] = unit
                    for exclusive, value in ((0, whole), (1, shifted)):
                        value = np.flip(value, axis) if reverse else value
                        cases.add(name, [x], value, [axis, exclusive, reverse],
                                  tolerance=(1e-4, 1e-4) if dtype != "int32" else None)


def counts(cases):
    x = cases.values((40,), "int32", 0, 9)
    weights = cases.values((40,), "float32", 0, 2)
    kept = x < 8
    cases.add("Bincount", [x, weights],
              np.bincount(x[kept], weights[kept], 8).astype(np.float32), [8], tolerance=(1e-5, 1e-5))
    none = np.zeros((0,), np.int32)
    cases.add("Bincount", [x, none], np.bincount(x, minlength=12).astype(np.int32), [12])
    rows = cases.values((3, 20), "int32", 0, 4)
    counted = np.stack([np.bincount(row, minlength=5) for row in rows])
    cases.add("DenseBincount", [rows, none], counted.astype(np.int32), [5, 0])
    cases.add("DenseBincount", [rows, none], (counted > 0).astype(np.int32), [5, 1])
    data = cases.values((6, 3))
    ids = np.array([2, 0, 2, 1, 0, 2], np.int32)
    expected = np.zeros((4, 3), np.float32)
    np.add.at(expected, ids, data)
    cases.add("UnsortedSegmentSum", [data, ids], expected, [4], tolerance=(1e-5, 1e-5))


def add_cases(cases):
    sums(cases)
    extremes(cases)
    positions(cases)
    scans(cases)
    counts(cases)
