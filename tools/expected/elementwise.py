"""Elementwise operations."""
import numpy as np
from scipy import special

from .case import DTYPES

SPECIALS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-30,
                     -1e-30, 1e30, -1e30, 88.0, 89.0, -88.0, -104.0, 1e-45, 3.4e38, 20.0, -20.0],
                    np.float32)
SHAPES = [(), (0,), (1,), (7,), (8,), (16,), (33,), (3, 5), (2, 0, 3), (2, 3, 4, 5)]
INTEGERS = ["int32", "int64", "uint8", "int8"]
FLOATS = ["float32", "float64", "float16"]


def softplus(x):
    return np.logaddexp(x, 0)


def selu(x):
    return 1.0507009873554805 * np.where(x >= 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0)))


# name: function, lowest and highest argument, whether complex operands are allowed
UNARY = {
    "Abs": (np.abs, -4, 4, False),
    "Acos": (np.arccos, -1, 1, False),
    "Acosh": (np.arccosh, 1, 9, False),
    "Asin": (np.arcsin, -1, 1, False),
    "Asinh": (np.arcsinh, -9, 9, False),
    "Atan": (np.arctan, -9, 9, False),
    "Atanh": (np.arctanh, -0.99, 0.99, False),
    "Ceil": (np.ceil, -4, 4, False),
    "Cos": (np.cos, -9, 9, True),
    "Cosh": (np.cosh, -9, 9, True),
    "Elu": (lambda x: np.where(x >= 0, x, np.expm1(np.minimum(x, 0))), -4, 4, False),
    "Erf": (special.erf, -4, 4, False),
    "Exp": (np.exp, -9, 9, True),
    "Expm1": (np.expm1, -4, 4, True),
    "Floor": (np.floor, -4, 4, False),
    "Log": (np.log, 0.01, 99, True),
    "Log1p": (np.log1p, -0.9, 99, False),
    "Neg": (np.negative, -4, 4, True),
    "Reciprocal": (lambda x: 1 / x, 0.1, 9, True),
    "Relu": (lambda x: np.where(x < 0, 0, x), -4, 4, False),
    "Relu6": (lambda x: np.where(x < 0, 0, np.where(x > 6, 6, x)), -9, 9, False),
    "Round": (np.rint, -4, 4, False),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9, True),
    "Selu": (selu, -4, 4, False),
    "Sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9, True),
    "Sign": (lambda x: np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0)), -4, 4, False),
    "Sin": (np.sin, -9, 9, True),
    "Sinh": (np.sinh, -4, 4, True),
    "Softplus": (softplus, -30, 30, False),
    "Sqrt": (np.sqrt, 0, 99, True),
    "Square": (lambda x: x * x, -9, 9, True),
    "Tan": (np.tan, -1.4, 1.4, True),
    "Tanh": (np.tanh, -9, 9, True),
}
# Integers in, float32 out.
FLOATING = {"Exp", "LeakyRelu"}


def stored(values, dtype):
    """As JavaScript stores numbers in an array of that dtype: truncated, wrapped, NaN as 0."""
    values = np.asarray(values)
    if np.issubdtype(DTYPES[dtype], np.integer) and not np.issubdtype(values.dtype, np.integer):
        values = np.where(np.isfinite(values), np.trunc(values), 0)
        return values.astype(np.int64).astype(DTYPES[dtype])
    return values.astype(DTYPES[dtype])


def wide(x):
    if np.iscomplexobj(x):
        return x.astype(np.complex128)
    return x.astype(np.float64)


def unary(cases):
    for name, (function, low, high, complex_too) in UNARY.items():
        tolerance = (3e-6, 2e-6)
        for shape in SHAPES:
            x = cases.values(shape, "float32", low, high)
            cases.add(name, [x], function(wide(x)).astype(np.float32), tolerance=tolerance)
        for dtype in INTEGERS:
            x = cases.values((3, 11), dtype, max(low, -9 if dtype != "uint8" else 0), high)
            if name in ("Reciprocal", "Rsqrt", "Log"):
                x = np.maximum(x, 1)
            out = "float32" if name in FLOATING else dtype
            cases.add(name, [x], stored(function(wide(x)), out), tolerance=tolerance)
        for dtype in ("float64", "float16"):
            x = cases.values((5, 7), dtype, low, high)
            cases.add(name, [x], function(wide(x)).astype(DTYPES[dtype]))
        if complex_too:
            x = cases.values((3, 7), "complex64", 0.2, 1.2)
            cases.add(name, [x], function(wide(x)).astype(np.complex64))
        with np.errstate(all="ignore"):
            expected = function(SPECIALS.astype(np.float64)).astype(np.float32)
            if name == "Round":
                expected = np.rint(SPECIALS)
            cases.add(name, [SPECIALS], expected, tolerance=(4e-6, 1e-6), note="special values")


