"""What PyTorch says of the gradients.

    make_expected.py torch_gradients tests/expected/gradients.jsonl

PyPI's torch weighs gigabytes, so the file is in the tree and this is run where it changes (docs/grad.md). A case's inputs are
those of the operation and then, for each result, the gradient that reaches it; its outputs are what reaches each input.
"""
import numpy as np
import torch
import torch.nn.functional as F

DTYPES = ("float32", "float64")


def to_torch(array):
    if array is None:
        return None
    made = torch.from_numpy(np.array(array))
    return made.requires_grad_(made.dtype.is_floating_point or made.dtype.is_complex)


class Gradients:
    def __init__(self, cases):
        self.cases = cases
        self.random = np.random.default_rng(20261117)

    def values(self, shape, dtype="float32", low=-2.0, high=2.0):
        drawn = self.random.uniform(low, high, shape)
        if dtype == "complex64":
            drawn = drawn + 1j * self.random.uniform(low, high, shape)
        return drawn.astype(dtype)

    def add(self, op, function, inputs, attributes=(), error=None):
        """`function` is PyTorch's, of the inputs; whole numbers among them have no gradient."""
        given = [to_torch(each) for each in inputs]
        made = function(*given)
        made = made if isinstance(made, (list, tuple)) else [made]
        reaching = [self.values(tuple(each.shape), str(each.dtype).split(".")[1]) for each in made]
        torch.autograd.backward(made, [torch.from_numpy(each) for each in reaching])
        expected = [None if each is None or not each.requires_grad else
                    (torch.zeros_like(each) if each.grad is None else each.grad).numpy() for each in given]
        self.write(op, inputs, reaching, expected, attributes, error)

    def write(self, op, inputs, reaching, expected, attributes, error):
        largest = max([1.0] + [float(np.abs(each).max()) for each in expected if each is not None and each.size])
        double = all(str(each.dtype) == "float64" for each in expected if each is not None)
        allowed = error or (1e-11 if double else 1e-5) * largest
        self.cases.add(op, [*inputs, *reaching], expected, attributes, (allowed, allowed))


def elementwise(g):
    unary = {
        "Abs": torch.abs, "Asinh": torch.asinh, "Atan": torch.atan, "Cos": torch.cos, "Cosh": torch.cosh,
        "Elu": F.elu, "Erf": torch.erf, "Exp": torch.exp, "Expm1": torch.expm1, "Neg": torch.neg,
        "Relu": torch.relu, "Relu6": F.relu6, "Selu": torch.selu, "Sigmoid": torch.sigmoid, "Sin": torch.sin,
        "Sinh": torch.sinh, "Softplus": F.softplus, "Square": torch.square, "Tanh": torch.tanh,
    }
    positive = {"Log": torch.log, "Log1p": torch.log1p, "Reciprocal": torch.reciprocal, "Rsqrt": torch.rsqrt,
                "Sqrt": torch.sqrt}
    small = {"Acos": torch.acos, "Asin": torch.asin, "Atanh": torch.atanh, "Tan": torch.tan}
    for dtype in DTYPES:
        for shape in ((3, 5), (), (2, 0, 3)):
            for op, function in unary.items():
                g.add(op, function, [g.values(shape, dtype)])
            for op, function in positive.items():
                g.add(op, function, [g.values(shape, dtype, 0.4, 3)])
            for op, function in small.items():
                g.add(op, function, [g.values(shape, dtype, -0.8, 0.8)])
            g.add("Acosh", torch.acosh, [g.values(shape, dtype, 1.5, 4)])
            g.add("LeakyRelu", lambda x: F.leaky_relu(x, 0.3), [g.values(shape, dtype)], [0.3])
            g.add("ClipByValue", lambda x: x.clamp(-0.7, 0.9), [g.values(shape, dtype)], [-0.7, 0.9])


