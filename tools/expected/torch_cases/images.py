"""Images, and grayscale dilation. What PyTorch resizes by half pixels has no gradient here."""
import math

import torch
import torch.nn.functional as F

from .convolutions import WINDOWS, padded
from .gradients import HALF, REAL, gradient_of
from .pooling import pooled


def points(old, new, align):
    less = 1 if align and new > 1 else 0
    return torch.arange(new, dtype=torch.float64) * ((old - less) / (new - less))


def bilinear(size, align):
    """PyTorch's own where corners are aligned; else its sampler, at the points that count from 0."""
    def resize(data):
        if align:
            return F.interpolate(data, size, mode="bilinear", align_corners=True)
        grid = [(2 * points(old, new, False) / (old - 1) - 1).to(data.dtype) for old, new in zip(data.shape[2:], size)]
        rows, columns = torch.meshgrid(*grid, indexing="ij")
        places = torch.stack([columns, rows], -1).expand(len(data), -1, -1, -1)
        return F.grid_sample(data, places, padding_mode="border", align_corners=True)
    return lambda x: pooled(resize, x)


def nearest(size, align):
    def resize(data):
        if not align:
            return F.interpolate(data, size, mode="nearest")
        rows, columns = ((points(old, new, True) + 0.5).floor().long() for old, new in zip(data.shape[2:], size))
        return data[:, :, rows][..., columns]
    return lambda x: pooled(resize, x)


def resizes(g):
    for old, new in (((2, 3), (4, 5)), ((5, 4), (3, 3))):
        shape, wide = (2, *old, 2), (2, *new, 2)
        for align in (False, True):
            for op, function in (("ResizeBilinear", bilinear(new, align)), ("ResizeNearestNeighbor", nearest(new, align))):
                g.add(op, function, [g.values(shape)], [list(new), align, 0])
                g.add(f"{op}Grad", lambda x, dy: gradient_of(function, x, dy), [g.values(shape), g.values(wide)], [align])
    for dtype in ("float64", *HALF):  # what brings them back is of float32
        g.add("ResizeBilinear", lambda x: bilinear((4, 5), True)(x.float()), [g.values((1, 2, 3, 2), dtype)], [[4, 5], 1, 0])
        g.add("ResizeNearestNeighbor", nearest((4, 5), True), [g.values((1, 2, 3, 2), dtype)], [[4, 5], 1, 0],
              within=["float32"])
    x = g.values((0, 2, 3, 1))
    g.add("ResizeBilinear", lambda x: x.new_zeros((0, 4, 5, 1)) + x.sum(), [x], [[4, 5], 0, 0])
    g.add("ResizeNearestNeighbor", lambda x: x.new_zeros((0, 4, 5, 1)) + x.sum(), [x], [[4, 5], 0, 0])


def dilated(strides, pads, dilations):
    """The largest sum of data and filter in each window."""
    def function(x, filters):
        height, width, channels = filters.shape
        data = padded(x, pads, -math.inf).permute(0, 3, 1, 2)
        rows = (data.shape[2] - (height - 1) * dilations[0] - 1) // strides[0] + 1
        columns = (data.shape[3] - (width - 1) * dilations[1] - 1) // strides[1] + 1
        taps = [data[:, :, i * dilations[0]:, j * dilations[1]:][:, :, ::strides[0], ::strides[1]][:, :, :rows, :columns]
                + filters[i, j][:, None, None] for i in range(height) for j in range(width)]
        return torch.stack(taps).max(0).values.permute(0, 2, 3, 1)
    return function


def dilations(g):
    for strides, pads, apart in WINDOWS:
        for batch in (2, 0):
            g.add("Dilation2D", dilated(strides, pads, apart), [g.values((batch, 5, 4, 2)), g.values((2, 2, 2))],
                  [list(strides), list(pads), list(apart), []])


def add_cases(g):
    for dtype in (*REAL, *HALF):
        g.add("FlipLeftRight", lambda x: x.flip(2), [g.values((1, 2, 3, 2), dtype)])
    g.add("FlipLeftRight", lambda x: x.flip(2), [g.values((0, 2, 3, 2))])
    resizes(g)
    dilations(g)