def far_out(cases):
    """Arguments beyond what a float's phase can tell: in doubles, as TensorFlow.js has it."""
    x = np.array([-608065414.9, 781902002.8, -470910673.97, 1786759246.2, 1e6, -39001, 38999],
                 np.float32)
    for name, function in (("Tan", np.tan), ("Sin", np.sin), ("Cos", np.cos)):
        cases.add(name, [x], function(x.astype(np.float64)).astype(np.float32),
                  tolerance=(1e-7, 1e-5))


def unary_with_attributes(cases):
    for dtype in ["float32", "int32", "float64", "int64"]:
        x = cases.values((4, 9), dtype, -9, 9)
        cases.add("ClipByValue", [x], np.clip(x, -3, 5), [-3, 5])
        cases.add("ClipByValue", [x], np.minimum(x, 5), [-np.inf, 5])
        cases.add("Step", [x], np.where(x > 0, 1, 2).astype(x.dtype), [2])
        expected = np.where(x < 0, x * 0.2, x).astype(
            np.float32 if dtype.startswith("int") else x.dtype)
        cases.add("LeakyRelu", [x], expected, [0.2])
    nans = np.array([np.nan, -1, 1], np.float32)
    cases.add("Step", [nans], np.array([np.nan, 0.5, 1], np.float32), [0.5])
    cases.add("ClipByValue", [nans], np.array([np.nan, 0, 0.5], np.float32), [0, 0.5])
    x = cases.values((3, 17), "complex64")
    cases.add("ComplexAbs", [x], np.abs(x))
    for dtype in ["float32", "float64", "float16"]:
        x = SPECIALS.astype(DTYPES[dtype])
        cases.add("IsNan", [x], np.isnan(x))
        cases.add("IsInf", [x], np.isinf(x))
        cases.add("IsFinite", [x], np.isfinite(x))
    for dtype in ["bool", "int32"]:
        x = cases.values((19,), dtype, -1, 1)
        cases.add("LogicalNot", [x], x == 0)


def casts(cases):
    for source in DTYPES:
        for target in DTYPES:
            if source == target:
                continue
            x = cases.values((3, 13), source, 0, 100)
            real = x.real if source == "complex64" else x
            if np.issubdtype(DTYPES[target], np.integer):
                expected = stored(real, target)
            else:
                expected = (real != 0) if target == "bool" else real.astype(DTYPES[target])
            cases.add("Cast", [x], expected, [target])
    odd = np.array([np.nan, np.inf, -np.inf, 2147483648.0, -1.9, 1.9, 4294967301.0], np.float32)
    cases.add("Cast", [odd], np.array([0, 0, 0, -2147483648, -1, 1, 0], np.int32), ["int32"])
    cases.add("Cast", [odd], np.array([1] * 7, np.bool_), ["bool"])
    halves = np.array([1 + 2**-11, 1 + 3 * 2**-11, 65519, 65520, 6e-8, 2**-25, 1e-4], np.float32)
    cases.add("Cast", [halves], halves.astype(np.float16), ["float16"], tolerance=(0, 0))


PAIRS = [((), ()), ((5,), (5,)), ((33,), ()), ((), (33,)), ((4, 1), (1, 5)), ((2, 3, 4), (4,)),
         ((3, 4), (2, 3, 4)), ((2, 1, 4), (2, 3, 1)), ((0, 3), (1, 3)), ((7, 19), (7, 1)),
         ((1, 2, 1, 3), (4, 1, 5, 1)), ((6, 1, 2, 1, 2), (1, 3, 1, 2, 2))]


def js_mod(a, b):
    return np.mod(a, b)


BINARY = {
    "Add": np.add,
    "Sub": np.subtract,
    "Multiply": np.multiply,
    "SquaredDifference": lambda a, b: (a - b) * (a - b),
    "Maximum": np.maximum,
    "Minimum": np.minimum,
}
COMPARE = {"Equal": np.equal, "NotEqual": np.not_equal, "Greater": np.greater,
           "GreaterEqual": np.greater_equal, "Less": np.less, "LessEqual": np.less_equal}
LOGICAL = {"LogicalAnd": np.logical_and, "LogicalOr": np.logical_or, "LogicalXor": np.logical_xor}


def binary(cases):
    for name, function in BINARY.items():
        for dtype in ["float32", "int32"]:
            for a_shape, b_shape in PAIRS:
                a, b = cases.values(a_shape, dtype), cases.values(b_shape, dtype)
                cases.add(name, [a, b], function(a, b))
        for dtype in ["float64", "int64", "uint8", "int8", "float16"]:
            a, b = cases.values((3, 5), dtype, 0, 9), cases.values((5,), dtype, 0, 9)
            cases.add(name, [a, b], function(a, b))
        if name not in ("Maximum", "Minimum"):
            a, b = cases.values((3, 5), "complex64"), cases.values((5,), "complex64")
            cases.add(name, [a, b], function(a, b))
        with np.errstate(all="ignore"):
            a, b = np.meshgrid(SPECIALS, SPECIALS)
            cases.add(name, [a, b], function(a, b).astype(np.float32), note="special values")
    big = np.array([2**31 - 1, -2**31, 65536], np.int32)
    cases.add("Add", [big, big], big + big, note="wraps around")
    cases.add("Multiply", [big, big], big * big, note="wraps around")
    mixed = cases.values((4,), "int32"), cases.values((4,), "float32")
    cases.add("Add", mixed, (mixed[0] + mixed[1]).astype(np.float32), note="int32 becomes float32")


