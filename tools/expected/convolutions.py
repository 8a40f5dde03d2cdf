"""Convolutions, forward and backward, tap by tap in float64."""
import itertools

import numpy as np

from expected.products import ACTIVATIONS, add, array, tensor


def taps(window, axis, out):
    """(tap, position) where the window at `out` lies on data."""
    size, stride, dilation, pad, extent = (window[k][axis] for k in ("size", "stride", "dilation", "pad", "in"))
    for tap in range(size):
        at = out * stride - pad + tap * dilation
        if 0 <= at < extent:
            yield tap, at


def each_tap(window, out):
    for per_axis in itertools.product(*(list(taps(window, axis, o)) for axis, o in enumerate(out))):
        yield tuple(t for t, _ in per_axis), tuple(p for _, p in per_axis)


def window_of(extents, size, strides, pads, dilations, out=None):
    if out is None:
        reach = [(s - 1) * d + 1 for s, d in zip(size, dilations)]
        out = [(extents[i] + pads[2 * i] + pads[2 * i + 1] - reach[i]) // strides[i] + 1 for i in range(len(size))]
    return {"size": size, "stride": strides, "dilation": dilations, "pad": pads[0::2], "in": extents, "out": tuple(out)}


def convolve(x, w, window, depthwise=False):
    channels = w.shape[-2] * w.shape[-1] if depthwise else w.shape[-1]
    y = np.zeros((x.shape[0], *window["out"], channels))
    for out in np.ndindex(*window["out"]):
        for tap, at in each_tap(window, out):
            pixel, filters = x[(slice(None), *at)].astype(np.float64), w[tap]
            if depthwise:
                y[(slice(None), *out)] += (pixel[:, :, None] * filters[None]).reshape(x.shape[0], channels)
            else:
                y[(slice(None), *out)] += pixel @ filters
    return y


def convolve_back(x, w, dy, window, depthwise=False):
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for out in np.ndindex(*window["out"]):
        gradient = dy[(slice(None), *out)].astype(np.float64)
        for tap, at in each_tap(window, out):
            pixel = x[(slice(None), *at)]
            if depthwise:
                g = gradient.reshape(x.shape[0], *w.shape[-2:])
                dw[tap] += np.einsum("nc,ncm->cm", pixel, g)
                dx[(slice(None), *at)] += np.einsum("ncm,cm->nc", g, w[tap])
            else:
                dw[tap] += pixel.T @ gradient
                dx[(slice(None), *at)] += gradient @ w[tap].T
    return dx, dw


GEOMETRIES = [  # extents, filter, strides, pads, dilations, output if it is not what follows from them
    ((5, 5), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), None),
    ((5, 7), (3, 2), (2, 1), (0, 0, 0, 0), (1, 1), None),
    ((6, 6), (1, 1), (2, 2), (0, 0, 0, 0), (1, 1), None),
    ((7, 7), (3, 3), (1, 1), (2, 2, 2, 2), (2, 2), None),
    ((7, 8), (2, 3), (1, 1), (0, 1, 2, 0), (3, 1), None),
    ((4, 4), (3, 3), (2, 2), (0, 1, 0, 1), (1, 1), None),
    ((5, 5), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1), (3, 3)),
    ((9, 9), (2, 2), (1, 1), (0, 0, 0, 0), (1, 1), (3, 4)),
    ((3, 3), (2, 2), (1, 1), (3, 3, 3, 3), (1, 1), None),
    ((1, 1), (1, 1), (1, 1), (0, 0, 0, 0), (1, 1), None),
]


def planes(cases):
    for geometry, (c, k) in itertools.product(GEOMETRIES, [(1, 1), (3, 5), (8, 16), (17, 4)]):
        extents, size, strides, pads, dilations, _ = geometry
        window = window_of(*geometry)
        where = [strides, pads, dilations]
        x, w = tensor((2, *extents, c), 1), tensor((*size, c, k), 7)
        dy = tensor((2, *window["out"], k), 3)
        dx, dw = convolve_back(x, w, dy, window)
        add(cases, "Conv2D", "", [x, w], [*where, window["out"], 0], convolve(x, w, window))
        add(cases, "Conv2DBackpropInput", "", [dy, w], [*where, 0, x.shape], dx)
        add(cases, "Conv2DBackpropFilter", "", [x, dy], [*where, 0, w.shape], dw)
    window = window_of((30, 30), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1))
    x, w, dy = tensor((4, 30, 30, 8), 1), tensor((3, 3, 8, 16), 7), tensor((4, 30, 30, 16), 3)
    dx, dw = convolve_back(x, w, dy, window)
    where = [(1, 1), (1, 1, 1, 1), (1, 1)]
    add(cases, "Conv2D", "large", [x, w], [*where, (30, 30), 0], convolve(x, w, window))
    add(cases, "Conv2DBackpropInput", "large", [dy, w], [*where, 0, x.shape], dx)
    add(cases, "Conv2DBackpropFilter", "large", [x, dy], [*where, 0, w.shape], dw)


def depthwise(cases):
    for geometry, (c, m) in itertools.product(GEOMETRIES, [(1, 1), (3, 2), (8, 1), (17, 1), (16, 3)]):
        extents, size, strides, pads, dilations, _ = geometry
        window = window_of(*geometry)
        where = [strides, pads, dilations]
        x, w = tensor((2, *extents, c), 1), tensor((*size, c, m), 7)
        dy = tensor((2, *window["out"], c * m), 3)
        dx, dw = convolve_back(x, w, dy, window, True)
        add(cases, "DepthwiseConv2dNative", "", [x, w], [*where, window["out"], 0], convolve(x, w, window, True))
        add(cases, "DepthwiseConv2dNativeBackpropInput", "", [dy, w], [*where, x.shape], dx)
        add(cases, "DepthwiseConv2dNativeBackpropFilter", "", [x, dy], [*where, w.shape], dw)


