"""Poolings and grayscale dilation, window by window."""
import itertools

import numpy as np

from expected.convolutions import GEOMETRIES, each_tap, window_of
from expected.products import add, array, tensor

PLANES = [((4, 4), (2, 2), (2, 2), (0,) * 4, (1, 1)), ((5, 6), (3, 2), (1, 2), (1, 1, 0, 1), (1, 1)),
          ((7, 5), (2, 2), (1, 1), (0,) * 4, (2, 1)), ((3, 3), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
          ((3, 3), (1, 1), (2, 2), (0,) * 4, (1, 1))]
VOLUMES = [((3, 4, 4), (2, 2, 2), (1, 2, 2), (0,) * 6, (1, 1, 1)),
           ((3, 3, 3), (2, 2, 2), (1, 1, 1), (0, 1, 0, 1, 1, 0), (1, 1, 1)),
           ((4, 3, 5), (2, 1, 2), (1, 1, 1), (0,) * 6, (2, 1, 2))]


def places(window, shape):
    """(index into the results, the positions under its window)."""
    for n, out, c in itertools.product(range(shape[0]), np.ndindex(*window["out"]), range(shape[-1])):
        yield (n, *out, c), [(n, *at, c) for _, at in each_tap(window, out)]


def pool(x, window, reduce):
    y = np.zeros((x.shape[0], *window["out"], x.shape[-1]))
    for index, under in places(window, x.shape):
        y[index] = reduce([float(x[at]) for at in under])
    return y


def largest(values):
    """NaN is not larger than anything."""
    return max((v for v in values if not np.isnan(v)), default=-np.inf)


def where_largest(x, under, last):
    best = None
    for at in reversed(under) if last else under:
        if best is None or x[at] > x[best]:
            best = at
    return best


def average_back(x, dy, window):
    dx = np.zeros(x.shape)
    for index, under in places(window, x.shape):
        for at in under:
            dx[at] += dy[index] / np.prod(window["size"])
    return dx


def maximum_back(x, dy, window, last):
    """Of equal values the first has the gradient, in a volume the last."""
    dx = np.zeros(x.shape)
    for index, under in places(window, x.shape):
        dx[where_largest(x, under, last)] += dy[index]
    return dx


def poolings(cases):
    for geometry, c in itertools.product(PLANES + VOLUMES, (1, 3, 8, 67)):
        if c == 67 and geometry not in (PLANES[1], VOLUMES[1]):
            continue
        extents, size, strides, pads, dilations = geometry
        three = "3D" if len(extents) == 3 else ""
        window = window_of(*geometry)
        x, dy = tensor((2, *extents, c), 1), tensor((2, *window["out"], c), 3)
        where = [size, strides, pads, dilations]
        y = pool(x, window, largest)
        add(cases, f"MaxPool{three}", "", [x], [*where, window["out"]], y)
        add(cases, f"AvgPool{three}", "", [x], [*where, window["out"]], pool(x, window, np.mean))
        add(cases, f"AvgPool{three}Grad", "", [dy, x], where, average_back(x, dy, window))
        last = bool(three)
        add(cases, f"MaxPool{three}Grad", "", [dy, x, y.astype(np.float32)], where, maximum_back(x, dy, window, last))
        same = np.ones(x.shape, np.float32)
        add(cases, f"MaxPool{three}Grad", "all equal", [dy, same], where, maximum_back(same, dy, window, last))
        if not three:
            argmax(cases, x, y, window, where)


def argmax(cases, x, y, window, where):
    index = np.zeros(y.shape, np.int32)
    for place, under in places(window, x.shape):
        index[place] = np.ravel_multi_index(where_largest(x, under, False), x.shape)
    image = np.int32(np.prod(x.shape[1:]))
    for batch, expected in ((1, index), (0, index % image)):
        cases.add("MaxPoolWithArgmax", [x], [y.astype(np.float32), expected.astype(np.int32)],
                  [*where, window["out"], batch])


def odd_poolings(cases):
    two = [(2, 2), (1, 1), (0,) * 4, (1, 1), (1, 1)]
    for values in ([np.nan, 1, 2, 3], [np.nan] * 4, [-np.inf] * 4, [np.inf, -np.inf, 0, 1]):
        x = array(values, (1, 2, 2, 1))
        add(cases, "MaxPool", str(values), [x], two, np.full((1, 1, 1, 1), largest(values)))
    x = array([np.nan, 1, 2, 3], (1, 2, 2, 1))
    add(cases, "AvgPool", "NaN", [x], two, np.full((1, 1, 1, 1), np.nan))
    x = tensor((2, 3, 3, 2), 5, "int32")
    y = pool(x, window_of((3, 3), (2, 2), (1, 1), (0,) * 4, (1, 1)), max)
    add(cases, "MaxPool", "", [x], [(2, 2), (1, 1), (0,) * 4, (1, 1), (2, 2)], y, "int32")
    add(cases, "MaxPool", "no batch", [tensor((0, 2, 2, 1), 1)], two, np.zeros((0, 1, 1, 1)))
    add(cases, "AvgPool", "no channels", [tensor((1, 2, 2, 0), 1)], two, np.zeros((1, 1, 1, 0)))
    # Windows beyond the data: nothing to take the mean of.
    x = tensor((1, 1, 1, 2), 1)
    beyond = [(1, 1), (2, 2), (0,) * 4, (1, 1), (2, 1)]
    add(cases, "AvgPool", "beyond", [x], beyond, np.concatenate([x, np.full((1, 1, 1, 2), np.nan)], 1))
    add(cases, "MaxPool", "beyond", [x], beyond, np.concatenate([x, np.full((1, 1, 1, 2), -np.inf)], 1))


def dilations(cases):
    for (extents, size, strides, pads, dilation, _), c in itertools.product(GEOMETRIES[:6], (1, 3)):
        window = window_of(extents, size, strides, pads, dilation)
        x, w = tensor((2, *extents, c), 1), tensor((*size, c), 7)
        dy = tensor((2, *window["out"], c), 3)
        y, dx, dw = np.zeros(dy.shape), np.zeros(x.shape), np.zeros(w.shape)
        for n, out, ch in itertools.product(range(2), np.ndindex(*window["out"]), range(c)):
            sums = [(x[(n, *at, ch)] + w[(*tap, ch)], tap, at) for tap, at in each_tap(window, out)]
            value, tap, at = max(sums, key=lambda s: s[0])  # the first of equals
            y[(n, *out, ch)] = value
            dx[(n, *at, ch)] += dy[(n, *out, ch)]
            dw[(*tap, ch)] += dy[(n, *out, ch)]
        where = [strides, pads, dilation]
        add(cases, "Dilation2D", "", [x, w], [*where, window["out"]], y)
        add(cases, "Dilation2DBackpropInput", "", [x, w, dy], where, dx)
        add(cases, "Dilation2DBackpropFilter", "", [x, w, dy], where, dw)
    x, w = tensor((1, 3, 3, 2), 1, "int32"), tensor((2, 2, 2), 7, "int32")
    window = window_of((3, 3), (2, 2), (1, 1), (0,) * 4, (1, 1))
    y = np.zeros((1, 2, 2, 2))
    for out, ch in itertools.product(np.ndindex(2, 2), range(2)):
        y[(0, *out, ch)] = max(x[(0, *at, ch)] + w[(*tap, ch)] for tap, at in each_tap(window, out))
    add(cases, "Dilation2D", "", [x, w], [(1, 1), (0,) * 4, (1, 1), (2, 2)], y, "int32")


def add_cases(cases):
    poolings(cases)
    odd_poolings(cases)
    dilations(cases)
