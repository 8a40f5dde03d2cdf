#!/usr/bin/env python3
"""Computes what tests/conformance holds products, convolutions, poolings and normalisations against.

    python3 -m venv build/tools/numpy && build/tools/numpy/bin/pip install numpy scipy
    build/tools/numpy/bin/python tools/make_expected_nn.py

Every operation is written here from its definition, element by element and in float64, sharing nothing with Ebb. The
cases go to tests/conformance/expected/nn.json; the test reads them, this script is only run when one is added. An input
is {"shape", "seed"}: values that both sides compute, exact in float32; or {"shape", "values"}.
"""

import itertools
import json
import pathlib

import numpy as np
from scipy import special

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests/conformance/expected/nn.json"
CASES = []


class Tensor:
    def __init__(self, shape, seed=None, values=None, dtype="float32"):
        self.shape, self.seed, self.dtype = tuple(shape), seed, dtype
        if values is not None:
            self.data = np.asarray(values, np.complex128 if dtype == "complex64" else np.float64).reshape(shape)
            return
        count = int(np.prod(shape)) * (2 if dtype == "complex64" else 1)
        flat = (np.arange(count) * 37 + seed * 11) % 101 - 50.0
        if dtype != "int32":
            flat = flat / 16
        if dtype == "complex64":
            flat = flat[0::2] + 1j * flat[1::2]
        self.data = flat.reshape(shape)

    def describe(self):
        described = {"dtype": self.dtype, "shape": list(self.shape)}
        if self.seed is not None:
            described["seed"] = self.seed
        else:
            described["values"] = listed(self.data, self.dtype)
        return described


def listed(array, dtype):
    flat = np.asarray(array).reshape(-1)
    if dtype == "complex64":
        flat = np.stack([flat.real, flat.imag], -1).reshape(-1)
    if dtype == "int32":
        return [int(v) for v in flat]
    return [float(f"{v:.7g}") if np.isfinite(v) else str(v) for v in flat]


def flat(attributes):
    out = []
    for value in attributes:
        if isinstance(value, (list, tuple)):
            out += [len(value), *value]
        else:
            out.append(value)
    return [float(v) for v in out]


def case(op, name, inputs, attributes, outputs, tolerance=1e-5):
    described = []
    for output in outputs:
        array, dtype = output if isinstance(output, tuple) else (output, "float32")
        described.append({"dtype": dtype, "shape": list(array.shape), "values": listed(array, dtype)})
    CASES.append({"op": op, "name": name, "inputs": [i.describe() if i is not None else None for i in inputs],
                  "attributes": flat(attributes), "outputs": described, "tolerance": tolerance})


ACTIVATIONS = {
    "linear": (0, lambda x, a, w: x),
    "relu": (1, lambda x, a, w: np.where(np.isnan(x), x, np.maximum(x, 0))),
    "relu6": (2, lambda x, a, w: np.where(np.isnan(x), x, np.clip(x, 0, 6))),
    "elu": (3, lambda x, a, w: np.where(x >= 0, x, np.expm1(np.minimum(x, 0)))),
    "prelu": (4, lambda x, a, w: np.where(x < 0, x * w, x)),
    "leakyrelu": (5, lambda x, a, w: np.where(x < 0, x * a, x)),
    "sigmoid": (6, lambda x, a, w: special.expit(x)),
}


# ---- products ----------------------------------------------------------------------------------


def product(a, b, ta, tb):
    left = np.swapaxes(a, -1, -2) if ta else a
    right = np.swapaxes(b, -1, -2) if tb else b
    return np.matmul(left, right)


def matrix(batch, rows, columns, transposed, seed, dtype="float32"):
    shape = (*batch, columns, rows) if transposed else (*batch, rows, columns)
    return Tensor(shape, seed, dtype=dtype)


