"""Operations that move data."""
import numpy as np

ALL = ["float32", "int32", "bool", "complex64", "float64", "float16", "uint8"]


def flattened(pairs):
    return [each for pair in pairs for each in pair]


def slices(cases):
    for dtype in ALL:
        x = cases.values((5, 7), dtype)
        cases.add("Slice", [x], x[1:4, 2:7], [[1, 2], [3, 5]])
        cases.add("Slice", [x], x[2:4], [[2, 0], [2, -1]], note="a view")
        cases.add("StridedSlice", [x], x[4:0:-2, 1::3], [[4, 1], [-2, 3], [2, 2]])
        cases.add("Transpose", [x], x.T, [[1, 0]])
        cases.add("Reverse", [x], x[::-1], [[0]])
        cases.add("Reverse", [x], x[::-1, ::-1], [[0, -1]])
        cases.add("Tile", [x], np.tile(x, (2, 3)), [[2, 3]])
        cases.add("BroadcastTo", [x[:1]], np.broadcast_to(x[:1], (3, 5, 7)), [[3, 5, 7]])
        cases.add("Identity", [x], x)
        cases.add("Reshape", [x], x.reshape(7, 5), [[7, -1]])
        cases.add("ExpandDims", [x], x[:, None], [1])
        cases.add("ExpandDims", [x], x[..., None], [-1])
    x = cases.values((0, 3))
    cases.add("Slice", [x], x, [[0, 0], [0, 3]])
    cases.add("Slice", [np.float32(3)], np.float32(3), [[], []])
    cases.add("Slice", [cases.values((4,))], np.zeros((0,), np.float32), [[4], [0]])
    cases.add("Transpose", [x], x.T, [[1, 0]])
    cases.add("Reverse", [x], x, [[0]])
    cases.add("Reshape", [x], x.reshape(3, 0, 2), [[3, 0, 2]])
    y = cases.values((2, 3, 4, 5))
    for perm in ([0, 2, 1, 3], [3, 2, 1, 0], [1, 2, 3, 0], [0, 1, 3, 2], [2, 0, 3, 1]):
        cases.add("Transpose", [y], y.transpose(perm), [perm])
    big = cases.values((67, 131))
    cases.add("Transpose", [big], big.T, [[1, 0]], note="more than a tile")
    deep = cases.values((2, 3, 1, 2, 3, 2), "int32")
    cases.add("Transpose", [deep], deep.transpose(5, 0, 4, 1, 3, 2), [[5, 0, 4, 1, 3, 2]])
    cases.add("Slice", [deep], deep[1:, :2, :, 1:, 1:3, :1],
              [[1, 0, 0, 1, 1, 0], [1, 2, 1, 1, 2, 1]])
    cases.add("FlipLeftRight", [y], y[:, :, ::-1])


def pads(cases):
    for dtype in ALL:
        x = cases.values((3, 4), dtype)
        paddings = [(1, 2), (0, 3)]
        cases.add("PadV2", [x], np.pad(x, paddings, constant_values=1), [flattened(paddings), 1])
        for mode, name in ((0, "reflect"), (1, "symmetric")):
            paddings = [(2, 1), (3, 2)]
            cases.add("MirrorPad", [x], np.pad(x, paddings, mode=name), [flattened(paddings), mode])
        cases.add("Diag", [x[0]], np.diag(x[0]))
        for lower, upper in ((1, 0), (-1, 1), (0, -1), (0, 0)):
            y = cases.values((2, 4, 5), dtype)
            band = np.stack([np.triu(np.tril(m, 5 if upper < 0 else upper),
                                     -4 if lower < 0 else -lower) for m in y])
            cases.add("MatrixBandPart", [y, np.int32(lower), np.int32(upper)], band)
    x = cases.values((2, 3))
    outer = np.zeros((2, 3, 2, 3), np.float32)
    for i in range(2):
        for j in range(3):
            outer[i, j, i, j] = x[i, j]
    cases.add("Diag", [x], outer)


