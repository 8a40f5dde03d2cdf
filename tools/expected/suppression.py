"""Non-maximum suppression, by its definition: all overlaps first, then one selection after the other."""
import numpy as np


def overlaps(boxes):
    boxes = boxes.astype(np.float64)
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area = (high - low).prod(1)
    common = np.maximum(np.minimum(high[:, None], high) - np.maximum(low[:, None], low), 0).prod(2)
    real = (area[:, None] > 0) & (area > 0)
    union = area[:, None] + area - common
    return np.where(real, common / np.where(real, union, 1), 0)


def suppress(boxes, scores, most, overlap, least, sigma=0.0):
    iou = overlaps(boxes)
    left = scores.astype(np.float64).copy()
    left[~(scores > least)] = -np.inf
    selected, kept = [], []
    while len(selected) < most and len(left) and np.max(left) > least:
        best = int(np.argmax(left))
        selected.append(best)
        kept.append(left[best])
        left[best] = -np.inf
        if sigma > 0:
            left *= np.where(np.isinf(left), 1, np.exp(-0.5 / sigma * iou[best] ** 2))
        left[(iou[best] >= overlap)] = -np.inf
    return np.array(selected, np.int32), np.array(kept, np.float32)


def add_cases(cases):
    for count in (0, 1, 2, 7, 30, 200):
        corners = cases.random.uniform(0, 1, (count, 2))
        extents = cases.random.uniform(-0.5, 0.5, (count, 2))
        boxes = np.concatenate([corners, corners + extents], 1).astype(np.float32)
        scores = cases.random.uniform(0, 1, count).astype(np.float32)
        scores[::5] = 0.5  # ties: the first box is best
        for most, overlap, least in [(0, 0.5, 0.0), (3, 0.5, 0.0), (1000, 0.3, 0.25), (1000, 1.0, -1.0),
                                     (10, 0.0, 0.9)]:
            selected, _ = suppress(boxes, scores, most, overlap, least)
            cases.add("NonMaxSuppressionV3", [boxes, scores], selected, [most, overlap, least])
            padded = np.concatenate([selected, np.zeros(max(most - len(selected), 0), np.int32)])
            valid = np.array(len(selected), np.int32)
            cases.add("NonMaxSuppressionV4", [boxes, scores], [selected, valid],
                      [most, overlap, least, False])
            cases.add("NonMaxSuppressionV4", [boxes, scores], [padded, valid],
                      [most, overlap, least, True])
            for sigma in (0.0, 0.5):
                cases.add("NonMaxSuppressionV5", [boxes, scores],
                          suppress(boxes, scores, most, overlap, max(least, 0.0), sigma),
                          [most, overlap, max(least, 0.0), sigma])
    nan = np.array([0.9, np.nan, 0.8], np.float32)
    apart = np.array([[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]], np.float32)
    cases.add("NonMaxSuppressionV3", [apart, nan], np.array([0, 2], np.int32), [3, 0.5, 0.0],
              note="a score of NaN is none")
