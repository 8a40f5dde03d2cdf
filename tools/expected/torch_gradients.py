"""What PyTorch says of the gradients.

    make_expected.py torch_gradients tests/expected/gradients.jsonl

PyPI's torch weighs gigabytes, so the file is in the tree and this is run where it changes (docs/grad.md). A case's inputs are
those of the operation and then, for each floating result, the gradient that reaches it; its outputs are what reaches each
input. torch_cases has them, a file a family.
"""
from expected.torch_cases import (convolutions, elementwise, images, indexing, movement, normalisation, pooling, products,
                                  reductions, sparse)
from expected.torch_cases.gradients import Gradients


def add_cases(cases):
    g = Gradients(cases)
    for family in (elementwise, movement, indexing, reductions, sparse, products, convolutions, pooling, normalisation, images):
        family.add_cases(g)