def binary(g):
    functions = {
        "Add": torch.add, "Sub": torch.sub, "Multiply": torch.mul, "RealDiv": torch.div, "Atan2": torch.atan2,
        "Maximum": torch.maximum, "Minimum": torch.minimum,
        "SquaredDifference": lambda a, b: (a - b) ** 2,
    }
    shapes = (((2, 3), (2, 3)), ((4, 1, 3), (2, 1)), ((), (3,)), ((0, 3), (3,)), ((2, 3), ()), ((1,), (5, 1)))
    for dtype in DTYPES:
        for a, b in shapes:
            for op, function in functions.items():
                g.add(op, function, [g.values(a, dtype), g.values(b, dtype, 0.5, 2)])
            g.add("Pow", torch.pow, [g.values(a, dtype, 0.5, 3), g.values(b, dtype)])
    for a, b in shapes[:4]:
        for op in ("Add", "Sub", "Multiply"):
            g.add(op, functions[op], [g.values(a, "complex64"), g.values(b, "complex64")])


def movement(g):
    for dtype in DTYPES:
        x = g.values((2, 3, 4), dtype)
        g.add("Reshape", lambda x: x.reshape(4, 6), [x], [[4, 6]])
        g.add("Transpose", lambda x: x.permute(2, 0, 1), [x], [[2, 0, 1]])
        g.add("Slice", lambda x: x[1:2, 1:3, :], [x], [[1, 1, 0], [1, 2, 4]])
        g.add("BroadcastTo", lambda x: x.expand(5, 3, 4), [g.values((3, 1), dtype)], [[5, 3, 4]])
        g.add("Tile", lambda x: x.repeat(3, 2), [g.values((2, 3), dtype)], [[3, 2]])
        g.add("Reverse", lambda x: x.flip(1), [x], [[1]])
        g.add("PadV2", lambda x: F.pad(x, (0, 3, 1, 2), value=7.0), [g.values((2, 3), dtype)], [[1, 2, 0, 3], 7])
        g.add("Concat", lambda *x: torch.cat(x, 1),
              [g.values((2, 1), dtype), g.values((2, 3), dtype), g.values((2, 0), dtype)], [1])
        g.add("Pack", lambda *x: torch.stack(x, 1), [g.values((2, 3), dtype) for _ in range(3)], [1])
        ids = np.array([[0, 2], [2, 3]], np.int32)
        g.add("GatherV2", lambda x, i: x[i.long()], [g.values((4, 3), dtype), ids], [0, 0])
        condition = np.array([[True, False, True], [False, True, True]])
        g.add("Select", lambda c, a, b: torch.where(c, a, b),
              [condition, g.values((2, 3), dtype), g.values((2, 3), dtype)])


def reductions(g):
    functions = {"Sum": torch.sum, "Mean": torch.mean, "Max": torch.amax, "Min": torch.amin}
    for dtype in DTYPES:
        for op, function in functions.items():
            g.add(op, lambda x: function(x, (0, 2)), [g.values((2, 3, 4), dtype)], [[0, 2], 0])
            g.add(op, lambda x: function(x, (1,), keepdim=True), [g.values((2, 3), dtype)], [[1], 1])
        for op in ("Sum", "Mean"):
            g.add(op, lambda x: functions[op](x, (1,)), [g.values((0, 3), dtype)], [[1], 0])
        g.add("Max", lambda x: torch.amax(x, (1,)), [np.array([[1, 3, 3], [2, 2, 2]], dtype)], [[1], 0])
        g.add("Prod", lambda x: torch.prod(x, 1), [g.values((2, 4), dtype)], [[1], 0])
        g.add("Prod", lambda x: torch.prod(x, 1), [np.array([[0, 2, 3], [0, 0, 5]], dtype)], [[1], 0])
        g.add("Cumsum", lambda x: torch.cumsum(x, 1), [g.values((2, 4), dtype)], [1, 0, 0])
        g.add("Cumprod", lambda x: torch.cumprod(x, 1), [g.values((2, 4), dtype)], [1, 0, 0])
        g.add("Cumprod", lambda x: torch.cumprod(x, 0), [np.array([2, 0, 3, 0], dtype)], [0, 0, 0])
    g.add("FFT", torch.fft.fft, [g.values((2, 5), "complex64")])
    g.add("IFFT", torch.fft.ifft, [g.values((2, 4), "complex64")])


