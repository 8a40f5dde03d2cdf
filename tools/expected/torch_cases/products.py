"""Products of matrices. Fused ones are of float32."""
import torch
import torch.nn.functional as F

from .gradients import EVERY

# By number, of a sum and the slopes below 0.
ACTIVATIONS = {
    0: lambda x, slopes: x, 1: lambda x, slopes: torch.relu(x), 2: lambda x, slopes: F.relu6(x), 3: lambda x, slopes: F.elu(x),
    4: lambda x, slopes: torch.where(x > 0, x, x * slopes), 5: lambda x, slopes: F.leaky_relu(x, 0.2),
    6: lambda x, slopes: torch.sigmoid(x),
}
PRELU = 4


def with_epilogue(function, number):
    def made(a, b, bias=None, slopes=None):
        y = function(a, b)
        return ACTIVATIONS[number](y if bias is None else y + bias, slopes)
    return made


def epilogues(g, channels):
    """For each activation its number, and the inputs that it takes."""
    for number in ACTIVATIONS:
        yield number, [g.values((channels,)), *([g.values((channels,), low=-0.5, high=0.5)] if number == PRELU else [])]


def add_cases(g):
    for turn_a in (0, 1):
        for turn_b in (0, 1):
            def product(a, b):
                return torch.matmul(a.mT if turn_a else a, b.mT if turn_b else b)

            def factors(batch_a, batch_b, dtype="float32"):
                a = (*batch_a, 3, 2) if turn_a else (*batch_a, 2, 3)
                b = (*batch_b, 4, 3) if turn_b else (*batch_b, 3, 4)
                return [g.values(a, dtype), g.values(b, dtype)]

            for dtype in EVERY:
                g.add("BatchMatMul", product, factors((), (), dtype), [turn_a, turn_b])
                g.add("BatchMatMul", product, factors((2, 1), (3,), dtype), [turn_a, turn_b])
            for dtype in ("float32", "float64"):
                g.add("BatchMatMul", product, factors((0,), (0,), dtype), [turn_a, turn_b])
            for number, more in epilogues(g, 4):
                g.add("_FusedMatMul", with_epilogue(product, number), [*factors((), ()), *more], [turn_a, turn_b, number, 0.2])
    g.add("BatchMatMul", torch.matmul, [g.values((2, 0)), g.values((0, 3))], [0, 0])
    g.add("_FusedMatMul", with_epilogue(torch.matmul, 1), [g.values((2, 3)), g.values((3, 2))], [0, 0, 1, 0])
    g.add("_FusedMatMul", with_epilogue(torch.matmul, 1), [g.values((0, 3)), g.values((3, 2)), g.values((2,))], [0, 0, 1, 0])
