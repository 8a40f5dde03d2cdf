"""Sparse tensors, as PyTorch's gathers and sums say it."""
import numpy as np
import torch

from .gradients import HALF, REAL


def filled(count, empty_rows, order):
    """The values in the order of their rows, the default in rows that have none."""
    def function(indices, values, shape, default):
        return torch.cat([values, default.expand(empty_rows)])[torch.tensor(order)]
    return function


def segments(data, indices, ids):
    count = int(ids[-1]) + 1 if len(ids) else 0
    return torch.zeros((count, *data.shape[1:]), dtype=data.dtype).index_add(0, ids.long(), data[indices.long()])


def means(data, indices, ids):
    sums = segments(data, indices, ids)
    sizes = torch.bincount(ids, minlength=len(sums)).clamp(min=1).to(data.dtype)
    return sums / sizes.reshape(-1, *[1] * (data.dim() - 1))


def add_cases(g):
    for dtype in (*REAL, *HALF):
        # Row 2 comes before row 0; rows 1 and 3 have nothing.
        g.add("SparseFillEmptyRows", filled(2, 2, [1, 2, 0, 3]),
              [np.array([[2, 0], [0, 1]], np.int32), g.values((2,), dtype), np.array([4, 2], np.int32), g.values((), dtype)])
        g.add("SparseFillEmptyRows", filled(0, 3, [0, 1, 2]),
              [np.zeros((0, 2), np.int32), g.values((0,), dtype), np.array([3, 2], np.int32), g.values((), dtype)])
        for function, op in ((segments, "SparseSegmentSum"), (means, "SparseSegmentMean")):
            for shape, indices, ids in (((3, 2), [0, 2, 2, 1], [0, 0, 1, 3]), ((4,), [3, 0], [0, 0]), ((3, 2), [], [])):
                g.add(op, function, [g.values(shape, dtype), np.array(indices, np.int32), np.array(ids, np.int32)])
