"""Convolutional nets with random weights: ResNet v1.5 and MobileNet-V2, as torchvision has them."""

from graph import Graph

# Of a residual branch: the sums of many blocks stay of the scale of one.
BRANCH_GAIN = 0.2


def conv(g, x, c_in, c_out, kernel, stride=1, group=1, norm="folded", gain=2.0):
    """A convolution and its normalization: folded into weights and bias, or a node of its own."""
    fan_in = c_in // group * kernel * kernel
    w = g.kaiming((c_out, c_in // group, kernel, kernel), fan_in, gain)
    attributes = {
        "dilations": [1, 1],
        "group": group,
        "kernel_shape": [kernel, kernel],
        "pads": [kernel // 2] * 4,
        "strides": [stride, stride],
    }
    if norm == "folded":
        return g.node("Conv", x, w, g.random((c_out,), 0.1), **attributes)
    return batch_norm(g, g.node("Conv", x, w, **attributes), c_out)


def batch_norm(g, x, channels):
    scale, bias = g.uniform((channels,), 0.8, 1.2), g.random((channels,), 0.1)
    mean, var = g.random((channels,), 0.1), g.uniform((channels,), 0.8, 1.2)
    return g.node("BatchNormalization", x, scale, bias, mean, var, epsilon=1e-5, momentum=0.9)


def bottleneck(g, x, c_in, width, stride, norm):
    """1x1, 3x3 with the stride (this is what v1.5 means), 1x1; and the way around them."""
    c_out = 4 * width
    y = g.node("Relu", conv(g, x, c_in, width, 1, norm=norm))
    y = g.node("Relu", conv(g, y, width, width, 3, stride, norm=norm))
    y = conv(g, y, width, c_out, 1, norm=norm, gain=BRANCH_GAIN)
    if stride != 1 or c_in != c_out:
        x = conv(g, x, c_in, c_out, 1, stride, norm=norm, gain=1.0)
    return g.node("Relu", g.node("Add", y, x))


def classifier(g, x, channels, classes, batch):
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    w, b = g.kaiming((classes, channels), channels, 1.0), g.random((classes,), 0.1)
    g.output("logits", g.node("Gemm", x, w, b, alpha=1.0, beta=1.0, transB=1), [batch, classes])


def resnet(blocks=(3, 4, 6, 3), width=64, size=224, batch=1, norm="folded", classes=1000, seed=1):
    """ResNet v1.5 with bottlenecks: 50 layers by default.  norm: "folded" or "separate"."""
    g = Graph("resnet", opset=17, seed=seed)
    x = g.input("image", [batch, 3, size, size])
    x = g.node("Relu", conv(g, x, 3, width, 7, 2, norm=norm))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2], ceil_mode=0)
    channels = width
    for stage, count in enumerate(blocks):
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            x = bottleneck(g, x, channels, width << stage, stride, norm)
            channels = 4 * (width << stage)
    classifier(g, x, channels, classes, batch)
    return g.model()


def relu6(g, x):
    return g.node("Clip", x, g.const(0.0), g.const(6.0))


def inverted_residual(g, x, c_in, c_out, stride, expand, norm):
    hidden = c_in * expand
    y = x
    if expand != 1:
        y = relu6(g, conv(g, y, c_in, hidden, 1, norm=norm))
    y = relu6(g, conv(g, y, hidden, hidden, 3, stride, group=hidden, norm=norm))
    y = conv(g, y, hidden, c_out, 1, norm=norm, gain=1.0)
    return g.node("Add", x, y) if stride == 1 and c_in == c_out else y


# Expansion, channels, blocks, stride of the first.
MOBILENET_V2 = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(stages=MOBILENET_V2, size=224, batch=1, norm="folded", classes=1000, seed=2):
    g = Graph("mobilenet_v2", opset=17, seed=seed)
    x = g.input("image", [batch, 3, size, size])
    x, channels = relu6(g, conv(g, x, 3, 32, 3, 2, norm=norm)), 32
    for expand, c_out, count, first in stages:
        for block in range(count):
            stride = first if block == 0 else 1
            x = inverted_residual(g, x, channels, c_out, stride, expand, norm)
            channels = c_out
    last = 4 * channels
    classifier(g, relu6(g, conv(g, x, channels, last, 1, norm=norm)), last, classes, batch)
    return g.model()
