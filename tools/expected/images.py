"""Images, boxes in them, and signals."""
import numpy as np
from scipy import fft


def ratio(before, after, align):
    return (before - 1) / (after - 1) if align and after > 1 else before / after


def bilinear_weights(before, after, align, half):
    """The matrix that takes the positions before to those after, along one axis."""
    weights = np.zeros((after, before))
    for i in range(after):
        at = ratio(before, after, align) * (i + 0.5) - 0.5 if half else ratio(before, after, align) * i
        low = max(0, int(np.floor(at)))
        high = min(before - 1, int(np.ceil(at)))
        weights[i, min(low, before - 1)] += 1 - (at - low)
        weights[i, high] += at - low
    return weights


def nearest_weights(before, after, align, half):
    weights = np.zeros((after, before))
    for i in range(after):
        at = ratio(before, after, align) * (i + (0.5 if half else 0))
        where = int(np.floor(at + 0.5)) if align else int(np.floor(at))
        weights[i, min(max(where, 0), before - 1)] = 1
    return weights


def resize(x, rows, columns):
    return np.einsum("ih,jw,bhwc->bijc", rows, columns, x.astype(np.float64))


def resizing(cases):
    for (h, w), (oh, ow) in (((4, 5), (8, 9)), ((7, 6), (3, 2)), ((3, 3), (1, 1)), ((1, 4), (5, 4))):
        for align, half in ((0, 0), (1, 0), (0, 1)):
            x = cases.values((2, h, w, 3))
            rows, columns = bilinear_weights(h, oh, align, half), bilinear_weights(w, ow, align, half)
            cases.add("ResizeBilinear", [x], resize(x, rows, columns).astype(np.float32),
                      [[oh, ow], align, half], tolerance=(1e-5, 1e-5))
            near_rows, near_columns = nearest_weights(h, oh, align, half), nearest_weights(
                w, ow, align, half)
            for dtype in ("float32", "int32"):
                y = cases.values((2, h, w, 3), dtype)
                cases.add("ResizeNearestNeighbor", [y],
                          resize(y, near_rows, near_columns).astype(y.dtype), [[oh, ow], align, half])
            if not half:
                dy = cases.values((2, oh, ow, 3))
                cases.add("ResizeBilinearGrad", [x, dy],
                          resize(dy, rows.T, columns.T).astype(np.float32), [align],
                          tolerance=(1e-5, 1e-5))
                cases.add("ResizeNearestNeighborGrad", [x, dy],
                          resize(dy, near_rows.T, near_columns.T).astype(np.float32), [align],
                          tolerance=(1e-5, 1e-5))


def crop(image, box, size, nearest, outside):
    h, w = image.shape[:2]
    out = np.full(tuple(size) + image.shape[2:], outside, np.float64)
    def position(a, b, extent, count, i):
        if count == 1:
            return 0.5 * (a + b) * (extent - 1)
        return a * (extent - 1) + i * (b - a) * (extent - 1) / (count - 1)
    for i in range(size[0]):
        for j in range(size[1]):
            y = position(box[0], box[2], h, size[0], i)
            x = position(box[1], box[3], w, size[1], j)
            if y < 0 or y > h - 1 or x < 0 or x > w - 1:
                continue
            if nearest:
                out[i, j] = image[int(np.floor(y + 0.5)), int(np.floor(x + 0.5))]
                continue
            t, l = int(np.floor(y)), int(np.floor(x))
            b, r = int(np.ceil(y)), int(np.ceil(x))
            top = image[t, l] + (image[t, r] - image[t, l]) * (x - l)
            bottom = image[b, l] + (image[b, r] - image[b, l]) * (x - l)
            out[i, j] = top + (bottom - top) * (y - t)
    return out


def cropping(cases):
    images = cases.values((2, 6, 7, 3))
    boxes = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.5, 0.5, 1.5, 1.2], [0.9, 0.8, 0.1, 0.2]],
                     np.float32)
    of = np.array([0, 1, 1, 0], np.int32)
    for size in ((3, 4), (1, 1)):
        for method in (0, 1):
            expected = np.stack([crop(images[i].astype(np.float64), box.astype(np.float64), size,
                                      method, 0.5) for i, box in zip(of, boxes)])
            cases.add("CropAndResize", [images, boxes, of], expected.astype(np.float32),
                      [list(size), method, 0.5], tolerance=(1e-4, 1e-4))


