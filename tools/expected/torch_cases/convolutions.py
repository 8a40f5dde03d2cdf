"""Convolutions, and what brings gradients back through them: all of float32. Data is NHWC, filters are HWIO."""
import torch
import torch.nn.functional as F

from .gradients import gradient_of
from .products import epilogues, with_epilogue

# Strides, pads (top, bottom, left, right), dilations.
WINDOWS = (((1, 1), (0, 0, 0, 0), (1, 1)), ((2, 1), (1, 0, 1, 1), (1, 1)), ((1, 1), (1, 1, 1, 1), (2, 1)))


def padded(x, pads, value=0.0):
    """Channels are the last axis; the pads of each axis before it, from the front."""
    pairs = [pads[i:i + 2] for i in range(0, len(pads), 2)]
    return F.pad(x, (0, 0, *(each for pair in reversed(pairs) for each in pair)), value=value)


def planes(strides, pads, dilations):
    def function(x, w):
        made = F.conv2d(padded(x, pads).permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=strides, dilation=dilations)
        return made.permute(0, 2, 3, 1)
    return function


def depthwise(strides, pads, dilations):
    def function(x, w):
        channels = w.shape[2]
        filters = w.permute(2, 3, 0, 1).reshape(channels * w.shape[3], 1, *w.shape[:2])
        made = F.conv2d(padded(x, pads).permute(0, 3, 1, 2), filters, stride=strides, dilation=dilations, groups=channels)
        return made.permute(0, 2, 3, 1)
    return function


def volumes(strides, pads, dilations):
    def function(x, w):
        made = F.conv3d(padded(x, pads).permute(0, 4, 1, 2, 3), w.permute(4, 3, 0, 1, 2), stride=strides, dilation=dilations)
        return made.permute(0, 2, 3, 4, 1)
    return function


def first(function):
    """The same with channels first."""
    return lambda x, w: function(x.permute(0, 2, 3, 1), w).permute(0, 3, 1, 2)


def back(g, of_data, of_filter, function, x, w, attributes):
    """What brings dy back to data and to the filter, as functions of their operands."""
    def to_data(dy, filters):
        return gradient_of(lambda data: function(data, filters), torch.zeros(x, requires_grad=True), dy)

    def to_filter(data, dy):
        return gradient_of(lambda filters: function(data, filters), torch.zeros(w, requires_grad=True), dy)

    y = tuple(function(torch.zeros(x), torch.zeros(w)).shape)
    g.add(of_data, to_data, [g.values(y), g.values(w)], [*attributes, list(x)])
    g.add(of_filter, to_filter, [g.values(x), g.values(y)], [*attributes, list(w)])


def of_planes(g, windows):
    lists = [list(each) for each in windows]
    shape = [*lists, []]
    x, w = (2, 5, 4, 2), (2, 2, 2, 3)
    function = planes(*windows)
    g.add("Conv2D", function, [g.values(x), g.values(w)], [*shape, 0])
    g.add("Conv2D", first(function), [g.values((1, 2, 5, 4)), g.values(w)], [*shape, 1], note="channels first")
    g.add("Conv2D", function, [g.values((0, 5, 4, 2)), g.values(w)], [*shape, 0])
    for number, more in epilogues(g, 3):
        g.add("FusedConv2D", with_epilogue(function, number), [g.values((1, 5, 4, 2)), g.values(w), *more],
              [*shape, 0, number, 0.2])
    back(g, "Conv2DBackpropInput", "Conv2DBackpropFilter", function, x, w, [*lists, 0])
    back(g, "Conv2DBackpropInput", "Conv2DBackpropFilter", first(function), (1, 2, 5, 4), w, [*lists, 1])


def of_depth(g, windows):
    lists = [list(each) for each in windows]
    shape = [*lists, []]
    x, w = (2, 5, 4, 3), (2, 2, 3, 2)
    function = depthwise(*windows)
    g.add("DepthwiseConv2dNative", function, [g.values(x), g.values(w)], [*shape, 0])
    g.add("DepthwiseConv2dNative", function, [g.values((0, 5, 4, 3)), g.values(w)], [*shape, 0])
    for number, more in epilogues(g, 6):
        g.add("FusedDepthwiseConv2D", with_epilogue(function, number), [g.values((1, 5, 4, 3)), g.values(w), *more],
              [*shape, 0, number, 0.2])
    back(g, "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter", function, x, w, lists)


def of_volumes(g, windows):
    lists = [list(each) for each in windows]
    x, w = (1, 3, 3, 2, 2), (2, 2, 1, 2, 2)
    function = volumes(*windows)
    g.add("Conv3D", function, [g.values(x), g.values(w)], [*lists, []])
    g.add("Conv3D", function, [g.values((0, 3, 3, 2, 2)), g.values(w)], [*lists, []])
    back(g, "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", function, x, w, lists)


def transposed(g):
    """By PyTorch's own transposed convolution."""
    g.add("Conv2DBackpropInput",
          lambda dy, w: F.conv_transpose2d(dy.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), stride=2).permute(0, 2, 3, 1),
          [g.values((2, 3, 2, 3)), g.values((2, 2, 2, 3))], [[2, 2], [0, 0, 0, 0], [1, 1], 0, [2, 6, 4, 2]])


def add_cases(g):
    for windows in WINDOWS:
        of_planes(g, windows)
        of_depth(g, windows)
    transposed(g)
    for windows in (((1, 1, 1), (0, 0, 0, 0, 0, 0), (1, 1, 1)), ((1, 2, 1), (1, 0, 0, 1, 0, 0), (1, 1, 1)),
                    ((1, 1, 1), (1, 1, 0, 0, 0, 1), (2, 1, 1))):
        of_volumes(g, windows)
