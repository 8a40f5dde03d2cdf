"""Reductions, scans, counts and transforms."""
import numpy as np
import torch

from .gradients import HALF, REAL

FUNCTIONS = {"Sum": torch.sum, "Mean": torch.mean, "Max": torch.amax, "Min": torch.amin}


def reduced(g, dtype):
    for op, function in FUNCTIONS.items():
        if dtype == "complex64" and op in ("Max", "Min"):
            continue
        g.add(op, lambda x: function(x, (0, 2)), [g.values((2, 3, 4), dtype)], [[0, 2], 0])
        g.add(op, lambda x: function(x, (1,), keepdim=True), [g.values((2, 3), dtype)], [[1], 1])
    for op in ("Sum", "Mean"):
        g.add(op, lambda x: FUNCTIONS[op](x, (1,)), [g.values((0, 3), dtype)], [[1], 0])


def scanned(values, reverse, exclusive, scan, start):
    """Along the last axis."""
    x = values.flip(-1) if reverse else values
    if exclusive:
        x = torch.cat([torch.full_like(x[..., :1], start), x[..., :-1]], -1)
    y = scan(x, -1)
    return y.flip(-1) if reverse else y


def extremes_and_products(g, dtype):
    g.add("Max", lambda x: torch.amax(x, (1,)), [g.given([[1, 3, 3], [2, 2, 2]], dtype)], [[1], 0], note="shared")
    g.add("Min", lambda x: torch.amin(x, (1,)), [g.given([[1, 3, 1], [2, 2, 2]], dtype)], [[1], 0], note="shared")
    g.add("Max", lambda x: torch.amax(x, (1,)), [g.values((0, 3), dtype)], [[1], 0])
    g.add("Prod", lambda x: torch.prod(x, 1), [g.values((2, 4), dtype)], [[1], 0])
    g.add("Prod", lambda x: x.permute(1, 0, 2).reshape(3, 8).prod(1), [g.values((2, 3, 4), dtype)], [[0, 2], 0])
    g.add("Prod", lambda x: torch.prod(x, 1), [g.given([[0, 2, 3], [0, 0, 5]], dtype)], [[1], 0], note="zeros")
    g.add("Prod", lambda x: torch.prod(x, 1), [g.values((0, 3), dtype)], [[1], 0])
    for reverse in (0, 1):
        for exclusive in (0, 1):
            g.add("Cumsum", lambda x: scanned(x, reverse, exclusive, torch.cumsum, 0), [g.values((2, 4), dtype)],
                  [1, exclusive, reverse])
            g.add("Cumprod", lambda x: scanned(x, reverse, exclusive, torch.cumprod, 1), [g.values((2, 4), dtype)],
                  [1, exclusive, reverse])
    g.add("Cumsum", lambda x: torch.cumsum(x, 0), [g.values((3, 2), dtype)], [0, 0, 0])
    g.add("Cumsum", lambda x: torch.cumsum(x, 0), [g.values((0, 2), dtype)], [0, 0, 0])
    g.add("Cumprod", lambda x: torch.cumprod(x, 0), [g.values((3, 2), dtype)], [0, 0, 0])
    g.add("Cumprod", lambda x: torch.cumprod(x, 0), [g.given([2, 0, 3, 0], dtype)], [0, 0, 0], note="zeros")


def counted(ids, weights, size):
    """Sums of weights by id; what is out of range is left out."""
    inside = (ids >= 0) & (ids < size)
    return torch.zeros((size, *weights.shape[1:]), dtype=weights.dtype).index_add(0, ids[inside].long(), weights[inside])


def counts(g, dtype):
    ids = np.array([0, 2, 2, 7], np.int32)
    g.add("Bincount", lambda i, w: counted(i, w, 3), [ids, g.values((4,), dtype)], [3])
    g.add("Bincount", lambda i, w: counted(i, w, 3), [ids[:0], g.values((0,), dtype)], [3])
    rows = np.array([[0, 2, 2], [1, 1, 9]], np.int32)
    g.add("DenseBincount", lambda i, w: torch.stack([counted(*each, 3) for each in zip(i, w)]),
          [rows, g.values((2, 3), dtype)], [3, 0])
    g.add("DenseBincount", lambda i, w: counted(i, w, 3), [ids, g.values((4,), dtype)], [3, 0])
    g.add("UnsortedSegmentSum", lambda x, i: counted(i, x, 3),
          [g.values((4, 2), dtype), np.array([2, 0, 2, -1], np.int32)], [3])
    g.add("UnsortedSegmentSum", lambda x, i: counted(i, x, 3), [g.values((0, 2), dtype), ids[:0]], [3])


def transforms(g):
    for shape in ((2, 5), (2, 4), (1,)):
        g.add("FFT", torch.fft.fft, [g.values(shape, "complex64")])
        g.add("IFFT", torch.fft.ifft, [g.values(shape, "complex64")])


def add_cases(g):
    for dtype in (*REAL, *HALF):
        reduced(g, dtype)
        extremes_and_products(g, dtype)
        counts(g, dtype)
    reduced(g, "complex64")
    transforms(g)
