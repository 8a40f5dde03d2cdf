"""Matrix products, plain and fused. What the fused operations share is here as well."""
import itertools

import numpy as np
from scipy import special

DTYPES = ("float32", "int32", "complex64")


def tensor(shape, seed, dtype="float32"):
    """Sixteenths (of int32: whole numbers) that repeat after 101, exact in float32."""
    count = int(np.prod(shape)) * (2 if dtype == "complex64" else 1)
    flat = (np.arange(count) * 37 + seed * 11) % 101 - 50.0
    if dtype == "int32":
        return flat.reshape(shape).astype(np.int32)
    flat = (flat / 16).astype(np.float32)
    return flat.view(np.complex64).reshape(shape) if dtype == "complex64" else flat.reshape(shape)


def array(values, shape=None, dtype="float32"):
    made = np.asarray(values, dtype)
    return made if shape is None else made.reshape(shape)


def add(cases, op, note, inputs, attributes, expected, dtype="float32", error=1e-5):
    """The error allowed grows with what was summed: the largest result stands for it."""
    expected = np.asarray(expected)
    finite = np.abs(expected[np.isfinite(expected)])
    allowed = 0 if dtype == "int32" else error * max(1.0, float(finite.max(initial=0)))
    cases.add(op, inputs, expected.astype(dtype), attributes, (0, allowed), note)


ACTIVATIONS = {  # number, value(x, alpha, prelu's weights)
    "linear": (0, lambda x, a, w: x),
    "relu": (1, lambda x, a, w: np.where(np.isnan(x), x, np.maximum(x, 0))),
    "relu6": (2, lambda x, a, w: np.where(np.isnan(x), x, np.clip(x, 0, 6))),
    "elu": (3, lambda x, a, w: np.where(x >= 0, x, np.expm1(np.minimum(x, 0)))),
    "prelu": (4, lambda x, a, w: np.where(x < 0, x * w, x)),
    "leakyrelu": (5, lambda x, a, w: np.where(x < 0, x * a, x)),
    "sigmoid": (6, lambda x, a, w: special.expit(x)),
}


def wide(a):
    """As float64, complex128 or int64."""
    return a.astype({"float32": np.float64, "complex64": np.complex128, "int32": np.int64}[str(a.dtype)])


def product(a, b, transpose_a=0, transpose_b=0):
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    return np.matmul(wide(left), wide(right))


def matrix(batch, rows, columns, transposed, seed, dtype="float32"):
    shape = (*batch, columns, rows) if transposed else (*batch, rows, columns)
    return tensor(shape, seed, dtype)


def plain(cases):
    sizes = [(1, 1, 1), (2, 3, 4), (1, 128, 5), (1, 33, 131), (17, 31, 9), (33, 16, 65), (64, 70, 48)]
    batches = [((3,), (3,)), ((3,), ()), ((), (4,)), ((2, 1), (1, 3)), ((2, 3), (3,)), ((1,), (1,)),
               ((2, 1, 2), (3, 1)), ((0,), (0,))]
    shapes = [((), (), *size) for size in sizes] + [(a, b, 3, 5, 4) for a, b in batches]
    for (a_batch, b_batch, m, k, n), ta, tb, dtype in itertools.product(shapes, (0, 1), (0, 1), DTYPES):
        a, b = matrix(a_batch, m, k, ta, 1, dtype), matrix(b_batch, k, n, tb, 5, dtype)
        add(cases, "BatchMatMul", "", [a, b], [ta, tb], product(a, b, ta, tb), dtype)
    for (m, k, n), dtype in itertools.product([(0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0)], DTYPES):
        a, b = matrix((), m, k, 0, 1, dtype), matrix((), k, n, 0, 1, dtype)
        add(cases, "BatchMatMul", "empty", [a, b], [0, 0], product(a, b), dtype)
    a, b = array([[np.nan, 1], [2, np.inf]]), array([[1, 0], [1, 1]])
    with np.errstate(invalid="ignore"):
        add(cases, "BatchMatMul", "NaN and infinity", [a, b], [0, 0], product(a, b))
    big = array([[2147483647, 3], [-5, 2147483647]], dtype="int32")
    wrapped = (product(big, big) + 2**31) % 2**32 - 2**31
    add(cases, "BatchMatMul", "int32 wraps", [big, big], [0, 0], wrapped, "int32")
    # Enough work for the whole team.
    for ta, tb in itertools.product((0, 1), (0, 1)):
        a, b = matrix((), 170, 160, ta, 1), matrix((), 160, 165, tb, 2)
        add(cases, "BatchMatMul", "large", [a, b], [ta, tb], product(a, b, ta, tb))


def fused(cases):
    a, b = tensor((5, 7), 1), tensor((7, 6), 9)
    for activation, bias in itertools.product(ACTIVATIONS, (None, (6,), (1,), (1, 6), (5, 1), (5, 6))):
        number, apply = ACTIVATIONS[activation]
        biases = None if bias is None else tensor(bias, 4)
        slopes = tensor((6,), 21)
        value = product(a, b) + (0 if bias is None else biases)
        inputs = [a, b, biases, slopes] if activation == "prelu" else [a, b, biases]
        add(cases, "_FusedMatMul", activation, inputs, [0, 0, number, 0.3], apply(value, 0.3, slopes))
    for shape in ((1,), (5, 1), (5, 6), ()):
        slopes, value = tensor(shape, 21), product(a, b)
        add(cases, "_FusedMatMul", "prelu", [a, b, None, slopes], [0, 0, 4, 0],
            np.where(value < 0, value * slopes, value))
    for activation, (number, apply) in ACTIVATIONS.items():
        if activation == "prelu":
            continue
        poisoned, ones = array([[np.nan, 1]]), np.ones((2, 3), np.float32)
        add(cases, "_FusedMatMul", f"{activation} keeps NaN", [poisoned, ones], [0, 0, number, 0.3],
            np.full((1, 3), np.nan))
        bias = array([-2, 0.5, 7])
        nothing = [tensor((2, 0), 1), tensor((0, 3), 1), bias]
        add(cases, "_FusedMatMul", f"{activation} of nothing but the bias", nothing, [0, 0, number, 0.3],
            apply(np.broadcast_to(bias, (2, 3)).astype(np.float64), 0.3, None))
    a, b, bias = tensor((2, 4, 7), 1), tensor((2, 7, 6), 9), tensor((6,), 3)
    add(cases, "_FusedMatMul", "batch", [a, b, bias], [0, 0, 1, 0], np.maximum(product(a, b) + bias, 0))
    b = tensor((6, 7), 9)
    add(cases, "_FusedMatMul", "batch times one", [a, b, bias], [0, 1, 1, 0],
        np.maximum(product(a, b, 0, 1) + bias, 0))


def add_cases(cases):
    plain(cases)
    fused(cases)