def binary_more(cases):
    a, b = cases.values((3, 17), "float32", -9, 9), cases.values((17,), "float32", 0.5, 9)
    cases.add("RealDiv", [a, b], a / b)
    zero = np.zeros((1,), np.float32)
    with np.errstate(all="ignore"):
        x = np.array([1, -1, 0], np.float32)
        cases.add("RealDiv", [x, zero], x / zero)
    c, e = cases.values((3, 7), "complex64"), cases.values((7,), "complex64", 1, 2)
    cases.add("RealDiv", [c, e], c / e)
    cases.add("Mod", [a, b], np.mod(a, b), tolerance=(1e-5, 1e-5))
    cases.add("Mod", [a, -b], np.mod(a, -b), tolerance=(1e-5, 1e-5))
    i = np.arange(-9, 10, dtype=np.int32)
    for divisor in (3, -3, 1, -1, 7):
        d = np.array([divisor], np.int32)
        cases.add("Mod", [i, d], np.mod(i, d))
        cases.add("FloorDiv", [i, d], np.floor_divide(i, d))
    cases.add("FloorDiv", [i, np.array(0, np.int32)], np.zeros_like(i), note="by zero")
    cases.add("FloorDiv", [a, b], np.floor(a.astype(np.float64) / b).astype(np.int32))
    cases.add("Pow", [np.abs(a) + 0.1, b], np.power(np.abs(a).astype(np.float64) + np.float32(0.1), b)
              .astype(np.float32), tolerance=(1e-5, 1e-6))
    cases.add("Pow", [i, np.array(3, np.int32)], i**3)
    cases.add("Pow", [np.array([2, 3, 1, -1], np.int32), np.array(-1, np.int32)],
              np.array([0, 0, 1, -1], np.int32), note="truncated")
    cases.add("Atan2", [a, b], np.arctan2(a, b))
    cases.add("Prelu", [a, b], np.where(a < 0, a * b, a))
    y = cases.values((3, 17), "float32", -1, 1)
    cases.add("EluGrad", [a, y], np.where(y >= 0, a, a * (y + 1)))
    cases.add("BitwiseAnd", [i, np.array(6, np.int32)], i & 6)
    many = [cases.values((3, 41)) for _ in range(6)]
    for count in (1, 2, 3, 6):
        cases.add("AddN", many[:count], np.sum(many[:count], axis=0, dtype=np.float32),
                  tolerance=(1e-5, 1e-5))


def comparisons(cases):
    for name, function in COMPARE.items():
        for dtype in ["float32", "int32", "bool", "float64", "int64", "uint8", "float16"]:
            for a_shape, b_shape in PAIRS if dtype in ("float32", "int32") else PAIRS[1:6]:
                a, b = cases.values(a_shape, dtype, -1, 1), cases.values(b_shape, dtype, -1, 1)
                if dtype.startswith("float"):
                    a, b = np.rint(a), np.rint(b)
                cases.add(name, [a, b], function(a, b))
        a, b = np.meshgrid(SPECIALS, SPECIALS)
        cases.add(name, [a, b], function(a, b), note="special values")
    a, b = np.array([1 + 1j, 2, 3j], np.complex64), np.array([1 + 1j, 2j, 3j], np.complex64)
    cases.add("Equal", [a, b], a == b)
    cases.add("NotEqual", [a, b], a != b)
    for name, function in LOGICAL.items():
        for a_shape, b_shape in PAIRS:
            a, b = cases.values(a_shape, "bool"), cases.values(b_shape, "bool")
            cases.add(name, [a, b], function(a, b))


def select(cases):
    for dtype in ["float32", "int32", "bool", "complex64", "float16"]:
        t, e = cases.values((4, 5), dtype), cases.values((4, 5), dtype)
        condition = cases.values((4, 5), "bool")
        cases.add("Select", [condition, t, e], np.where(condition, t, e))
        rows = cases.values((4,), "bool")
        cases.add("Select", [rows, t, e], np.where(rows[:, None], t, e))
        for one in (True, False):
            cases.add("Select", [np.array(one), t, e], t if one else e)


def add_cases(cases):
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        unary(cases)
        far_out(cases)
        unary_with_attributes(cases)
        casts(cases)
        binary(cases)
        binary_more(cases)
        comparisons(cases)
        select(cases)
