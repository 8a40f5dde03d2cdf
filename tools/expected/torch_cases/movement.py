"""Views, and data that is moved, joined, cut and repeated."""
import numpy as np
import torch
import torch.nn.functional as F

from .gradients import EVERY


def views(g, dtype):
    x = g.values((2, 3, 4), dtype)
    g.add("Identity", torch.clone, [x])
    g.add("Reshape", lambda x: x.reshape(4, 6), [x], [[4, 6]])
    g.add("ExpandDims", lambda x: x.unsqueeze(1), [x], [1])
    g.add("Transpose", lambda x: x.permute(2, 0, 1), [x], [[2, 0, 1]])
    g.add("Slice", lambda x: x[1:2, 1:3, :], [x], [[1, 1, 0], [1, 2, 4]])
    g.add("StridedSlice", lambda x: x.flip(1)[1::2, 0:4:2], [g.values((7, 5), dtype)], [[1, 4], [2, -2], [3, 2]])
    g.add("StridedSlice", lambda x: x.flip(0)[0:5:3, 2:4], [g.values((7, 5), dtype)], [[6, 2], [-3, 1], [2, 2]])


def repeated(g, dtype):
    g.add("BroadcastTo", lambda x: x.expand(5, 3, 4), [g.values((3, 1), dtype)], [[5, 3, 4]])
    g.add("Tile", lambda x: x.repeat(3, 2), [g.values((2, 3), dtype)], [[3, 2]])
    g.add("Reverse", lambda x: x.flip(1), [g.values((2, 3, 4), dtype)], [[1]])
    g.add("PadV2", lambda x: F.pad(x, (0, 3, 1, 2), value=7.0), [g.values((2, 3), dtype)], [[1, 2, 0, 3], 7])


def mirrored(g, dtype):
    """PyTorch mirrors without the edge; with it, its indices say where each element comes from."""
    x = g.values((3, 4), dtype)
    rows, columns = torch.tensor([2, 1, 0, 1, 2, 1]), torch.tensor([1, 0, 1, 2, 3, 2, 1])
    g.add("MirrorPad", lambda x: x[rows][:, columns], [x], [[2, 1, 1, 2], 0])
    if dtype not in ("float16", "complex64"):
        g.add("MirrorPad", lambda x: F.pad(x[None], (1, 2, 2, 1), mode="reflect")[0], [x], [[2, 1, 1, 2], 0])
    rows, columns = torch.tensor([2, 1, 0, 0, 1, 2, 2]), torch.tensor([0, 1, 2, 3, 3, 2])
    g.add("MirrorPad", lambda x: x[rows][:, columns], [x], [[3, 1, 0, 2], 1])


def joined(g, dtype):
    g.add("Concat", lambda *x: torch.cat(x, 1),
          [g.values((2, 1), dtype), g.values((2, 3), dtype), g.values((2, 0), dtype)], [1])
    g.add("Pack", lambda *x: torch.stack(x, 1), [g.values((2, 3), dtype) for _ in range(3)], [1])
    g.add("SplitV", lambda x: torch.split(x, [1, 0, 3], 1), [g.values((2, 4), dtype)], [[1, 0, 3], 1])
    g.add("Unpack", lambda x: torch.unbind(x, 1), [g.values((2, 3), dtype)], [1])


