"""Images: resizing, cropping, turning; coordinates are worked out here, sampling is SciPy's."""
import numpy as np
from scipy import ndimage

SIZES = [((1, 1, 1, 1), (1, 1)), ((1, 2, 2, 1), (3, 5)), ((2, 5, 7, 3), (3, 4)), ((1, 4, 4, 2), (4, 4)),
         ((2, 3, 5, 1), (1, 1)), ((1, 7, 3, 4), (15, 2)), ((0, 3, 3, 1), (2, 2)), ((1, 1, 6, 2), (4, 9))]


def sample(image, rows, columns, mode="nearest", fill=0.0, order=1):
    """image [h,w,c] at the points of a grid of rows and columns (each any shape alike)."""
    planes = [ndimage.map_coordinates(image[..., c].astype(np.float64), [rows, columns], order=order,
                                      mode=mode, cval=fill, prefilter=False)
              for c in range(image.shape[-1])]
    return np.stack(planes, -1)


def axis_points(old, new, align, half):
    less = 1 if align and new > 1 else 0
    scale = (old - less) / (new - less)
    return scale * (np.arange(new) + 0.5) - 0.5 if half else scale * np.arange(new)


def resize_bilinear(x, size, align, half):
    rows = axis_points(x.shape[1], size[0], align, half)
    columns = axis_points(x.shape[2], size[1], align, half)
    grid = np.meshgrid(rows, columns, indexing="ij")
    out = np.empty((x.shape[0], *size, x.shape[3]), np.float32)
    for i, image in enumerate(x):
        out[i] = sample(image, *grid)
    return out


def nearest_points(old, new, align, half):
    points = axis_points(old, new, align, half) + (0.5 if half else 0.0)
    points = np.floor(points + 0.5) if align else np.floor(points)
    return np.clip(points, 0, old - 1).astype(np.int64)


def resize_nearest(x, size, align, half):
    rows = nearest_points(x.shape[1], size[0], align, half)
    columns = nearest_points(x.shape[2], size[1], align, half)
    return x[:, rows][:, :, columns]


def transposed(forward, shape, dy, size, align):
    """The gradient of a linear map: what each basis image contributes, times dy."""
    dx = np.zeros(shape, np.float64)
    for y, x in np.ndindex(shape[1], shape[2]):
        basis = np.zeros((1, shape[1], shape[2], 1), np.float32)
        basis[0, y, x, 0] = 1
        dx[:, y, x, :] = (dy * forward(basis, size, align, False)).sum((1, 2))
    return dx.astype(np.float32)


def resizes(cases):
    for shape, size in SIZES:
        x = cases.values(shape)
        for align, half in [(False, False), (True, False), (False, True)]:
            expected = resize_bilinear(x, size, align, half)
            cases.add("ResizeBilinear", [x], expected, [size, align, half], tolerance=(1e-5, 1e-5))
            cases.add("ResizeNearestNeighbor", [x], resize_nearest(x, size, align, half),
                      [size, align, half])
        dy = cases.values((shape[0], *size, shape[3]))
        for align in (False, True):
            cases.add("ResizeBilinearGrad", [x, dy], transposed(resize_bilinear, shape, dy, size, align),
                      [align], tolerance=(1e-5, 1e-5))
            cases.add("ResizeNearestNeighborGrad", [x, dy],
                      transposed(resize_nearest, shape, dy, size, align), [align],
                      tolerance=(1e-5, 1e-5))
    for dtype in ("int32", "bool", "uint8", "float64", "float16", "int64"):
        x = cases.values((1, 3, 4, 2), dtype)
        cases.add("ResizeNearestNeighbor", [x], resize_nearest(x, (5, 3), False, False),
                  [(5, 3), False, False])
        cases.add("ResizeBilinear", [x], resize_bilinear(x, (5, 3), False, False),
                  [(5, 3), False, False], tolerance=(1e-5, 1e-5))


def crop(images, boxes, which, size, nearest, fill):
    height, width = images.shape[1:3]
    out = np.zeros((len(boxes), *size, images.shape[3]), np.float32)
    for i, (y1, x1, y2, x2) in enumerate(boxes.astype(np.float64)):
        if which[i] >= len(images):
            continue
        points = []
        for begin, end, extent, count in ((y1, y2, height, size[0]), (x1, x2, width, size[1])):
            middle = np.array([0.5 * (begin + end)])
            points.append((extent - 1) * (np.linspace(begin, end, count) if count > 1 else middle))
        rows, columns = np.meshgrid(*points, indexing="ij")
        if nearest:
            picked = np.floor(rows + 0.5), np.floor(columns + 0.5)
        else:
            picked = rows, columns
        inside = ((rows >= 0) & (rows <= height - 1) & (columns >= 0) & (columns <= width - 1))
        out[i] = np.where(inside[..., None], sample(images[which[i]], *picked), fill)
    return out


