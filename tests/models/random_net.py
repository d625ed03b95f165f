"""Networks that nobody would write: operators drawn at random, one behind another.

`random_net.py FOLDER FIRST COUNT` writes net_<seed>.onnx for COUNT seeds.  Each hangs operators
behind values that it has drawn before, so that operators meet which no exporter puts together, and
values are read several times, or are answers of the network as well as its inner values.

All is continuous in its inputs, and values stay about as large as a normal distribution's: else a
rounding would look like a fault.
"""

import pathlib
import sys

import numpy as np
import onnx
from graph import Graph

LARGEST = 30000  # elements of one value
UNARY = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "HardSwish", "Softplus", "LeakyRelu")
BINARY = ("Add", "Sub", "Mul", "Max", "Min")
REDUCE = ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceSumSquare")


class Net:
    """A graph that grows; `values` are pairs of a name and a shape."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.g = Graph(f"net_{seed}", 20, seed)
        self.values = []
        for k in range(self.below(3) + 1):
            shape = self.shape()
            self.values.append((self.g.input(f"in_{k}", shape), shape))

    def below(self, n):
        return int(self.rng.integers(n))

    def one_of(self, choices):
        return choices[self.below(len(choices))]

    def maybe(self):
        return bool(self.below(2))

    def shape(self):
        rank = self.one_of((1, 2, 3, 3, 4, 4, 4, 5))
        while True:
            shape = [self.one_of((1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24)) for _ in range(rank)]
            if np.prod(shape) <= LARGEST:
                return shape

    def value(self):
        """Late ones are likelier: networks are deep."""
        return self.values[-1 - min(self.below(6), self.below(len(self.values)))]

    def grow(self):
        """Appends what one rule makes of some value; most rules do not fit most values."""
        x, shape = self.value()
        rule = self.one_of(RULES if shape else (unary, binary, choose))
        found = rule(self, x, shape)
        if found and found[1] is not None and 0 < np.prod(found[1]) <= LARGEST:
            self.values.append(found)
            return True
        return False

    def model(self, n_nodes):
        grown = 0
        while grown < n_nodes:
            grown += self.grow()
        picked = {len(self.values) - 1, self.below(len(self.values)), self.below(len(self.values))}
        for k, i in enumerate(sorted(picked)):
            name, shape = self.values[i]
            self.g.output(f"out_{k}", name, shape)
        return self.g.model()


def unary(net, x, shape):
    return net.g.node(net.one_of(UNARY), x), shape


def clip(net, x, shape):
    return net.g.node("Clip", x, net.g.const(-0.5), net.g.const(1.25)), shape


def root(net, x, shape):
    return net.g.node("Sqrt", net.g.node("Add", net.g.node("Abs", x), net.g.const(0.25))), shape


def divide(net, x, shape):
    below = net.g.node("Add", net.g.node("Abs", net.value_like(shape)), net.g.const(1.0))
    return net.g.node("Div", x, below), shape


def value_like(net, shape):
    """A value that broadcasts to `shape`: one of ours, or weights."""
    fits = [
        n
        for n, s in net.values
        if len(s) <= len(shape) and all(a in (1, b) for a, b in zip(s[::-1], shape[::-1]))
    ]
    if fits and net.maybe():
        return net.one_of(fits)
    rank = net.below(len(shape) + 1)
    return net.g.random([n if net.maybe() else 1 for n in shape[len(shape) - rank :]])


Net.value_like = value_like


def binary(net, x, shape):
    pair = [x, net.value_like(shape)]
    return net.g.node(net.one_of(BINARY), *pair[:: net.one_of((1, -1))]), shape


def choose(net, x, shape):
    """max(x, y) by a condition."""
    y = net.value_like(shape)
    op, pair = net.one_of((("Greater", (x, y)), ("LessOrEqual", (y, x)), ("GreaterOrEqual", (x, y))))
    return net.g.node("Where", net.g.node(op, *pair), x, y), shape


def matmul(net, x, shape):
    if len(shape) < 2:
        return None
    n = net.one_of((1, 3, 8, 16, 33))
    lead = shape[:-2] if net.maybe() else []
    w = net.g.kaiming([*lead, shape[-1], n], shape[-1], 1.0)
    return net.g.node("MatMul", x, w), [*shape[:-1], n]


def square(net, x, shape):
    """x times its transpose."""
    if len(shape) < 2:
        return None
    order = list(range(len(shape)))
    order[-2:] = order[:-3:-1]
    turned = net.g.node("Transpose", x, perm=order)
    scaled = net.g.node("Mul", x, net.g.const(1 / shape[-1]))
    return net.g.node("MatMul", scaled, turned), [*shape[:-1], shape[-2]]


def gemm(net, x, shape):
    if len(shape) != 2:
        return None
    a, b = net.below(2), net.below(2)
    k, m = shape[::-1] if not a else shape
    n = net.one_of((1, 5, 16, 31))
    w = net.g.kaiming([n, k] if b else [k, n], k, 1.0)
    c = [net.g.random(net.one_of(([n], [1, n], [m, 1], [1], [m, n])))] if net.maybe() else []
    return net.g.node("Gemm", x, w, *c, transA=a, transB=b, alpha=0.5, beta=1.5), [m, n]


def window(net, shape):
    """Attributes of a sliding window that fits, and the extents it leaves."""
    k, s, d, p, out = [], [], [], [], []
    for extent in shape[2:]:
        k.append(net.one_of((1, 2, 3, 3, 5)))
        s.append(net.one_of((1, 1, 2, 3)))
        d.append(net.one_of((1, 1, 1, 2)))
        reach = d[-1] * (k[-1] - 1)
        p.append([net.below(k[-1]), net.below(k[-1])])
        out.append((extent + sum(p[-1]) - reach - 1) // s[-1] + 1)
    if min(out) < 1:
        return None, None
    pads = [a for a, _ in p] + [b for _, b in p]
    return {"kernel_shape": k, "strides": s, "dilations": d, "pads": pads}, out


def conv(net, x, shape):
    if len(shape) not in (3, 4, 5):
        return None
    attributes, out = window(net, shape)
    if not out:
        return None
    c = shape[1]
    group = net.one_of((1, 1, c, *(n for n in (2, 3, 4) if c % n == 0)))
    to = group * net.one_of((1, 2, 3, 8) if group == 1 else (1, 1, 2))
    w = net.g.kaiming([to, c // group, *attributes["kernel_shape"]], c // group, 1.0)
    bias = [net.g.random([to])] if net.maybe() else []
    return net.g.node("Conv", x, w, *bias, group=group, **attributes), [shape[0], to, *out]


def pool(net, x, shape):
    if len(shape) not in (3, 4):
        return None
    attributes, out = window(net, shape)
    if not out:
        return None
    op = net.one_of(("MaxPool", "AveragePool"))
    if op == "AveragePool":
        attributes["count_include_pad"] = net.below(2)
    return net.g.node(op, x, **attributes), [*shape[:2], *out]


def global_pool(net, x, shape):
    if len(shape) not in (3, 4, 5):
        return None
    op = net.one_of(("GlobalAveragePool", "GlobalMaxPool"))
    return net.g.node(op, x), [*shape[:2], *[1] * (len(shape) - 2)]


def softmax(net, x, shape):
    return net.g.node("Softmax", x, axis=net.below(2 * len(shape)) - len(shape)), shape


def layer_norm(net, x, shape):
    axis = net.below(len(shape))
    if np.prod(shape[axis:]) < 4:
        return None
    scale, bias = net.g.random(shape[axis:], 0.3, 1.0), net.g.random(shape[axis:])
    return net.g.node("LayerNormalization", x, scale, bias, axis=axis, epsilon=1e-2), shape


def batch_norm(net, x, shape):
    if len(shape) < 2:
        return None
    c = shape[1:2]
    parts = net.g.random(c), net.g.random(c), net.g.random(c), net.g.uniform(c, 0.5, 2)
    return net.g.node("BatchNormalization", x, *parts), shape


def reduce(net, x, shape):
    axes = [a for a in range(len(shape)) if net.below(3) == 0] or [net.below(len(shape))]
    keep = net.below(2)
    scaled = net.g.node("Mul", x, net.g.const(float(np.prod([shape[a] for a in axes]) ** -0.5)))
    left = [1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes]
    negative = [a - len(shape) * net.below(2) for a in axes]
    return net.g.node(net.one_of(REDUCE), scaled, net.g.ints(*negative), keepdims=keep), left


def transpose(net, x, shape):
    perm = [int(a) for a in net.rng.permutation(len(shape))]
    return net.g.node("Transpose", x, perm=perm), [shape[a] for a in perm]


def reshape(net, x, shape):
    left, to = int(np.prod(shape)), []
    while left > 1 and len(to) < 4:
        to.append(net.one_of([n for n in range(1, left + 1) if left % n == 0]))
        left //= to[-1]
    to.append(left)
    asked = list(to)
    asked[net.below(len(to))] = -1
    return net.g.node("Reshape", x, net.g.ints(*asked)), to


def cut(net, x, shape):
    starts, ends, steps, out = [], [], [], []
    for n in shape:
        step = net.one_of((1, 1, 2, -1))
        first = net.below(n)
        starts.append(first)
        ends.append(n if step > 0 else -n - 1)
        steps.append(step)
        out.append(-((first - n) // step) if step > 0 else first + 1)
    axes = net.g.ints(*range(len(shape)))
    return net.g.node("Slice", x, net.g.ints(*starts), net.g.ints(*ends), axes, net.g.ints(*steps)), out


def concat(net, x, shape):
    axis = net.below(len(shape))
    same = [
        (n, s)
        for n, s in net.values
        if len(s) == len(shape) and s[:axis] + s[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
    ]
    others = [net.one_of(same) for _ in range(1 + net.below(2))]
    total = shape[axis] + sum(s[axis] for _, s in others)
    names = [x, *(n for n, _ in others)]
    return net.g.node("Concat", *names, axis=axis - len(shape) * net.below(2)), [
        *shape[:axis],
        total,
        *shape[axis + 1 :],
    ]


def split(net, x, shape):
    axis = net.below(len(shape))
    if shape[axis] < 2:
        return None
    first = 1 + net.below(shape[axis] - 1)
    sizes = [first, shape[axis] - first]
    parts = net.g.node("Split", x, net.g.ints(*sizes), outputs=2, axis=axis)
    for name, n in zip(parts, sizes):
        net.values.append((name, [*shape[:axis], n, *shape[axis + 1 :]]))
    return net.values.pop()


def pad(net, x, shape):
    before, after = [net.below(3) for _ in shape], [net.below(3) for _ in shape]
    mode = net.one_of(("constant", "edge"))
    fill = [net.g.const(0.75)] if mode == "constant" and net.maybe() else []
    made = net.g.node("Pad", x, net.g.ints(*before, *after), *fill, mode=mode)
    return made, [a + n + b for a, n, b in zip(before, shape, after)]


def expand(net, x, shape):
    to = [n if n > 1 else net.one_of((1, 3, 4)) for n in shape]
    lead = [2] if net.maybe() else []
    return net.g.node("Expand", x, net.g.ints(*lead, *to)), [*lead, *to]


def tile(net, x, shape):
    times = [net.one_of((1, 1, 2)) for _ in shape]
    return net.g.node("Tile", x, net.g.ints(*times)), [n * t for n, t in zip(shape, times)]


def gather(net, x, shape):
    axis = net.below(len(shape))
    n = shape[axis]
    which = [net.below(2 * n) - n for _ in range(1 + net.below(5))]
    which, got = (which[0], []) if net.maybe() else (which, [len(which)])
    made = net.g.node("Gather", x, net.g.const(which, "int64"), axis=axis)
    return made, [*shape[:axis], *got, *shape[axis + 1 :]]


def lengthen(net, x, shape):
    if len(shape) > 4:
        return None
    at = net.below(len(shape) + 1)
    return net.g.node("Unsqueeze", x, net.g.ints(at)), [*shape[:at], 1, *shape[at:]]


def squeeze(net, x, shape):
    ones = [a for a, n in enumerate(shape) if n == 1]
    if not ones or len(ones) == len(shape):
        return None
    return net.g.node("Squeeze", x, net.g.ints(*ones)), [n for n in shape if n != 1]


def resize(net, x, shape):
    if len(shape) != 4:
        return None
    to = [*shape[:2], shape[2] * 2, shape[3] + net.below(4)]
    mode = net.one_of(("nearest", "linear"))
    how = net.one_of(("asymmetric", "half_pixel", "align_corners"))
    more = {"nearest_mode": "floor"} if mode == "nearest" else {}
    made = net.g.node(
        "Resize", x, "", "", net.g.ints(*to), mode=mode, coordinate_transformation_mode=how, **more
    )
    return made, to


def depth(net, x, shape):
    if len(shape) != 4:
        return None
    if shape[1] % 4 == 0 and net.maybe():
        mode = net.one_of(("DCR", "CRD"))
        to = [shape[0], shape[1] // 4, shape[2] * 2, shape[3] * 2]
        return net.g.node("DepthToSpace", x, blocksize=2, mode=mode), to
    if shape[2] % 2 or shape[3] % 2:
        return None
    to = [shape[0], shape[1] * 4, shape[2] // 2, shape[3] // 2]
    return net.g.node("SpaceToDepth", x, blocksize=2), to


def running(net, x, shape):
    axis = net.below(len(shape))
    scaled = net.g.node("Mul", x, net.g.const(shape[axis] ** -0.5))
    made = net.g.node(
        "CumSum", scaled, net.g.const(axis, "int64"), reverse=net.below(2), exclusive=net.below(2)
    )
    return made, shape


RULES = [
    *[unary, binary, binary, conv, matmul] * 2,
    *[clip, root, divide, choose, square, gemm, pool, global_pool, softmax, layer_norm],
    *[batch_norm, reduce, transpose, reshape, cut, concat, split, pad, expand, tile, gather],
    *[lengthen, squeeze, resize, depth, running],
]


def main():
    folder, first, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(first, first + count):
        net = Net(seed)
        onnx.save(net.model(4 + seed % 20), folder / f"net_{seed}.onnx")


if __name__ == "__main__":
    main()
