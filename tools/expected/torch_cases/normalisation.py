"""Normalisations: all of float32."""
import torch
import torch.nn.functional as F


def normalised(x, mean, variance, offset=None, scale=None):
    y = (x - mean) / torch.sqrt(variance + 0.01)
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


def local_response(radius, bias, alpha, beta):
    """PyTorch divides the sum of squares by the size."""
    size = 2 * radius + 1
    return lambda x: F.local_response_norm(x.permute(0, 3, 1, 2), size, alpha * size, beta, bias).permute(0, 2, 3, 1)


def add_cases(g):
    for shape in ((3, 5), (2, 3, 4), (0, 4)):
        g.add("Softmax", lambda x: torch.softmax(x, -1), [g.values(shape)], [-1])
        g.add("LogSoftmax", lambda x: torch.log_softmax(x, -1), [g.values(shape)], [-1])
    for shape, rows in (((4, 2, 3), (3,)), ((2, 3), ()), ((4, 2, 3), (2, 3)), ((0, 3), (3,))):
        x, mean, variance = g.values(shape), g.values(rows), g.values(rows, low=0.5)
        g.add("FusedBatchNorm", normalised, [x, mean, variance, g.values(rows), g.values(rows)], [0.01])
        g.add("FusedBatchNorm", normalised, [x, mean, variance], [0.01])
    for radius in (0, 1, 3):
        g.add("LRN", local_response(radius, 1, 0.5, 0.75), [g.values((1, 2, 2, 5))], [radius, 1, 0.5, 0.75])
    g.add("LRN", local_response(1, 2, 1, 0.5), [g.values((0, 2, 2, 5))], [1, 2, 1, 0.5])
