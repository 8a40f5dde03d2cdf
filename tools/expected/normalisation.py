"""Batch normalisation by given statistics, local response normalisation, softmax."""
import itertools

import numpy as np
from scipy import special

from expected.products import add, array, tensor


def batch(cases):
    x = tensor((2, 3, 4, 5), 1)
    mean, offsets, scales = tensor((5,), 3), tensor((5,), 4), tensor((5,), 6)
    variance = array([0.5, 1, 2, 0.25, 9])
    plain = (x.astype(np.float64) - mean) / np.sqrt(variance + 0.001)
    for offset, scale in itertools.product((None, offsets), (None, scales)):
        expected = plain * (1 if scale is None else scale) + (0 if offset is None else offset)
        add(cases, "FusedBatchNorm", "", [x, mean, variance, offset, scale], [0.001], expected)
    add(cases, "FusedBatchNorm", "", [x, mean, variance], [0.001], plain)
    each = [tensor(x.shape, 3), np.abs(tensor(x.shape, 5)) + 1]
    add(cases, "FusedBatchNorm", "for each element", [x, *each], [0.01], (x - each[0]) / np.sqrt(each[1] + 0.01))
    mixed = [array([0.5]), array([1, 2, 3, 4, 5]), tensor((4, 5), 2)]
    add(cases, "FusedBatchNorm", "several sizes", [x, *mixed], [0.01],
        (x - 0.5) / np.sqrt(mixed[1] + 0.01) + mixed[2])
    add(cases, "FusedBatchNorm", "no batch", [tensor((0, 2, 2, 5), 1), mean, variance], [0.01], np.zeros((0, 2, 2, 5)))


def local_response(cases):
    for c, radius, bias, alpha, beta in ((1, 5, 1, 1, 0.5), (3, 1, 1, 1, 0.5), (7, 2, 2, 0.3, 0.75), (5, 99, 1, 0.1, 1)):
        x, dy = tensor((2, 3, 2, c), 1).astype(np.float64), tensor((2, 3, 2, c), 3)
        near = [slice(max(0, i - radius), min(c, i + radius + 1)) for i in range(c)]
        norm = np.stack([bias + alpha * np.sum(x[..., s] ** 2, -1) for s in near], -1)
        y = x * norm**-beta
        dx = np.zeros(x.shape)
        for i, s in enumerate(near):
            dx[..., s] += -2 * alpha * beta * x[..., s] * (y[..., i] / norm[..., i] * dy[..., i])[..., None]
            dx[..., i] += norm[..., i] ** -beta * dy[..., i]
        where, x = [radius, bias, alpha, beta], x.astype(np.float32)
        add(cases, "LRN", "", [x], where, y)
        add(cases, "LRNGrad", "", [x, y.astype(np.float32), dy], where, dx)


def softmax(cases):
    for shape in ((1,), (5,), (3, 10), (2, 3, 17), (4, 64), (0, 3), (3, 0), (1, 1001), (300, 200)):
        x = tensor(shape, 2)
        wide = x.astype(np.float64)
        for op, function in (("Softmax", special.softmax), ("LogSoftmax", special.log_softmax)):
            add(cases, op, "", [x], [-1], function(wide, -1) if x.size else x, error=2e-6)
    inf, nan = np.inf, np.nan
    x = array([[nan, 1, 2, 3, 4], [inf, 1, 2, 3, 4], [-inf] * 5, [-inf, 1, 1, 1, 1], [1000, 1000, 0, 0, -1000],
               [1, 2, 3, 4, nan]])
    broken = np.array([True, True, True, False, False, True])[:, None]
    safe = np.where(broken, 0, x).astype(np.float64)
    for op, function in (("Softmax", special.softmax), ("LogSoftmax", special.log_softmax)):
        add(cases, op, "NaN and infinities", [x], [1], np.where(broken, nan, function(safe, -1)))


def add_cases(cases):
    with np.errstate(invalid="ignore", divide="ignore"):
        batch(cases)
        local_response(cases)
        softmax(cases)