def channels_first(cases):
    window = window_of((5, 6), (3, 2), (2, 1), (1, 0, 0, 1), (1, 1))
    where = [(2, 1), (1, 0, 0, 1), (1, 1)]
    x, w, dy = tensor((2, 3, 5, 6), 1), tensor((3, 2, 3, 4), 7), tensor((2, 4, *window["out"]), 3)
    last, dy_last = np.moveaxis(x, 1, 3), np.moveaxis(dy, 1, 3)
    y = convolve(last, w, window)
    dx, dw = convolve_back(last, w, dy_last, window)
    add(cases, "Conv2D", "channels first", [x, w], [*where, window["out"], 1], np.moveaxis(y, 3, 1))
    add(cases, "Conv2DBackpropInput", "channels first", [dy, w], [*where, 1, x.shape], np.moveaxis(dx, 3, 1))
    add(cases, "Conv2DBackpropFilter", "channels first", [x, dy], [*where, 1, w.shape], dw)
    bias, slopes = tensor((4,), 2), tensor((4,), 20)
    value = y + bias
    add(cases, "FusedConv2D", "channels first", [x, w, bias, slopes], [*where, window["out"], 1, 4, 0],
        np.moveaxis(np.where(value < 0, value * slopes, value), 3, 1))
    filters = tensor((3, 2, 3, 2), 7)
    add(cases, "DepthwiseConv2dNative", "channels first", [x, filters], [*where, window["out"], 1],
        np.moveaxis(convolve(last, filters, window, True), 3, 1))


def fused(cases):
    window = window_of((4, 5), (2, 3), (1, 1), (0, 1, 1, 1), (1, 1))
    where = [(1, 1), (0, 1, 1, 1), (1, 1), window["out"], 0]
    for op, single in (("FusedConv2D", False), ("FusedDepthwiseConv2D", True)):
        x, w = tensor((2, 4, 5, 3), 1), tensor((2, 3, 3, 2 if single else 6), 7)
        base = convolve(x, w, window, single)
        slopes = tensor((6,), 21)
        for activation, bias in itertools.product(ACTIVATIONS, (None, (6,), (1,), ())):
            number, apply = ACTIVATIONS[activation]
            biases = None if bias is None else tensor(bias, 4)
            inputs = [x, w, biases, slopes] if activation == "prelu" else [x, w, biases]
            value = base + (0 if bias is None else biases)
            add(cases, op, activation, inputs, [*where, number, 0.3], apply(value, 0.3, slopes))
        each = tensor((*window["out"], 6), 21)
        add(cases, op, "prelu for each pixel", [x, w, None, each], [*where, 4, 0], np.where(base < 0, base * each, base))
    x, w = array([np.nan, 1, 2, -3], (1, 2, 2, 1)), array([1, -1], (1, 1, 1, 2))
    expected = array([[[[np.nan] * 2, [1, 0]], [[2, 0], [0, 3]]]])
    add(cases, "FusedConv2D", "relu keeps NaN", [x, w], [(1, 1), (0,) * 4, (1, 1), (2, 2), 0, 1, 0], expected)


def volumes(cases):
    geometries = [((2, 2, 2), (1, 1, 1), (0,) * 6, (1, 1, 1)), ((3, 2, 1), (2, 1, 1), (1, 1, 0, 1, 0, 0), (1, 1, 1)),
                  ((2, 2, 2), (1, 1, 1), (0, 0, 1, 1, 0, 0), (2, 1, 2))]
    for (size, strides, pads, dilations), (c, k) in itertools.product(geometries, ((1, 1), (3, 5), (8, 16))):
        window = window_of((4, 5, 3), size, strides, pads, dilations)
        where = [strides, pads, dilations]
        x, w = tensor((2, 4, 5, 3, c), 1), tensor((*size, c, k), 7)
        dy = tensor((2, *window["out"], k), 3)
        dx, dw = convolve_back(x, w, dy, window)
        add(cases, "Conv3D", "", [x, w], [*where, window["out"]], convolve(x, w, window))
        add(cases, "Conv3DBackpropInputV2", "", [dy, w], [*where, x.shape], dx)
        add(cases, "Conv3DBackpropFilterV2", "", [x, dy], [*where, w.shape], dw)


def empty(cases):
    where = [(1, 1), (0, 0, 0, 0), (1, 1)]
    for n, c, k in ((0, 2, 3), (2, 0, 3), (2, 2, 0)):
        x, w, dy = tensor((n, 4, 4, c), 1), tensor((2, 2, c, k), 1), tensor((n, 3, 3, k), 1)
        add(cases, "Conv2D", "empty", [x, w], [*where, (3, 3), 0], np.zeros((n, 3, 3, k)))
        add(cases, "Conv2DBackpropInput", "empty", [dy, w], [*where, 0, x.shape], np.zeros(x.shape))
        add(cases, "Conv2DBackpropFilter", "empty", [x, dy], [*where, 0, w.shape], np.zeros(w.shape))
    x, w, bias = tensor((1, 2, 2, 0), 1), tensor((1, 1, 0, 3), 1), array([-1, 0, 2])
    add(cases, "FusedConv2D", "nothing but the bias", [x, w, bias], [*where, (2, 2), 0, 1, 0],
        np.broadcast_to(np.maximum(bias, 0), (1, 2, 2, 3)))


def add_cases(cases):
    planes(cases)
    depthwise(cases)
    channels_first(cases)
    fused(cases)
    volumes(cases)
    empty(cases)
