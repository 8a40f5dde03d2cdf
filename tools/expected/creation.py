"""Tensors from numbers alone."""
import numpy as np


def add_cases(cases):
    for dtype in ("float32", "int32", "bool", "float64", "int64", "float16", "complex64"):
        cases.add("Fill", [], np.full((3, 7), 1, np.dtype(dtype)), [[3, 7], 1, dtype])
        x = cases.values((2, 5), dtype)
        cases.add("ZerosLike", [x], np.zeros_like(x))
        cases.add("OnesLike", [x], np.ones_like(x))
        cases.add("Eye", [], np.eye(3, 5, dtype=np.dtype(dtype)), [3, 5, dtype])
    cases.add("Fill", [], np.zeros((0, 2), np.float32), [[0, 2], 3, "float32"])
    cases.add("Fill", [], np.float32(np.inf), [[], np.inf, "float32"])
    cases.add("LinSpace", [], np.linspace(2, 9, 15, dtype=np.float32), [2, 9, 15])
    cases.add("LinSpace", [], np.array([2], np.float32), [2, 9, 1])
    cases.add("Range", [], np.arange(0, 10, 3, np.int32), [0, 10, 3, "int32"])
    cases.add("Range", [], np.arange(5, 0, -1, np.int32), [5, 0, 1, "int32"], note="turned round")
    cases.add("Range", [], np.arange(1, 2, 0.1, np.float32), [1, 2, 0.1, "float32"])
    cases.add("Range", [], np.zeros((0,), np.float32), [3, 3, 1, "float32"])
    cases.add("Range", [], np.zeros((0,), np.float32), [0, 3, -1, "float32"])
    i = np.array([[0, 3], [2, -1]], np.int32)
    hot = np.full((2, 2, 3), 0.5, np.float32)
    hot[0, 0, 0] = hot[1, 0, 2] = 2
    cases.add("OneHot", [i], hot, [3, 2, 0.5, "float32"])
    cases.add("OneHot", [np.int32(1)], np.array([0, 1, 0], np.int32), [3, 1, 0, "int32"])
