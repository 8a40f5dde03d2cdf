"""Poolings: all of float32. An average is over what lies on the data; what brings it back divides by the whole window."""
import math

import torch
import torch.nn.functional as F

from .convolutions import padded
from .gradients import gradient_of

POOLS = {2: (F.avg_pool2d, F.max_pool2d), 3: (F.avg_pool3d, F.max_pool3d)}


def pooled(pool, x):
    """Channels are the last axis."""
    return pool(x.movedim(-1, 1)).movedim(1, -1)


def whole_average(size, strides, pads):
    average = POOLS[len(size)][0]
    return lambda x: pooled(lambda data: average(data, size, strides), padded(x, pads))


def average(size, strides, pads):
    whole = whole_average(size, strides, pads)
    return lambda x: whole(x) / whole(torch.ones_like(x))


def maximum(size, strides, pads, dilations):
    most = POOLS[len(size)][1]
    return lambda x: pooled(lambda data: most(data, size, strides, dilation=dilations), padded(x, pads, -math.inf))


def of_windows(g, shape, size, strides, pads, dilations):
    suffix = "3D" if len(size) == 3 else ""
    lists = [list(size), list(strides), list(pads), list(dilations)]
    empty = (0, *shape[1:])
    most = maximum(size, strides, pads, dilations)
    for each in (shape, empty):
        g.add(f"MaxPool{suffix}", most, [g.values(each)], [*lists, []])
    if len(size) == 2:
        g.add("MaxPoolWithArgmax", most, [g.values(shape)], [*lists, [], 0])
        y = tuple(most(torch.zeros(shape)).shape)
        g.add("MaxPoolGrad", lambda dy, x: gradient_of(most, x, dy), [g.values(y), g.values(shape)], lists)
    if max(dilations) > 1:  # which PyTorch's averages have not
        return
    whole = whole_average(size, strides, pads)
    for each in (shape, empty):
        g.add(f"AvgPool{suffix}", average(size, strides, pads), [g.values(each)], [*lists, []])
    y = tuple(whole(torch.zeros(shape)).shape)
    g.add(f"AvgPool{suffix}Grad", lambda dy, x: gradient_of(whole, x, dy), [g.values(y), g.values(shape)], lists)


def add_cases(g):
    of_windows(g, (2, 4, 5, 3), (2, 2), (2, 1), (0, 0, 0, 0), (1, 1))
    of_windows(g, (1, 4, 5, 2), (2, 3), (2, 1), (1, 0, 1, 1), (1, 1))
    of_windows(g, (1, 5, 4, 2), (2, 2), (1, 1), (0, 1, 1, 0), (2, 1))
    of_windows(g, (1, 2, 4, 3, 2), (2, 2, 1), (1, 2, 1), (0, 0, 0, 0, 0, 0), (1, 1, 1))
    of_windows(g, (1, 3, 3, 2, 2), (2, 2, 1), (1, 2, 1), (1, 0, 0, 1, 0, 0), (1, 1, 1))
    of_windows(g, (1, 4, 3, 2, 1), (2, 2, 1), (1, 1, 1), (0, 0, 0, 0, 0, 0), (2, 1, 1))