def warping(cases):
    x = cases.values((1, 4, 5, 2))
    shift = np.array([[1, 0, 1, 0, 1, 2, 0, 0]], np.float32)
    moved = np.full_like(x, 0.5)
    moved[:, :2, :4] = x[:, 2:, 1:]
    cases.add("Transform", [x, shift], moved, [0, 0, 0.5, []])
    cases.add("Transform", [x, shift], moved, [1, 0, 0.5, [4, 5]])
    edge = x[:, [2, 3, 3, 3]][:, :, [1, 2, 3, 4, 4]]
    cases.add("Transform", [x, shift], edge, [0, 3, 0, []])
    reflected = x[:, [2, 3, 3, 2]][:, :, [1, 2, 3, 4, 4]]
    cases.add("Transform", [x, shift], reflected, [0, 1, 0, []])
    half = np.array([[1, 0, 0.5, 0, 1, 0, 0, 0]], np.float32)
    right = np.concatenate([x[:, :, 1:], np.zeros_like(x[:, :, :1])], 2)
    cases.add("Transform", [x, half], (x + right) / 2, [1, 0, 0, []], tolerance=(1e-5, 1e-5))
    square = cases.values((2, 5, 5, 3))
    turned = np.rot90(square, 1, (1, 2))
    cases.add("RotateWithOffset", [square], turned, [np.pi / 2, [0], [0.4]],
              note="the center is the middle pixel")
    cases.add("RotateWithOffset", [square], square, [0, [0], [0.5, 0.5]])


def overlap(a, b):
    height = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    width = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
    return height * width / (sum(areas) - height * width)


def greedy(boxes, scores, most, limit, least):
    chosen = []
    for i in sorted(range(len(scores)), key=lambda i: (-scores[i], i)):
        if len(chosen) < most and scores[i] > least:
            if all(overlap(boxes[i], boxes[j]) < limit for j in chosen):
                chosen.append(i)
    return np.array(chosen, np.int32)


def boxes(cases):
    corner = cases.values((40, 2), "float32", 0, 5)
    size = cases.values((40, 2), "float32", 1, 3)
    all_boxes = np.concatenate([corner, corner + size], 1).astype(np.float32)
    scores = cases.values((40,), "float32", 0, 1)
    for most, limit, least in ((5, 0.5, 0.0), (40, 0.3, 0.2), (40, 0.9, 0.5), (0, 0.5, 0.0)):
        chosen = greedy(all_boxes.astype(np.float64), scores, most, limit, least)
        cases.add("NonMaxSuppressionV3", [all_boxes, scores], chosen, [most, limit, least])
        padded = np.zeros((max(most, len(chosen)),), np.int32)
        padded[:len(chosen)] = chosen
        cases.add("NonMaxSuppressionV4", [all_boxes, scores], [padded, np.int32(len(chosen))],
                  [most, limit, least, 1])
        cases.add("NonMaxSuppressionV5", [all_boxes, scores], [chosen, scores[chosen]],
                  [most, limit, least, 0])
    far = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [5, 5, 6, 6]], np.float32)
    given = np.array([0.9, 0.75, 0.6], np.float32)
    share = overlap(*far[:2].astype(np.float64))
    softened = np.float32(0.75 * np.exp(-0.5 / 0.5 * share * share))
    cases.add("NonMaxSuppressionV5", [far, given],
              [np.array([0, 2, 1], np.int32), np.array([0.9, 0.6, softened], np.float32)],
              [3, 1.0, 0.0, 0.5], tolerance=(1e-5, 1e-5))


def signals(cases):
    for shape in ((1,), (2,), (8,), (3, 15), (2, 7), (2, 3, 64), (97,), (1000,), (0,), (2, 0)):
        x = cases.values(shape, "complex64", -1, 1)
        forward = fft.fft(x.astype(np.complex128)) if x.size else x
        backward = fft.ifft(x.astype(np.complex128)) if x.size else x
        cases.add("FFT", [x], forward.astype(np.complex64), tolerance=(1e-5, 1e-4))
        cases.add("IFFT", [x], backward.astype(np.complex64), tolerance=(1e-5, 1e-5))


def add_cases(cases):
    resizing(cases)
    cropping(cases)
    warping(cases)
    boxes(cases)
    signals(cases)