ACTIVATIONS = ((0, lambda x: x), (1, torch.relu), (2, F.relu6), (3, F.elu), (6, torch.sigmoid))


def products(g):
    for turn_a in (0, 1):
        for turn_b in (0, 1):
            def product(a, b):
                return torch.matmul(a.mT if turn_a else a, b.mT if turn_b else b)

            def factors(batch_a, batch_b, dtype):
                a = (*batch_a, 3, 2) if turn_a else (*batch_a, 2, 3)
                b = (*batch_b, 4, 3) if turn_b else (*batch_b, 3, 4)
                return [g.values(a, dtype), g.values(b, dtype)]

            for dtype in ("float32", "complex64"):
                g.add("BatchMatMul", product, factors((), (), dtype), [turn_a, turn_b])
                g.add("BatchMatMul", product, factors((2, 1), (5,), dtype), [turn_a, turn_b])
            g.add("BatchMatMul", product, factors((0,), (0,), "float32"), [turn_a, turn_b])
            for number, activation in ACTIVATIONS:
                g.add("_FusedMatMul", lambda a, b, bias: activation(product(a, b) + bias),
                      [*factors((), (), "float32"), g.values((4,))], [turn_a, turn_b, number, 0.2])


def convolved(x, filters, stride, pads, dilation, groups=1):
    """x is NHWC, filters are HWIO."""
    top, bottom, left, right = pads
    padded = F.pad(x.permute(0, 3, 1, 2), (left, right, top, bottom))
    made = F.conv2d(padded, filters, stride=stride, dilation=dilation, groups=groups)
    return made.permute(0, 2, 3, 1)


def windows(g):
    for stride, pads, dilation in (((1, 1), (0, 0, 0, 0), (1, 1)), ((2, 1), (1, 0, 1, 1), (1, 1)),
                                   ((1, 1), (1, 1, 1, 1), (2, 1))):
        shape = [list(stride), list(pads), list(dilation), []]
        g.add("Conv2D", lambda x, w: convolved(x, w.permute(3, 2, 0, 1), stride, pads, dilation),
              [g.values((2, 5, 4, 2)), g.values((2, 2, 2, 3))], [*shape, 0])
        for number, activation in ACTIVATIONS[:2]:
            g.add("FusedConv2D",
                  lambda x, w, b: activation(convolved(x, w.permute(3, 2, 0, 1), stride, pads, dilation) + b),
                  [g.values((2, 5, 4, 2)), g.values((2, 2, 2, 3)), g.values((3,))], [*shape, 0, number, 0.2])
        g.add("DepthwiseConv2dNative",
              lambda x, w: convolved(x, w.permute(2, 3, 0, 1).reshape(6, 1, 2, 2), stride, pads, dilation, 3),
              [g.values((2, 5, 4, 3)), g.values((2, 2, 3, 2))], [*shape, 0])
    window = [[2, 2], [2, 1], [0, 0, 0, 0], [1, 1], []]
    x = g.values((2, 4, 5, 3))
    g.add("MaxPool", lambda x: F.max_pool2d(x.permute(0, 3, 1, 2), 2, (2, 1)).permute(0, 2, 3, 1), [x], window)
    g.add("AvgPool", lambda x: F.avg_pool2d(x.permute(0, 3, 1, 2), 2, (2, 1)).permute(0, 2, 3, 1), [x], window)


def normalised(x, mean, variance, offset, scale):
    return (x - mean) / torch.sqrt(variance + 0.01) * scale + offset


def normalisation(g):
    for shape in ((3, 5), (2, 3, 4), (0, 4)):
        g.add("Softmax", lambda x: torch.softmax(x, -1), [g.values(shape)], [-1])
        g.add("LogSoftmax", lambda x: torch.log_softmax(x, -1), [g.values(shape)], [-1])
    g.add("FusedBatchNorm", normalised,
          [g.values((4, 2, 3)), g.values((3,)), g.values((3,), low=0.5), g.values((3,)), g.values((3,))], [0.01])


def add_cases(cases):
    g = Gradients(cases)
    for family in (elementwise, binary, movement, reductions, products, windows, normalisation):
        family(g)