def products():
    sizes = [(1, 1, 1), (2, 3, 4), (1, 128, 5), (17, 31, 9), (33, 16, 65)]
    for (m, k, n), ta, tb in itertools.product(sizes, (0, 1), (0, 1)):
        for dtype in ("float32", "int32", "complex64"):
            a, b = matrix((), m, k, ta, 1, dtype), matrix((), k, n, tb, 5, dtype)
            case("BatchMatMul", f"{dtype} {m}x{k}x{n} t{ta}{tb}", [a, b], [ta, tb],
                 [(product(a.data, b.data, ta, tb), dtype)])
    batches = [((3,), (3,)), ((3,), ()), ((), (4,)), ((2, 1), (1, 3)), ((2, 3), (3,)), ((1,), (1,)), ((2, 1, 2), (3, 1)),
               ((0,), (0,))]
    for (ba, bb), ta, tb in itertools.product(batches, (0, 1), (0, 1)):
        for dtype in ("float32", "int32", "complex64"):
            a, b = matrix(ba, 3, 5, ta, 2, dtype), matrix(bb, 5, 4, tb, 3, dtype)
            case("BatchMatMul", f"{dtype} batches {ba} {bb} t{ta}{tb}", [a, b], [ta, tb],
                 [(product(a.data, b.data, ta, tb), dtype)])
    for m, k, n in ((0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0)):
        for dtype in ("float32", "int32", "complex64"):
            a, b = matrix((), m, k, 0, 1, dtype), matrix((), k, n, 0, 1, dtype)
            case("BatchMatMul", f"{dtype} empty {m}x{k}x{n}", [a, b], [0, 0], [(np.matmul(a.data, b.data), dtype)])
    nan = Tensor((2, 2), values=[np.nan, 1, 2, np.inf])
    one = Tensor((2, 2), values=[1, 0, 1, 1])
    with np.errstate(invalid="ignore"):
        case("BatchMatMul", "nan and infinity", [nan, one], [0, 0], [product(nan.data, one.data, 0, 0)])
    big = Tensor((2, 2), values=[2147483647, 3, -5, 2147483647], dtype="int32")
    exact = big.data.astype(np.int64) @ big.data.astype(np.int64)
    wrapped = (exact + 2**31) % 2**32 - 2**31
    case("BatchMatMul", "int32 wraps", [big, big], [0, 0], [(wrapped, "int32")])
    fused_products()


def fused_products():
    a, b = Tensor((5, 7), 1), Tensor((7, 6), 9)
    base = a.data @ b.data / 1.0
    for activation, bias in itertools.product(ACTIVATIONS, (None, (6,), (1,), (1, 6), (5, 1), (5, 6))):
        number, apply = ACTIVATIONS[activation]
        inputs = [a, b]
        value = base
        if bias is not None or activation == "prelu":
            inputs.append(Tensor(bias, 4) if bias is not None else None)
        if bias is not None:
            value = value + inputs[2].data
        slope = None
        if activation == "prelu":
            slope = Tensor((6,), 21)
            inputs.append(slope)
        case("_FusedMatMul", f"{activation} bias {bias}", inputs, [0, 0, number, 0.3],
             [apply(value, 0.3, slope.data if slope else None)])
    for shape in ((1,), (5, 1), (5, 6), ()):
        slope = Tensor(shape, 21)
        case("_FusedMatMul", f"prelu weights {shape}", [a, b, None, slope], [0, 0, 4, 0],
             [np.where(base < 0, base * slope.data, base)])
    for activation in ACTIVATIONS:
        if activation == "prelu":
            continue
        number, apply = ACTIVATIONS[activation]
        poisoned = Tensor((1, 2), values=[np.nan, 1])
        ones = Tensor((2, 3), values=[1] * 6)
        case("_FusedMatMul", f"{activation} keeps nan", [poisoned, ones], [0, 0, number, 0.3], [np.full((1, 3), np.nan)])
        bias = Tensor((3,), values=[-2, 0.5, 7])
        empty = [Tensor((2, 0), 1), Tensor((0, 3), 1), bias]
        case("_FusedMatMul", f"{activation} of nothing but bias", empty, [0, 0, number, 0.3],
             [apply(np.broadcast_to(bias.data, (2, 3)), 0.3, None)])
    a3, b3, bias = Tensor((2, 4, 7), 1), Tensor((2, 7, 6), 9), Tensor((6,), 3)
    case("_FusedMatMul", "batch and relu", [a3, b3, bias], [0, 0, 1, 0],
         [np.maximum(np.matmul(a3.data, b3.data) + bias.data, 0)])
    b2 = Tensor((6, 7), 9)
    case("_FusedMatMul", "batch times one, transposed", [a3, b2, bias], [0, 1, 1, 0],
         [np.maximum(np.matmul(a3.data, b2.data.T) + bias.data, 0)])


