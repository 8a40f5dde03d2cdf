"""Gathers, scatters, and what is found by sorting."""
import numpy as np
import torch

from .gradients import HALF, REAL

PAIRS = np.array([[0, 1], [2, 3], [0, 1]], np.int32)


def columns(indices):
    """As PyTorch takes coordinates."""
    return tuple(indices.long().unbind(-1))


def scattered(indices, updates, shape):
    return torch.zeros(shape, dtype=updates.dtype).index_put(columns(indices), updates, accumulate=True)


def gathers(g, dtype):
    ids = np.array([[0, 2], [2, 3]], np.int32)
    g.add("GatherV2", lambda x, i: x[i.long()], [g.values((4, 3), dtype), ids], [0, 0])
    g.add("GatherV2", lambda x, i: x[:, i.long()], [g.values((2, 4, 3), dtype), ids], [1, 0])
    g.add("GatherV2", lambda x, i: torch.stack([row[at.long()] for row, at in zip(x, i)]),
          [g.values((2, 4, 3), dtype), ids], [1, 1])
    g.add("GatherV2", lambda x, i: x[i.long()], [g.values((4, 3), dtype), np.zeros(0, np.int32)], [0, 0])
    g.add("GatherNd", lambda x, i: x[columns(i)], [g.values((3, 4), dtype), PAIRS])
    g.add("GatherNd", lambda x, i: x[columns(i)], [g.values((3, 4), dtype), np.array([[[2], [2]], [[0], [1]]], np.int32)])


def scatters(g, dtype):
    rows = np.array([[4], [1], [4]], np.int32)
    g.add("ScatterNd", lambda i, u: scattered(i, u, (5, 2)), [rows, g.values((3, 2), dtype)], [[5, 2]])
    g.add("ScatterNd", lambda i, u: scattered(i, u, (3, 4)), [PAIRS, g.values((3,), dtype)], [[3, 4]])
    g.add("ScatterNd", lambda i, u: scattered(i, u, (5, 2)), [rows[:0], g.values((0, 2), dtype)], [[5, 2]])
    g.add("TensorScatterUpdate", lambda x, i, u: x.index_put(columns(i), u),
          [g.values((5, 2), dtype), rows[:2], g.values((2, 2), dtype)])
    g.add("TensorScatterUpdate", lambda x, i, u: x.index_put(columns(i), u),
          [g.values((3, 4), dtype), PAIRS[:2], g.values((2,), dtype)])

    def dense(indices, values, default):
        return default.expand(3, 4).index_put(columns(indices), values)

    g.add("SparseToDense", dense, [PAIRS[:2], g.values((2,), dtype), g.values((), dtype)], [[3, 4]])
    g.add("SparseToDense", dense, [PAIRS[:2], g.values((), dtype), g.values((), dtype)], [[3, 4]], note="one value for all")


def sorting(g, dtype):
    for shape, k in (((3, 5), 2), ((4,), 4), ((2, 2, 3), 1), ((0, 3), 2)):
        g.add("TopK", lambda x: torch.topk(x, k), [g.values(shape, dtype)], [k, 1])


def add_cases(g):
    for dtype in (*REAL, *HALF):
        for family in (gathers, scatters, sorting):
            family(g, dtype)