def crops(cases):
    images = cases.values((2, 7, 5, 3))
    boxes = np.array([[0, 0, 1, 1], [0.13, 0.2, 0.77, 0.61], [0.9, 0.8, 0.1, 0.3], [-0.4, 0.1, 1.3, 2],
                      [0.2, 0.2, 0.2, 0.2], [0, 0, 1, 1]], np.float32)
    which = np.array([0, 1, 0, 1, 1, 2], np.int32)
    for size in [(1, 1), (3, 4), (9, 2)]:
        for nearest in (False, True):
            cases.add("CropAndResize", [images, boxes, which],
                      crop(images, boxes, which, size, nearest, 7.5), [size, int(nearest), 7.5],
                      tolerance=(1e-4, 1e-4))
    none = np.zeros((0, 4), np.float32)
    cases.add("CropAndResize", [images, none, np.zeros(0, np.int32)],
              np.zeros((0, 2, 2, 3), np.float32), [(2, 2), 0, 0.0], note="no boxes")
    lost = np.array([[np.nan, 0, 1, 1]], np.float32)
    cases.add("CropAndResize", [images, lost, np.zeros(1, np.int32)],
              np.full((1, 2, 2, 3), 4, np.float32), [(2, 2), 0, 4.0], note="NaN is outside")


def rotate(x, radians, fill, center):
    _, height, width, channels = x.shape
    cx, cy = width * center[0], height * center[1]
    rows, columns = np.meshgrid(np.arange(height) - cy, np.arange(width) - cx, indexing="ij")
    from_x = np.floor(columns * np.cos(radians) - rows * np.sin(radians) + cx + 0.5).astype(int)
    from_y = np.floor(columns * np.sin(radians) + rows * np.cos(radians) + cy + 0.5).astype(int)
    inside = (from_x >= 0) & (from_x < width) & (from_y >= 0) & (from_y < height)
    values = list(fill) * channels if len(fill) == 1 else (list(fill) + [255])[:channels]
    out = np.broadcast_to(np.array(values, x.dtype), x.shape).copy()
    out[:, inside] = x[:, from_y[inside], from_x[inside]]
    return out


def turns(cases):
    for dtype in ("float32", "int32", "uint8", "float64"):
        for shape in [(1, 1, 1, 1), (2, 5, 7, 3), (1, 8, 4, 4), (0, 3, 3, 1), (2, 0, 3, 1)]:
            x = cases.values(shape, dtype)
            cases.add("FlipLeftRight", [x], x[:, :, ::-1])
            for radians, fill, center in [(0.0, [0], [0.5, 0.5]), (0.7, [3], [0.5, 0.5]),
                                          (-2.1, [1, 2, 3], [0.25, 0.7])]:
                cases.add("RotateWithOffset", [x], rotate(x, radians, fill, center),
                          [radians, fill, center])


MODES = {"grid-constant": 0, "reflect": 1, "grid-wrap": 2, "nearest": 3}


def transform(x, matrices, size, mode, fill, bilinear):
    out = np.empty((x.shape[0], *size, x.shape[3]), np.float64)
    rows, columns = np.meshgrid(np.arange(size[0]), np.arange(size[1]), indexing="ij")
    for i, image in enumerate(x):
        m = matrices[i % len(matrices)].astype(np.float64)
        depth = m[6] * columns + m[7] * rows + 1
        from_x = (m[0] * columns + m[1] * rows + m[2]) / depth
        from_y = (m[3] * columns + m[4] * rows + m[5]) / depth
        if not bilinear:
            from_x, from_y = np.floor(from_x + 0.5), np.floor(from_y + 0.5)
        out[i] = sample(image, from_y, from_x, mode, fill)
    return out.astype(x.dtype)


def transforms(cases):
    x = cases.values((2, 5, 6, 2))
    shift = np.array([[1, 0, -2, 0, 1, 1, 0, 0]], np.float32)
    slanted = np.array([[0.9, 0.13, -1.27, -0.21, 1.1, 0.53, 0.011, -0.007],
                        [1.1, -0.07, 0.31, 0.17, 0.83, -1.19, 0.003, 0.013]], np.float32)
    for mode, code in MODES.items():
        for bilinear in (False, True):
            cases.add("Transform", [x, shift], transform(x, shift, (5, 6), mode, 3.0, bilinear),
                      [int(not bilinear), code, 3.0, (5, 6)], tolerance=(1e-4, 1e-4), note=mode)
            if mode in ("grid-wrap", "reflect"):
                continue  # rounding comes before the reflection here, after it there
            cases.add("Transform", [x, slanted], transform(x, slanted, (4, 7), mode, 3.0, bilinear),
                      [int(not bilinear), code, 3.0, (4, 7)], tolerance=(1e-4, 1e-4), note=mode)
    cases.add("Transform", [x, slanted], transform(x, slanted, (4, 7), "reflect", 3.0, True),
              [0, 1, 3.0, (4, 7)], tolerance=(1e-4, 1e-4), note="reflect, slanted")
    whole = cases.values((1, 4, 4, 1), "int32")
    cases.add("Transform", [whole, shift], transform(whole, shift, (4, 4), "grid-constant", 9, False),
              [1, 0, 9.0, (4, 4)])
    endless = np.array([[1, 0, 0, 0, 1, 0, -1, 0]], np.float32)
    expected = np.array([0, 2, 2], np.float32).reshape(1, 1, 3, 1)
    line = np.zeros((1, 1, 3, 1), np.float32)
    cases.add("Transform", [line, endless], expected, [1, 0, 2.0, (1, 3)], note="projection of 0")


def add_cases(cases):
    resizes(cases)
    crops(cases)
    turns(cases)
    transforms(cases)