def batch_to_space(x, block, crops):
    (p, q), (top, bottom, left, right) = block, crops
    n, h, w, c = x.shape
    x = x.reshape(p, q, n // (p * q), h, w, c).permute(2, 3, 0, 4, 1, 5).reshape(n // (p * q), h * p, w * q, c)
    return x[:, top:h * p - bottom, left:w * q - right]


def space_to_batch(x, block, paddings):
    (p, q), (top, bottom, left, right) = block, paddings
    x = F.pad(x, (0, 0, left, right, top, bottom))
    n, h, w, c = x.shape
    return x.reshape(n, h // p, p, w // q, q, c).permute(2, 4, 0, 1, 3, 5).reshape(n * p * q, h // p, w // q, c)


def depth_to_space(x, block):
    n, h, w, c = x.shape
    x = x.reshape(n, h, w, block, block, c // block ** 2).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(n, h * block, w * block, c // block ** 2)


def blocks(g, dtype):
    edges = [0, 1, 1, 0]
    g.add("BatchToSpaceND", lambda x: batch_to_space(x, (2, 2), edges), [g.values((4, 2, 2, 1), dtype)], [[2, 2], edges])
    g.add("SpaceToBatchND", lambda x: space_to_batch(x, (2, 2), edges), [g.values((1, 3, 3, 2), dtype)], [[2, 2], edges])
    g.add("DepthToSpace", lambda x: depth_to_space(x, 2), [g.values((1, 2, 3, 8), dtype)], [2, 0])
    g.add("DepthToSpace", lambda x: depth_to_space(x.permute(0, 2, 3, 1), 2).permute(0, 3, 1, 2),
          [g.values((1, 8, 2, 3), dtype)], [2, 1])


def matrices(g, dtype):
    g.add("Diag", torch.diag, [g.values((3,), dtype)])
    g.add("Diag", lambda x: torch.diag(x.flatten()).reshape(2, 2, 2, 2), [g.values((2, 2), dtype)])
    if dtype != "complex64":
        for lower, upper in ((1, 0), (-1, 1)):
            g.add("MatrixBandPart", lambda x, below, above: x.tril(5 if upper < 0 else upper).triu(-5 if lower < 0 else -lower),
                  [g.values((2, 3, 4), dtype), np.int32(lower), np.int32(upper)])


def empty(g):
    x = g.values((0, 3))
    g.add("Identity", torch.clone, [x])
    g.add("Reshape", lambda x: x.reshape(3, 0), [x], [[3, 0]])
    g.add("ExpandDims", lambda x: x.unsqueeze(0), [x], [0])
    g.add("Transpose", lambda x: x.mT, [x], [[1, 0]])
    g.add("Slice", lambda x: x[1:1], [g.values((2, 3))], [[1, 0], [0, 3]])
    g.add("StridedSlice", lambda x: x[1:1], [g.values((4,))], [[1], [2], [0]])
    g.add("BroadcastTo", lambda x: x.expand(0, 3), [g.values((1, 3))], [[0, 3]])
    g.add("Tile", lambda x: x.repeat(0, 2), [g.values((2, 3))], [[0, 2]])
    g.add("Reverse", lambda x: x.flip(0), [x], [[0]])
    g.add("PadV2", lambda x: F.pad(x, (0, 0, 1, 2)), [x], [[1, 2, 0, 0], 0])
    g.add("Concat", lambda *x: torch.cat(x, 0), [x, x], [0])
    g.add("Pack", lambda *x: torch.stack(x, 0), [x, x], [0])
    g.add("SplitV", lambda x: torch.split(x, [1, 2], 1), [x], [[1, 2], 1])
    g.add("Unpack", lambda x: torch.unbind(x, 1), [x], [1])
    g.add("BatchToSpaceND", lambda x: batch_to_space(x, (2, 2), [0, 0, 0, 0]), [g.values((0, 2, 2, 1))], [[2, 2], [0, 0, 0, 0]])
    g.add("SpaceToBatchND", lambda x: space_to_batch(x, (2, 2), [0, 0, 0, 0]), [g.values((0, 2, 2, 1))], [[2, 2], [0, 0, 0, 0]])
    g.add("DepthToSpace", lambda x: x.reshape(0, 4, 6, 2), [g.values((0, 2, 3, 8))], [2, 0])
    g.add("Diag", torch.diag, [g.values((0,))])


def add_cases(g):
    for dtype in EVERY:
        for family in (views, repeated, mirrored, joined, blocks, matrices):
            family(g, dtype)
    empty(g)