# ---- convolutions ------------------------------------------------------------------------------


def taps(window, axis, out):
    """(tap, position) on data, of the window at `out`."""
    size, stride, dilation, pad, extent = (window[k][axis] for k in ("size", "stride", "dilation", "pad", "in"))
    for tap in range(size):
        at = out * stride - pad + tap * dilation
        if 0 <= at < extent:
            yield tap, at


def each_tap(window, out):
    for per_axis in itertools.product(*(list(taps(window, axis, o)) for axis, o in enumerate(out))):
        yield tuple(t for t, _ in per_axis), tuple(p for _, p in per_axis)


def window_of(extents, size, strides, pads, dilations, out=None):
    axes = len(size)
    if out is None:
        out = []
        for i in range(axes):
            reach = (size[i] - 1) * dilations[i] + 1
            out.append((extents[i] + pads[2 * i] + pads[2 * i + 1] - reach) // strides[i] + 1)
    return {"size": size, "stride": strides, "dilation": dilations, "pad": pads[0::2], "in": extents, "out": tuple(out)}


def convolve(x, w, window, depthwise):
    channels = w.shape[-2] * w.shape[-1] if depthwise else w.shape[-1]
    y = np.zeros((x.shape[0], *window["out"], channels))
    for out in np.ndindex(*window["out"]):
        for tap, at in each_tap(window, out):
            pixel = x[(slice(None), *at)]
            if depthwise:
                y[(slice(None), *out)] += (pixel[:, :, None] * w[tap][None]).reshape(x.shape[0], -1)
            else:
                y[(slice(None), *out)] += pixel @ w[tap]
    return y


def convolve_back(x, w, dy, window, depthwise):
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    for out in np.ndindex(*window["out"]):
        gradient = dy[(slice(None), *out)]
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


GEOMETRIES = [  # extents, filter, strides, pads, dilations, output
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


def convolutions():
    channels = [(1, 1), (3, 5), (8, 16), (17, 2)]
    for (extents, size, strides, pads, dilations, out), (c, k) in itertools.product(GEOMETRIES, channels):
        window = window_of(extents, size, strides, pads, dilations, out)
        label = f"{extents} {size} s{strides} p{pads} d{dilations} o{window['out']} c{c} k{k}"
        attributes = [strides, pads, dilations, window["out"]]
        x, w = Tensor((2, *extents, c), 1), Tensor((*size, c, k), 7)
        dy = Tensor((2, *window["out"], k), 3)
        y = convolve(x.data, w.data, window, False)
        case("Conv2D", label, [x, w], [*attributes, 0], [y])
        dx, dw = convolve_back(x.data, w.data, dy.data, window, False)
        case("Conv2DBackpropInput", label, [dy, w], [strides, pads, dilations, 0, x.shape], [dx])
        case("Conv2DBackpropFilter", label, [x, dy], [strides, pads, dilations, 0, w.shape], [dw])
        if c <= 8:
            depthwise_cases(label, extents, size, window, attributes, c, 1 if c == 8 else 2)
    channels_first()
    fused_convolutions()
    volumes()
    empty_convolutions()


def depthwise_cases(label, extents, size, window, attributes, c, m):
    x, w = Tensor((2, *extents, c), 1), Tensor((*size, c, m), 7)
    dy = Tensor((2, *window["out"], c * m), 3)
    case("DepthwiseConv2dNative", f"{label} m{m}", [x, w], [*attributes, 0], [convolve(x.data, w.data, window, True)])
    dx, dw = convolve_back(x.data, w.data, dy.data, window, True)
    case("DepthwiseConv2dNativeBackpropInput", f"{label} m{m}", [dy, w], [*attributes[:3], x.shape], [dx])
    case("DepthwiseConv2dNativeBackpropFilter", f"{label} m{m}", [x, dy], [*attributes[:3], w.shape], [dw])


def first(tensor):
    moved = Tensor((tensor.shape[0], tensor.shape[3], *tensor.shape[1:3]), tensor.seed)
    return moved, np.moveaxis(moved.data, 1, 3)


def channels_first():
    window = window_of((5, 6), (3, 2), (2, 1), (1, 0, 0, 1), (1, 1))
    attributes = [(2, 1), (1, 0, 0, 1), (1, 1), window["out"]]
    x, last = first(Tensor((2, 5, 6, 3), 1))
    w = Tensor((3, 2, 3, 4), 7)
    dy, dy_last = first(Tensor((2, *window["out"], 4), 3))
    y = convolve(last, w.data, window, False)
    case("Conv2D", "channels first", [x, w], [*attributes, 1], [np.moveaxis(y, 3, 1)])
    dx, dw = convolve_back(last, w.data, dy_last, window, False)
    case("Conv2DBackpropInput", "channels first", [dy, w], [*attributes[:3], 1, x.shape], [np.moveaxis(dx, 3, 1)])
    case("Conv2DBackpropFilter", "channels first", [x, dy], [*attributes[:3], 1, w.shape], [dw])
    bias, slope = Tensor((4,), 2), Tensor((4,), 20)
    value = y + bias.data
    case("FusedConv2D", "channels first, bias and prelu", [x, w, bias, slope], [*attributes, 1, 4, 0],
         [np.moveaxis(np.where(value < 0, value * slope.data, value), 3, 1)])


def fused_convolutions():
    window = window_of((4, 5), (2, 3), (1, 1), (0, 1, 1, 1), (1, 1))
    attributes = [(1, 1), (0, 1, 1, 1), (1, 1), window["out"], 0]
    for op, depthwise in (("FusedConv2D", False), ("FusedDepthwiseConv2D", True)):
        x, w = Tensor((2, 4, 5, 3), 1), Tensor((2, 3, 3, 2 if depthwise else 6), 7)
        base = convolve(x.data, w.data, window, depthwise)
        for activation, bias in itertools.product(ACTIVATIONS, (None, (6,), (1,), ())):
            number, apply = ACTIVATIONS[activation]
            inputs, value = [x, w], base
            if bias is not None or activation == "prelu":
                inputs.append(Tensor(bias, 4) if bias is not None else None)
            if bias is not None:
                value = value + inputs[2].data
            slope = Tensor((6,), 21)
            if activation == "prelu":
                inputs.append(slope)
            case(op, f"{activation} bias {bias}", inputs, [*attributes, number, 0.3], [apply(value, 0.3, slope.data)])
        slope = Tensor((*window["out"], 6), 21)
        case(op, "prelu weights for each pixel", [x, w, None, slope], [*attributes, 4, 0],
             [np.where(base < 0, base * slope.data, base)])
    x = Tensor((1, 2, 2, 1), values=[np.nan, 1, 2, -3])
    w = Tensor((1, 1, 1, 2), values=[1, -1])
    value = np.array([[[[np.nan] * 2, [1, 0]], [[2, 0], [0, 3]]]])
    case("FusedConv2D", "relu keeps nan", [x, w], [(1, 1), (0, 0, 0, 0), (1, 1), (2, 2), 0, 1, 0], [value])


def volumes():
    for size, strides, pads, dilations in (((2, 2, 2), (1, 1, 1), (0,) * 6, (1, 1, 1)),
                                           ((3, 2, 1), (2, 1, 1), (1, 1, 0, 1, 0, 0), (1, 1, 1)),
                                           ((2, 2, 2), (1, 1, 1), (0, 0, 1, 1, 0, 0), (2, 1, 2))):
        for c, k in ((1, 1), (3, 5), (8, 16)):
            window = window_of((4, 5, 3), size, strides, pads, dilations)
            x, w = Tensor((2, 4, 5, 3, c), 1), Tensor((*size, c, k), 7)
            dy = Tensor((2, *window["out"], k), 3)
            label = f"{size} s{strides} p{pads} d{dilations} c{c} k{k}"
            case("Conv3D", label, [x, w], [strides, pads, dilations, window["out"]],
                 [convolve(x.data, w.data, window, False)])
            dx, dw = convolve_back(x.data, w.data, dy.data, window, False)
            case("Conv3DBackpropInputV2", label, [dy, w], [strides, pads, dilations, x.shape], [dx])
            case("Conv3DBackpropFilterV2", label, [x, dy], [strides, pads, dilations, w.shape], [dw])


def empty_convolutions():
    square = [(1, 1), (0, 0, 0, 0), (1, 1)]
    for n, c, k in ((0, 2, 3), (2, 0, 3), (2, 2, 0)):
        x, w, dy = Tensor((n, 4, 4, c), 1), Tensor((2, 2, c, k), 1), Tensor((n, 3, 3, k), 1)
        case("Conv2D", f"empty n{n} c{c} k{k}", [x, w], [*square, (3, 3), 0], [np.zeros((n, 3, 3, k))])
        case("Conv2DBackpropInput", f"empty n{n} c{c} k{k}", [dy, w], [*square, 0, x.shape], [np.zeros(x.shape)])
        case("Conv2DBackpropFilter", f"empty n{n} c{c} k{k}", [x, dy], [*square, 0, w.shape], [np.zeros(w.shape)])
    x, w, bias = Tensor((1, 2, 2, 0), 1), Tensor((1, 1, 0, 3), 1), Tensor((3,), values=[-1, 0, 2])
    case("FusedConv2D", "nothing but bias", [x, w, bias], [*square, (2, 2), 0, 1, 0],
         [np.broadcast_to(np.maximum(bias.data, 0), (1, 2, 2, 3))])


# ---- dilation ----------------------------------------------------------------------------------


def dilations():
    for extents, size, strides, pads, dilation, _ in GEOMETRIES[:6]:
        for c in (1, 3):
            window = window_of(extents, size, strides, pads, dilation)
            x, w = Tensor((2, *extents, c), 1), Tensor((*size, c), 7)
            dy = Tensor((2, *window["out"], c), 3)
            y, dx, dw = np.zeros(dy.shape), np.zeros(x.shape), np.zeros(w.shape)
            for n, out, ch in itertools.product(range(2), np.ndindex(*window["out"]), range(c)):
                sums = [(x.data[(n, *at, ch)] + w.data[(*tap, ch)], tap, at) for tap, at in each_tap(window, out)]
                value, tap, at = max(sums, key=lambda s: s[0])  # the first of equals
                y[(n, *out, ch)] = value
                dx[(n, *at, ch)] += dy.data[(n, *out, ch)]
                dw[(*tap, ch)] += dy.data[(n, *out, ch)]
            label = f"{extents} {size} s{strides} p{pads} d{dilation} c{c}"
            attributes = [strides, pads, dilation]
            case("Dilation2D", label, [x, w], [*attributes, window["out"]], [y])
            case("Dilation2DBackpropInput", label, [x, w, dy], attributes, [dx])
            case("Dilation2DBackpropFilter", label, [x, w, dy], attributes, [dw])
    x, w = Tensor((1, 3, 3, 2), 1, dtype="int32"), Tensor((2, 2, 2), 7, dtype="int32")
    window = window_of((3, 3), (2, 2), (1, 1), (0,) * 4, (1, 1))
    y = np.zeros((1, 2, 2, 2))
    for out, ch in itertools.product(np.ndindex(2, 2), range(2)):
        y[(0, *out, ch)] = max(x.data[(0, *at, ch)] + w.data[(*tap, ch)] for tap, at in each_tap(window, out))
    case("Dilation2D", "int32", [x, w], [(1, 1), (0,) * 4, (1, 1), (2, 2)], [(y, "int32")])


# ---- pooling -----------------------------------------------------------------------------------


def pool(x, window, reduce):
    y = np.zeros((x.shape[0], *window["out"], x.shape[-1]))
    for n, out, c in itertools.product(range(x.shape[0]), np.ndindex(*window["out"]), range(x.shape[-1])):
        y[(n, *out, c)] = reduce([x[(n, *at, c)] for _, at in each_tap(window, out)])
    return y


def largest(values):
    return max((v for v in values if not np.isnan(v)), default=-np.inf)


def pool_back(x, dy, window, mode):
    dx = np.zeros(x.shape)
    volume = np.prod(window["size"])
    for n, out, c in itertools.product(range(x.shape[0]), np.ndindex(*window["out"]), range(x.shape[-1])):
        places = [at for _, at in each_tap(window, out)]
        gradient = dy[(n, *out, c)]
        if mode == "avg":
            for at in places:
                dx[(n, *at, c)] += gradient / volume
            continue
        order = reversed(places) if mode == "last" else places
        best = None
        for at in order:
            if best is None or x[(n, *at, c)] > x[(n, *best, c)]:
                best = at
        dx[(n, *best, c)] += gradient
    return dx


def pooling():
    planes = [((4, 4), (2, 2), (2, 2), (0,) * 4, (1, 1)), ((5, 6), (3, 2), (1, 2), (1, 1, 0, 1), (1, 1)),
              ((7, 5), (2, 2), (1, 1), (0,) * 4, (2, 1)), ((3, 3), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
              ((3, 3), (1, 1), (2, 2), (0,) * 4, (1, 1))]
    volumes3 = [((3, 4, 4), (2, 2, 2), (1, 2, 2), (0,) * 6, (1, 1, 1)),
                ((3, 3, 3), (2, 2, 2), (1, 1, 1), (0, 1, 0, 1, 1, 0), (1, 1, 1)),
                ((4, 3, 5), (2, 1, 2), (1, 1, 1), (0,) * 6, (2, 1, 2))]
    for (extents, size, strides, pads, dilation), c in itertools.product(planes + volumes3, (1, 3, 8, 67)):
        if c == 67 and extents not in ((5, 6), (3, 3, 3)):
            continue
        three = "3D" if len(extents) == 3 else ""
        window = window_of(extents, size, strides, pads, dilation)
        x, dy = Tensor((2, *extents, c), 1), Tensor((2, *window["out"], c), 3)
        label = f"{extents} {size} s{strides} p{pads} d{dilation} c{c}"
        attributes = [size, strides, pads, dilation]
        y = pool(x.data, window, largest)
        case(f"MaxPool{three}", label, [x], [*attributes, window["out"]], [y])
        case(f"AvgPool{three}", label, [x], [*attributes, window["out"]], [pool(x.data, window, np.mean)])
        case(f"AvgPool{three}Grad", label, [dy, x], attributes, [pool_back(x.data, dy.data, window, "avg")])
        mode = "last" if three else "first"
        result = Tensor(y.shape, values=y)
        case(f"MaxPool{three}Grad", label, [dy, x, result], attributes, [pool_back(x.data, dy.data, window, mode)])
        flat_x = Tensor((2, *extents, c), values=np.ones((2, *extents, c)))
        case(f"MaxPool{three}Grad", f"{label} all equal", [dy, flat_x], attributes,
             [pool_back(flat_x.data, dy.data, window, mode)])
        if not three:
            argmax(label, x, y, window, attributes)
    odd_pooling()


def argmax(label, x, y, window, attributes):
    index = {0: np.zeros(y.shape), 1: np.zeros(y.shape)}
    for place in np.ndindex(*y.shape):
        n, out, c = place[0], place[1:3], place[3]
        best = None
        for _, at in each_tap(window, out):
            if best is None or x.data[(n, *at, c)] > x.data[(n, *best, c)]:
                best = at
        flat_index = (best[0] * x.shape[2] + best[1]) * x.shape[3] + c
        index[0][place], index[1][place] = flat_index, flat_index + n * np.prod(x.shape[1:])
    for batch in (0, 1):
        case("MaxPoolWithArgmax", f"{label} batch {batch}", [x], [*attributes, window["out"], batch],
             [y, (index[batch], "int32")])


def odd_pooling():
    two = [(2, 2), (1, 1), (0,) * 4, (1, 1), (1, 1)]
    for values in ([np.nan, 1, 2, 3], [np.nan] * 4, [-np.inf] * 4, [np.inf, -np.inf, 0, 1]):
        x = Tensor((1, 2, 2, 1), values=values)
        case("MaxPool", f"of {values}", [x], two, [np.full((1, 1, 1, 1), largest(values))])
    x = Tensor((1, 2, 2, 1), values=[np.nan, 1, 2, 3])
    case("AvgPool", "of nan", [x], two, [np.full((1, 1, 1, 1), np.nan)])
    x = Tensor((2, 3, 3, 2), 5, dtype="int32")
    y = pool(x.data, window_of((3, 3), (2, 2), (1, 1), (0,) * 4, (1, 1)), max)
    case("MaxPool", "int32", [x], [(2, 2), (1, 1), (0,) * 4, (1, 1), (2, 2)], [(y, "int32")])
    case("MaxPool", "no batch", [Tensor((0, 2, 2, 1), 1)], two, [np.zeros((0, 1, 1, 1))])
    case("AvgPool", "no channels", [Tensor((1, 2, 2, 0), 1)], two, [np.zeros((1, 1, 1, 0))])


# ---- normalisation -----------------------------------------------------------------------------


def normalisation():
    x = Tensor((2, 3, 4, 5), 1)
    for offset, scale in itertools.product((False, True), (False, True)):
        mean, offsets, scales = Tensor((5,), 3), Tensor((5,), 4), Tensor((5,), 6)
        variance = Tensor((5,), values=[0.5, 1, 2, 0.25, 9])
        y = (x.data - mean.data) / np.sqrt(variance.data + 0.001)
        y = y * (scales.data if scale else 1) + (offsets.data if offset else 0)
        inputs = [x, mean, variance, offsets if offset else None, scales if scale else None]
        while inputs[-1] is None:
            inputs.pop()
        case("FusedBatchNorm", f"offset {offset} scale {scale}", inputs, [0.001], [y])
    whole = [Tensor(x.shape, 3), Tensor(x.shape, values=np.abs(Tensor(x.shape, 5).data) + 1)]
    case("FusedBatchNorm", "statistics for each element", [x, *whole], [0.01],
         [(x.data - whole[0].data) / np.sqrt(whole[1].data + 0.01)])
    mixed = [Tensor((1,), values=[0.5]), Tensor((5,), values=[1, 2, 3, 4, 5]), Tensor((4, 5), 2)]
    case("FusedBatchNorm", "statistics of several sizes", [x, *mixed], [0.01],
         [(x.data - 0.5) / np.sqrt(mixed[1].data + 0.01) + mixed[2].data])
    case("FusedBatchNorm", "no batch", [Tensor((0, 2, 2, 5), 1), Tensor((5,), 1), Tensor((5,), 1)], [0.01],
         [np.zeros((0, 2, 2, 5))])
    local_response()
    softmaxes()


def local_response():
    for c, radius, bias, alpha, beta in ((1, 5, 1, 1, 0.5), (3, 1, 1, 1, 0.5), (7, 2, 2, 0.3, 0.75), (5, 100, 1, 0.1, 1)):
        x, dy = Tensor((2, 3, 2, c), 1), Tensor((2, 3, 2, c), 3)
        near = [slice(max(0, i - radius), min(c, i + radius + 1)) for i in range(c)]
        norm = np.stack([bias + alpha * np.sum(x.data[..., s] ** 2, -1) for s in near], -1)
        y = x.data * norm**-beta
        dx = np.zeros(x.shape)
        for i, s in enumerate(near):
            dx[..., s] += -2 * alpha * beta * x.data[..., s] * (y[..., i] / norm[..., i] * dy.data[..., i])[..., None]
            dx[..., i] += norm[..., i] ** -beta * dy.data[..., i]
        label = f"c{c} radius {radius} {bias} {alpha} {beta}"
        case("LRN", label, [x], [radius, bias, alpha, beta], [y], 2e-5)
        case("LRNGrad", label, [x, Tensor(y.shape, values=y), dy], [radius, bias, alpha, beta], [dx], 1e-4)


def softmaxes():
    for shape in ((1,), (5,), (3, 10), (2, 3, 17), (4, 64), (0, 3), (3, 0), (1, 1001)):
        x = Tensor(shape, 2)
        soft = special.softmax(x.data, -1) if x.data.size else x.data
        log = special.log_softmax(x.data, -1) if x.data.size else x.data
        case("Softmax", f"{shape}", [x], [-1], [soft])
        case("LogSoftmax", f"{shape}", [x], [-1], [log], 2e-5)
    inf, nan = np.inf, np.nan
    rows = [[nan, 1, 2, 3, 4], [inf, 1, 2, 3, 4], [-inf] * 5, [-inf, 1, 1, 1, 1], [1000, 1000, 0, 0, -1000],
            [1, 2, 3, 4, nan]]
    x = Tensor((6, 5), values=rows)
    broken = np.array([True, True, True, False, False, True])[:, None]
    with np.errstate(all="ignore"):
        safe = np.where(broken, 0, x.data)
        case("Softmax", "nan and infinities", [x], [1], [np.where(broken, nan, special.softmax(safe, -1))])
        case("LogSoftmax", "nan and infinities", [x], [1], [np.where(broken, nan, special.log_softmax(safe, -1))])


products()
convolutions()
dilations()
pooling()
normalisation()
OUT.parent.mkdir(parents=True, exist_ok=True)
OUT.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES) + "\n]\n")
print(f"{len(CASES)} cases, {OUT.stat().st_size // 1024} KiB")
