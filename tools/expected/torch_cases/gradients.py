"""How a case is made: PyTorch's function of the inputs, and what its autograd gives each of them."""
import numpy as np
import torch

REAL = ("float32", "float64")
HALF = ("float16", "bfloat16")
EVERY = (*REAL, *HALF, "complex64")

# Of the largest gradient of a case; a half is rounded after each step, here and there in others.
TOLERANCES = {"float64": 1e-11, "float32": 1e-5, "complex64": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


def dtype_name(tensor):
    return str(tensor.dtype).split(".")[1]


def is_differentiable(tensor):
    return tensor is not None and (tensor.dtype.is_floating_point or tensor.dtype.is_complex)


def encode(tensor):
    data = tensor.detach().contiguous()
    data = data.view(torch.int16) if data.dtype == torch.bfloat16 else data
    return {"dtype": dtype_name(tensor), "shape": list(tensor.shape), "data": data.numpy().tobytes().hex()}


def to_torch(given):
    if given is None:
        return None
    made = given if isinstance(given, torch.Tensor) else torch.from_numpy(np.array(given))
    return made.detach().clone().requires_grad_(is_differentiable(made))


def widest_error(tensors, dtypes):
    return max(TOLERANCES[each] for each in (*map(dtype_name, tensors), *dtypes))


def gradient_of(function, x, dy):
    """What reaches x of dy: itself a function that PyTorch differentiates."""
    return torch.autograd.grad(function(x), x, dy, create_graph=True)[0]


class Gradients:
    def __init__(self, cases):
        self.cases = cases
        self.random = np.random.default_rng(20261117)

    def values(self, shape, dtype="float32", low=-2.0, high=2.0):
        drawn = self.random.uniform(low, high, shape)
        if dtype == "complex64":
            drawn = drawn + 1j * self.random.uniform(low, high, shape)
        return torch.from_numpy(np.array(drawn)).to(getattr(torch, dtype))

    def given(self, numbers, dtype):
        return torch.tensor(numbers, dtype=getattr(torch, dtype))

    def add(self, op, function, inputs, attributes=(), note="", within=()):
        """`function` is PyTorch's, of the inputs; whole numbers, given or made, have no gradient. `within` are dtypes that
        a gradient goes through on its way."""
        given = [to_torch(each) for each in inputs]
        made = function(*given)
        made = [each for each in (made if isinstance(made, (list, tuple)) else [made]) if is_differentiable(each)]
        reaching = [self.values(tuple(each.shape), dtype_name(each)) for each in made]
        torch.autograd.backward(made, reaching)
        expected = [None if not is_differentiable(each) else
                    torch.zeros_like(each) if each.grad is None else each.grad for each in given]
        self.write(op, [*given, *reaching], expected,
                   widest_error([*filter(is_differentiable, given), *made], within), attributes, note)

    def write(self, op, inputs, expected, error, attributes, note):
        largest = max([1.0] + [float(each.abs().max()) for each in expected if each is not None and each.numel()])
        assert np.isfinite(largest), op
        outputs = [None if each is None else dict(encode(each), tolerance=(error * largest, error * largest))
                   for each in expected]
        self.cases.write(op, [None if each is None else encode(each) for each in inputs], outputs, attributes, note)
