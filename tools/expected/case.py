"""A case of the conformance suite: an operation, what it is given, and what NumPy says it gives."""
import json

import numpy as np

DTYPES = {"float32": np.float32, "int32": np.int32, "bool": np.bool_, "complex64": np.complex64,
          "float64": np.float64, "int64": np.int64, "uint8": np.uint8, "float16": np.float16,
          "int8": np.int8}
IDS = {"float32": 1, "int32": 2, "bool": 3, "complex64": 4, "float64": 5, "int64": 6, "uint8": 7,
       "float16": 8, "bfloat16": 9, "int8": 10}

# Relative and absolute tolerance of results by dtype; integers are exact.
TOLERANCES = {"float32": (2e-6, 1e-6), "float64": (1e-12, 1e-12), "complex64": (1e-5, 1e-5),
              "float16": (2e-3, 1e-3)}


def dtype_name(array):
    return str(array.dtype)


def encode(array):
    return {"dtype": dtype_name(array), "shape": list(array.shape), "data": array.tobytes().hex()}


def flat(attributes):
    """Attributes as the C ABI takes them: a list is its length and its values."""
    values = []
    for attribute in attributes:
        if isinstance(attribute, (list, tuple)):
            values.append(float(len(attribute)))
            values.extend(float(each) for each in attribute)
        elif isinstance(attribute, str):
            values.append(float(IDS[attribute]))
        else:
            values.append(float(attribute))
    return values


class Cases:
    def __init__(self):
        self.lines = []
        self.random = np.random.default_rng(20261115)

    def add(self, op, inputs, expected, attributes=(), tolerance=None, note=""):
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        expected = [None if each is None else np.asarray(each) for each in expected]
        outputs = [None if each is None else dict(encode(each), tolerance=tolerance or TOLERANCES.get(
            dtype_name(each), (0, 0))) for each in expected]
        self.write(op, [None if each is None else encode(np.asarray(each)) for each in inputs], outputs, attributes, note)

    def write(self, op, inputs, outputs, attributes, note=""):
        """Of tensors that are encoded already."""
        self.lines.append(json.dumps({
            "op": op,
            "note": note,
            "inputs": inputs,
            "attributes": [str(value) for value in flat(attributes)],
            "outputs": outputs,
        }))

    def values(self, shape, dtype="float32", low=-4.0, high=4.0):
        """Random values of any dtype; whole numbers where the dtype has no others."""
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(np.bool_)
        if dtype == "complex64":
            real, imaginary = (self.random.uniform(low, high, shape) for _ in range(2))
            return (real + 1j * imaginary).astype(np.complex64)
        if np.issubdtype(DTYPES[dtype], np.integer):
            low = max(low, np.iinfo(DTYPES[dtype]).min)
            return self.random.integers(int(np.ceil(low)), int(high) + 1, shape).astype(DTYPES[dtype])
        return self.random.uniform(low, high, shape).astype(DTYPES[dtype])
