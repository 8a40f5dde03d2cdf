"""Elementwise operations."""
import numpy as np
import torch
import torch.nn.functional as F

from .gradients import EVERY, HALF, REAL

UNARY = {
    "Abs": torch.abs, "Asinh": torch.asinh, "Atan": torch.atan, "Cos": torch.cos, "Cosh": torch.cosh,
    "Elu": F.elu, "Erf": torch.erf, "Exp": torch.exp, "Expm1": torch.expm1, "Neg": torch.neg,
    "Relu": torch.relu, "Relu6": F.relu6, "Selu": torch.selu, "Sigmoid": torch.sigmoid, "Sin": torch.sin,
    "Sinh": torch.sinh, "Softplus": F.softplus, "Square": torch.square, "Tanh": torch.tanh,
}
POSITIVE = {"Log": torch.log, "Log1p": torch.log1p, "Reciprocal": torch.reciprocal, "Rsqrt": torch.rsqrt,
            "Sqrt": torch.sqrt}
SMALL = {"Acos": torch.acos, "Asin": torch.asin, "Atanh": torch.atanh, "Tan": torch.tan}


def unary(g):
    for dtype, shapes in ((each, ((3, 5), (), (2, 0, 3)) if each in REAL else ((3, 4),)) for each in (*REAL, *HALF)):
        for shape in shapes:
            for op, function in UNARY.items():
                g.add(op, function, [g.values(shape, dtype)])
            for op, function in POSITIVE.items():
                g.add(op, function, [g.values(shape, dtype, 0.4, 3)])
            for op, function in SMALL.items():
                g.add(op, function, [g.values(shape, dtype, -0.8, 0.8)])
            g.add("Acosh", torch.acosh, [g.values(shape, dtype, 1.5, 4)])
            g.add("LeakyRelu", lambda x: F.leaky_relu(x, 0.3), [g.values(shape, dtype)], [0.3])
            g.add("ClipByValue", lambda x: x.clamp(-0.7, 0.9), [g.values(shape, dtype)], [-0.7, 0.9])
    g.add("Neg", torch.neg, [g.values((2, 3), "complex64")])


def elu_grad(dy, y):
    """What Elu's gradient makes of dy, by Elu's result."""
    return torch.ops.aten.elu_backward(dy, 1.0, 1.0, 1.0, True, y)


BINARY = {
    "Add": torch.add, "Sub": torch.sub, "Multiply": torch.mul, "RealDiv": torch.div, "Atan2": torch.atan2,
    "Maximum": torch.maximum, "Minimum": torch.minimum, "Mod": torch.remainder,
    "SquaredDifference": lambda a, b: (a - b) ** 2,
    "Prelu": lambda x, alpha: torch.where(x > 0, x, x * alpha),
}
SHAPES = (((2, 3), (2, 3)), ((4, 1, 3), (2, 1)), ((), (3,)), ((0, 3), (3,)), ((2, 3), ()), ((1,), (5, 1)))


def binary(g):
    for dtype, shapes in ((each, SHAPES if each in REAL else SHAPES[:2]) for each in (*REAL, *HALF)):
        for a, b in shapes:
            for op, function in BINARY.items():
                g.add(op, function, [g.values(a, dtype), g.values(b, dtype, 0.5, 2)])
            g.add("Pow", torch.pow, [g.values(a, dtype, 0.5, 3), g.values(b, dtype)])
    for dtype in (*REAL, *HALF):
        g.add("Prelu", lambda x, alpha: F.prelu(x, alpha), [g.values((4, 3), dtype), g.values((3,), dtype)])
        g.add("EluGrad", elu_grad, [g.values((2, 3), dtype), g.values((2, 3), dtype, -0.9, 2)])
        g.add("Pow", torch.pow, [g.values((2, 4), dtype, -3, -0.5), np.array([2, 3, 0, 1], np.int32)])
    g.add("EluGrad", elu_grad, [g.values((0, 3)), g.values((0, 3))])
    for a, b in SHAPES[:4]:
        for op in ("Add", "Sub", "Multiply"):
            g.add(op, BINARY[op], [g.values(a, "complex64"), g.values(b, "complex64")])
    g.add("Multiply", torch.mul, [g.values((2, 3)), g.values((3,), "complex64")], note="a real one and a complex one")
    g.add("Add", torch.add, [g.values((2, 3), "float16"), g.values((3,))], note="of two dtypes")


def several(g):
    condition = np.array([[True, False, True], [False, True, True]])
    for dtype in EVERY:
        g.add("AddN", lambda *x: x[0] + x[1] + x[2], [g.values((2, 3), dtype) for _ in range(3)])
        g.add("Select", torch.where, [condition, g.values((2, 3), dtype), g.values((2, 3), dtype)])
        g.add("Select", lambda c, a, b: torch.where(c[:, None], a, b),
              [condition[:, 0], g.values((2, 3), dtype), g.values((2, 3), dtype)], note="by rows")
    g.add("AddN", lambda x: x + 0, [g.values((2, 3))])
    g.add("AddN", torch.add, [g.values((0, 3)), g.values((0, 3))])
    g.add("Select", torch.where, [condition[:, :0], g.values((2, 0)), g.values((2, 0))])


IDS = {"float32": 1, "complex64": 4, "float64": 5, "float16": 8, "bfloat16": 9}


def conversions(g):
    for before in (*REAL, *HALF):
        for after, number in IDS.items():
            g.add("Cast", lambda x: x.to(getattr(torch, after)).clone(), [g.values((2, 3), before)], [number])
    g.add("Cast", lambda x: x.double(), [g.values((0, 3))], [IDS["float64"]])
    for shape in ((2, 3), (), (0, 2)):
        x = g.values(shape, "complex64")
        g.add("ComplexAbs", torch.abs, [x])
        g.add("Real", lambda x: x.real.clone(), [x])
        g.add("Imag", lambda x: x.imag.clone(), [x])
        g.add("Complex", torch.complex, [g.values(shape), g.values(shape)])
    g.add("ComplexAbs", torch.abs, [np.array([0, 3 + 4j, -1j], np.complex64)], note="at 0")


def add_cases(g):
    for family in (unary, binary, several, conversions):
        family(g)