def joins(cases):
    for dtype in ALL:
        parts = [cases.values((2, n, 3), dtype) for n in (1, 4, 0, 2)]
        cases.add("Concat", parts, np.concatenate(parts, 1), [1])
        cases.add("Concat", parts[:1], parts[0], [-1])
        same = [cases.values((2, 3), dtype) for _ in range(5)]
        for axis in (0, 1, 2, -1):
            cases.add("Pack", same, np.stack(same, axis), [axis])
        x = cases.values((4, 6), dtype)
        cases.add("SplitV", [x], np.split(x, [1, 3], axis=1), [[1, 2, 3], 1])
        cases.add("SplitV", [x], [x[:0], x[:3], x[3:]], [[0, 3, 1], 0])
        cases.add("Unpack", [x], [x[i] for i in range(4)], [0])
        cases.add("Unpack", [x], [x[:, i] for i in range(6)], [-1])
    scalars = [np.float32(i) for i in range(7)]
    cases.add("Pack", scalars, np.arange(7, dtype=np.float32), [0])
    x = cases.values((3, 5), "complex64")
    cases.add("Real", [x], x.real)
    cases.add("Imag", [x], x.imag)
    cases.add("Complex", [x.real, x.imag], x)


def batch_to_space(x, block, crops):
    spatial, rest = len(block), list(x.shape[len(block) + 1:])
    batch = x.shape[0] // int(np.prod(block))
    y = x.reshape(list(block) + [batch] + list(x.shape[1:]))
    order = [spatial]
    for i in range(spatial):
        order += [spatial + 1 + i, i]
    order += [2 * spatial + 1 + i for i in range(len(rest))]
    y = y.transpose(order).reshape([batch] + [n * b for n, b in zip(x.shape[1:], block)] + rest)
    cut = [slice(None)] + [slice(a, y.shape[i + 1] - b) for i, (a, b) in enumerate(crops)]
    return y[tuple(cut)]


def space_to_batch(x, block, paddings):
    spatial, rest = len(block), list(x.shape[len(block) + 1:])
    x = np.pad(x, [(0, 0)] + list(paddings) + [(0, 0)] * len(rest))
    shape, order = [x.shape[0]], []
    for i in range(spatial):
        shape += [x.shape[i + 1] // block[i], block[i]]
        order.append(2 * i + 2)
    order += [0] + [2 * i + 1 for i in range(spatial)]
    order += [2 * spatial + 1 + i for i in range(len(rest))]
    y = x.reshape(shape + rest).transpose(order)
    sizes = [n // b for n, b in zip(x.shape[1:], block)]
    return y.reshape([x.shape[0] * int(np.prod(block))] + sizes + rest)


def blocks(cases):
    for dtype in ("float32", "int32"):
        x = cases.values((8, 2, 3, 2), dtype)
        for crops in ([(0, 0), (0, 0)], [(1, 0), (2, 1)]):
            cases.add("BatchToSpaceND", [x], batch_to_space(x, (2, 2), crops),
                      [[2, 2], flattened(crops)])
        y = cases.values((2, 5, 4, 3), dtype)
        paddings = [(1, 0), (1, 1)]
        cases.add("SpaceToBatchND", [y], space_to_batch(y, (3, 2), paddings),
                  [[3, 2], flattened(paddings)])
        one = cases.values((2, 6, 3), dtype)
        cases.add("SpaceToBatchND", [one], space_to_batch(one, (2,), [(0, 0)]), [[2], [0, 0]])
        z = cases.values((2, 2, 3, 12), dtype)
        n, h, w, c = z.shape
        deep = z.reshape(n, h, w, 2, 2, c // 4).transpose(0, 1, 3, 2, 4, 5)
        cases.add("DepthToSpace", [z], deep.reshape(n, 2 * h, 2 * w, c // 4), [2, 0])
        first = np.ascontiguousarray(z.transpose(0, 3, 1, 2))
        expected = deep.reshape(n, 2 * h, 2 * w, c // 4).transpose(0, 3, 1, 2)
        cases.add("DepthToSpace", [first], expected, [2, 1])


def shapes(cases):
    a, b = np.array([3, 1, 4], np.int32), np.array([5, 1], np.int32)
    cases.add("BroadcastArgs", [a, b], np.array([3, 5, 4], np.int32))


def add_cases(cases):
    slices(cases)
    pads(cases)
    joins(cases)
    blocks(cases)
    shapes(cases)
