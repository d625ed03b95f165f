"""A fused operator of AKG, evaluated by numpy from its JSON: what hone's answers are held against.

Written from what the operators mean, one function for each, and independent of hone: it reads the
file itself.  float16 is computed an operator at a time, sums of it in float32.
"""

import numpy as np

RULES = {}


def rule(*names):
    def keep(function):
        RULES.update(dict.fromkeys(names, function))
        return function

    return keep


def attributes(desc):
    """A list of names and values, or an object that has them."""
    attr = desc.get("attr") or []
    return attr if isinstance(attr, dict) else {a["name"]: a["value"] for a in attr}


class Op:
    """One operator: attributes, operands, and what the file says of its results."""

    def __init__(self, desc, values):
        self.attr = attributes(desc)
        self.ins = [t for group in desc["input_desc"] or [] for t in group]
        self.outs = desc["output_desc"]
        self.name = desc["name"]
        self.x = [operand(t, values) for t in self.ins]

    def get(self, name, otherwise=None):
        return self.attr.get(name, otherwise)

    def list_of(self, name, k):
        """Integers that an attribute says, or operand k."""
        value = self.attr.get(name)
        if value is None:
            value = self.ins[k].get("value") if k is not None and k < len(self.ins) else None
        return value if value is None or isinstance(value, list) else [value]

    def flag(self, name, twin=None):
        return bool(self.attr.get(name, self.attr.get(twin, False)))

    def dtype(self, k=0):
        return np.dtype(self.outs[k]["data_type"])


def shape_of(tensor):
    return tensor["shape"] or [1]


def operand(tensor, values):
    if tensor.get("value") is None:
        return values[tensor["tensor_name"]]
    return np.broadcast_to(np.array(tensor["value"], tensor["data_type"]), shape_of(tensor))


def same_type(op, first=0):
    """Operands in numpy's common type; a literal has that of the tensors beside it."""
    rows = list(zip(op.x[first:], op.ins[first:], strict=True))
    kinds = [x.dtype for x, t in rows if t.get("value") is None] or [x.dtype for x, _ in rows]
    kind = np.result_type(*kinds)
    if kind.kind in "iub" and any(x.dtype.kind == "f" for x, _ in rows):
        kind = np.result_type(kind, *[x.dtype for x, _ in rows])
    return [x.astype(kind) for x, _ in rows]


# -- element-wise ---------------------------------------------------------------------------

UNARY = {
    "Abs": np.abs, "Neg": np.negative, "Exp": np.exp, "Expm1": np.expm1, "Log": np.log,
    "Log1p": np.log1p, "Sqrt": np.sqrt, "Tanh": np.tanh, "Sin": np.sin, "Cos": np.cos,
    "Tan": np.tan, "Sinh": np.sinh, "Cosh": np.cosh, "Asin": np.arcsin, "ACos": np.arccos,
    "Acos": np.arccos, "Atan": np.arctan, "Asinh": np.arcsinh, "Acosh": np.arccosh,
    "Atanh": np.arctanh, "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint, "Sign": np.sign,
    "IsNan": np.isnan, "IsInf": np.isinf, "IsFinite": np.isfinite, "Square": np.square,
    "LogicalNot": np.logical_not, "ZerosLike": np.zeros_like, "EquivFormat": lambda x: x,
    "Relu": lambda x: np.maximum(x, 0), "ReLU": lambda x: np.maximum(x, 0),
}  # fmt: skip
BINARY = {
    "Add": np.add, "TensorAdd": np.add, "Sub": np.subtract, "Mul": np.multiply, "Pow": np.power,
    "RealDiv": np.divide, "Div": np.divide, "FloorDiv": np.floor_divide, "Mod": np.fmod,
    "FloorMod": np.mod, "Maximum": np.maximum, "Minimum": np.minimum, "Atan2": np.arctan2,
    "Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less, "LessEqual": np.less_equal,
    "Greater": np.greater, "GreaterEqual": np.greater_equal, "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or, "LogicalXor": np.logical_xor,
}  # fmt: skip
COMPARE = {
    "SelectGT": np.greater, "SelectGE": np.greater_equal, "SelectLT": np.less,
    "SelectLE": np.less_equal,
}  # fmt: skip


@rule(*UNARY)
def unary(op):
    return UNARY[op.name](op.x[0])


@rule("Rsqrt")
def rsqrt(op):
    return (1 / np.sqrt(op.x[0].astype(np.float32))).astype(op.x[0].dtype)


@rule("Reciprocal")
def reciprocal(op):
    return (1 / op.x[0]).astype(op.x[0].dtype)


@rule("Sigmoid", "FastGeLU")
def sigmoid(op):
    x = op.x[0].astype(np.float32)
    y = 1 / (1 + np.exp(-x)) if op.name == "Sigmoid" else x / (1 + np.exp(-1.702 * x))
    return y.astype(op.x[0].dtype)


@rule("Erf")
def erf(op):
    from math import erf as one

    return np.vectorize(one, otypes=[op.x[0].dtype])(op.x[0])


@rule("AddMinValue")
def add_least(op):
    least = {"float32": 2.0**-126, "float16": 2.0**-24}.get(op.x[0].dtype.name, 0)
    return op.x[0] + op.x[0].dtype.type(least)


def beside_fractals(op):
    """Rows and columns beside a tensor in FRACTAL_NZ become its blocks."""
    formats = [t.get("format") for t in op.ins]
    if "FRACTAL_NZ" not in formats:
        return
    n1, m1, m0, n0 = op.x[formats.index("FRACTAL_NZ")].shape[-4:]
    for k, x in enumerate(op.x):
        if formats[k] == "FRACTAL_NZ" or x.size == 1:
            continue
        m, n = (1, *x.shape)[-2:]
        rows, columns = (m1, m0) if m > 1 else (1, 1), (n1, n0) if n > 1 else (1, 1)
        x = x.reshape(*x.shape[:-2], *rows, *columns)
        op.x[k] = np.moveaxis(x, -2, -4)


@rule(*BINARY)
def binary(op):
    beside_fractals(op)
    if op.name.startswith("Logical"):
        return BINARY[op.name](*op.x)
    return BINARY[op.name](*same_type(op))


@rule("AddN")
def add_n(op):
    beside_fractals(op)
    total = op.x[0]
    for x in op.x[1:]:
        total = total + x
    return total


@rule("Select")
def select(op):
    beside_fractals(op)
    return np.where(op.x[0].astype(bool), *same_type(op, 1))


@rule(*COMPARE)
def select_by(op):
    x = same_type(op)
    return np.where(COMPARE[op.name](x[0], x[1]), x[2], x[3])


@rule("Cast")
def cast(op):
    return op.x[0].astype(op.get("dst_type", op.dtype()))


@rule("Complex")
def complex_of(op):
    return op.x[0] + 1j * op.x[1]


@rule("CReal", "CImag")
def part(op):
    return op.x[0].real if op.name == "CReal" else op.x[0].imag


# -- reductions -----------------------------------------------------------------------------

REDUCE = {
    "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod,
    "ReduceMean": np.mean, "ReduceAll": np.all, "ReduceAny": np.any,
}  # fmt: skip


@rule(*REDUCE)
def reduce(op):
    axis, x = op.list_of("axis", 1), op.x[0]
    wide = {"float16": np.float32, "float32": np.float64}.get(x.dtype.name)
    wide = wide if op.name in ("ReduceSum", "ReduceMean", "ReduceProd") else None
    y = REDUCE[op.name](
        x.astype(wide) if wide else x, axis=tuple(axis) if axis else None, keepdims=op.flag("keep_dims")
    )
    return np.asarray(y).astype(x.dtype)


@rule("ElemAny")
def elem_any(op):
    return op.x[0].any()


@rule("ElemAll")
def elem_all(op):
    return op.x[0].all()


@rule("Argmax", "Argmin")
def arg(op):
    function = np.argmax if op.name == "Argmax" else np.argmin
    return function(op.x[0], axis=op.list_of("axis", 1)[0], keepdims=op.flag("keep_dims"))


@rule("CumSum", "CumProd")
def cumulate(op):
    axis, x = op.list_of("axis", 1)[0], op.x[0]
    x = np.flip(x, axis) if op.flag("reverse") else x
    y = (np.cumsum if op.name == "CumSum" else np.cumprod)(x, axis, dtype=x.dtype)
    if op.flag("exclusive"):
        first = np.full_like(np.take(y, [0], axis), 0 if op.name == "CumSum" else 1)
        y = np.concatenate([first, np.take(y, range(y.shape[axis] - 1), axis)], axis)
    return np.flip(y, axis) if op.flag("reverse") else y


@rule("Pool2D")
def pool(op):
    layout, x = op.get("data_layout", "NCHW"), op.x[0]
    h = 1 if layout == "NHWC" else 2
    is_max = op.get("pool_type") == "max"
    if op.flag("global"):
        return (np.max if is_max else np.mean)(x, axis=(h, h + 1), keepdims=True)
    (kh, kw), (sh, sw) = op.get("kernel_size"), op.get("strides")
    pad = op.get("pad") or [0] * 4
    edge = [(0, 0)] * x.ndim
    edge[h], edge[h + 1] = (pad[0], pad[2]), (pad[1], pad[3])
    x = np.pad(x, edge, constant_values=-np.inf if is_max else 0)
    w = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (h, h + 1))
    w = w[(slice(None),) * h + (slice(None, None, sh), slice(None, None, sw))]
    return w.max((-1, -2)) if is_max else w.mean((-1, -2), dtype=np.float32)


# -- sums of products -----------------------------------------------------------------------


def to_rows(x):
    n1, m1, m0, n0 = x.shape[-4:]
    return np.moveaxis(x, -4, -2).reshape(*x.shape[:-4], m1 * m0, n1 * n0)


def to_fractals(x):
    m, n = x.shape[-2:]
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, -m % 16), (0, -n % 16)])
    x = x.reshape(*x.shape[:-2], -(-m // 16), 16, -(-n // 16), 16)
    return np.moveaxis(x, -2, -4)


@rule("MatMul", "BatchMatMul")
def matmul(op):
    a, b = (x.astype(np.float32) if x.dtype == np.float16 else x for x in op.x[:2])
    a = to_rows(a) if op.ins[0].get("format") == "FRACTAL_NZ" else a
    b = to_rows(b) if op.ins[1].get("format") == "FRACTAL_NZ" else b
    a = np.swapaxes(a, -1, -2) if op.flag("transpose_a", "transpose_x1") else a
    b = np.swapaxes(b, -1, -2) if op.flag("transpose_b", "transpose_x2") else b
    y = (a @ b).astype(op.dtype())
    y = y + op.x[2] if len(op.x) > 2 else y
    return to_fractals(y) if op.outs[0].get("format") == "FRACTAL_NZ" else y


def conv_rows(x, w, stride, dilation, groups):
    """[N, H, W, C] and [O, H, W, C / groups], no padding: one image and one group at a time."""
    kh, kw = w.shape[1:3]
    reach = [(k - 1) * d + 1 for k, d in zip((kh, kw), dilation, strict=True)]
    oh, ow = ((x.shape[1 + d] - reach[d]) // stride[d] + 1 for d in range(2))
    y = np.zeros((x.shape[0], oh, ow, w.shape[0]), np.float32)
    c, o = x.shape[3] // groups, w.shape[0] // groups
    for n in range(x.shape[0]):
        v = np.lib.stride_tricks.sliding_window_view(x[n], reach, (0, 1))
        v = v[:: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
        for g in range(groups):
            part = v[:, :, g * c : (g + 1) * c].astype(np.float32)
            rows = part.transpose(0, 1, 3, 4, 2).reshape(oh * ow, -1)
            weights = w[g * o : (g + 1) * o].reshape(o, -1).astype(np.float32)
            y[n, :, :, g * o : (g + 1) * o] = (rows @ weights.T).reshape(oh, ow, o)
    return y


@rule("Conv2D")
def conv(op):
    stride, dilation = (list(op.get(k) or [1, 1])[-2:] for k in ("stride", "dilation"))
    top, bottom, left, right = op.get("pad_list") or [0] * 4
    x, w, blocks = op.x[0], op.x[1], op.get("data_format") == "NC1HWC0"
    if blocks:
        x = x.transpose(0, 2, 3, 1, 4).reshape(x.shape[0], *x.shape[2:4], -1)
        w = w.transpose(0, 5, 2, 3, 1, 4).reshape(w.shape[0] * w.shape[5], *w.shape[2:4], -1)
    groups = x.shape[3] if op.flag("is_depth_wise") else op.get("group", 1)
    x = np.pad(x, [(0, 0), (top, bottom), (left, right), (0, 0)])
    y = conv_rows(x, w, stride, dilation, groups)
    if blocks:
        block = op.outs[0]["shape"][-1]
        y = y.reshape(*y.shape[:3], -1, block).transpose(0, 3, 1, 2, 4)
    return y


# -- elements in other places ---------------------------------------------------------------


@rule("Reshape")
def reshape(op):
    to = list(op.outs[0]["shape"] or [1])
    if to.count(-1) > 1:
        raise NotImplementedError("a shape of two open dimensions")
    return op.x[0].reshape(to)


@rule("ExpandDims")
def expand_dims(op):
    return np.expand_dims(op.x[0], op.list_of("axis", 1)[0])


@rule("Squeeze")
def squeeze(op):
    axis = op.list_of("axis", 1)
    return np.squeeze(op.x[0], tuple(axis) if axis else None)


@rule("Transpose")
def transpose(op):
    return np.transpose(op.x[0], op.list_of("perm", 1))


@rule("BroadcastTo")
def broadcast(op):
    return np.broadcast_to(op.x[0], op.list_of("shape", 1))


@rule("Tile")
def tile(op):
    return np.tile(op.x[0], op.list_of("multiples", 1))


@rule("Concat")
def concat(op):
    return np.concatenate(op.x, op.get("axis", 0))


@rule("Split")
def split(op):
    sizes, axis, n = op.get("size_splits"), op.get("axis", 0), len(op.outs)
    at = np.cumsum(sizes)[:-1] if sizes else n
    return np.split(op.x[0], at, axis)


@rule("StridedSlice")
def strided_slice(op):
    lists = [op.list_of(name, k + 1) for k, name in enumerate(("begin", "end", "strides"))]
    mask = {k: op.get(f"{k}_mask", 0) for k in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    index = []
    for k, (begin, end, step) in enumerate(zip(*lists, strict=True)):
        bit = {name: value >> k & 1 for name, value in mask.items()}
        if bit["ellipsis"]:
            index.append(Ellipsis)
        elif bit["new_axis"]:
            index.append(None)
        elif bit["shrink_axis"]:
            index.append(begin)
        else:
            index.append(slice(None if bit["begin"] else begin, None if bit["end"] else end, step))
    return op.x[0][tuple(index)]


@rule("PadAkg")
def pad(op):
    value = op.get("pad_val", 0)
    width = list(zip(op.get("head"), op.get("tail"), strict=True))
    return np.pad(op.x[0], width, constant_values=value)


@rule("UnPadAkg")
def unpad(op):
    tail = op.get("tail")
    return op.x[0][tuple(slice(0, n - t) for n, t in zip(op.x[0].shape, tail, strict=True))]


@rule("TransData")
def trans_data(op):
    if op.get("dst_format") == "FRACTAL_NZ":
        return to_fractals(op.x[0])
    m, n = op.outs[0]["shape"][-2:]
    return to_rows(op.x[0])[..., :m, :n]


@rule("LayoutTransform")
def layout(op):
    import re

    def letters(text):
        return [(letter, int(n or 0)) for n, letter in re.findall(r"(\d*)([A-Za-z])", text)]

    src, dst, x = letters(op.get("src_format")), letters(op.get("dst_format")), op.x[0]
    names = [letter for letter, _ in src]
    for small in [n for n in names if n.islower()]:
        at, big = names.index(small), names.index(small.upper())
        x = np.moveaxis(x, at, big + 1 if at > big else big)
        names.remove(small)
        big = names.index(small.upper())
        x = x.reshape(*x.shape[:big], -1, *x.shape[big + 2 :])
    for letter, n in dst:
        if letter.islower():
            big = names.index(letter.upper())
            x = x.reshape(*x.shape[:big], -1, n, *x.shape[big + 1 :])
            names.insert(big + 1, letter)
    return x.transpose([names.index(letter) for letter, _ in dst])


# -- elements that data choose --------------------------------------------------------------


@rule("Gather")
def gather(op):
    axis = op.list_of("axis", 2)
    return np.take(op.x[0], op.x[1], axis[0] if axis else 0)


@rule("GatherNd")
def gather_nd(op):
    return op.x[0][tuple(np.moveaxis(op.x[1], -1, 0))]


@rule("OneHot")
def one_hot(op):
    depth = op.list_of("depth", 1)[0]
    axis = op.get("axis", -1)
    places = np.expand_dims(op.x[0], axis)
    line = [1] * places.ndim
    line[axis] = depth
    return np.where(places == np.arange(depth).reshape(line), op.x[-2], op.x[-1])


def add_at(data, place, update):
    good = ((place >= 0) & (place < np.array(data.shape[: place.shape[-1]]))).all(-1)
    wide = data.astype(np.float64) if data.dtype.kind == "f" else data.copy()
    np.add.at(wide, tuple(np.moveaxis(place[good], -1, 0)), update[good])
    return wide.astype(data.dtype)


@rule("TensorScatterAdd")
def scatter_add(op):
    place = op.x[1] if op.x[1].ndim > 1 else op.x[1][..., None]
    return add_at(op.x[0], place, op.x[2])


@rule("UnsortedSegmentSum")
def segment_sum(op):
    n, data, place = op.list_of("num_segments", 2)[0], op.x[0], op.x[1]
    return add_at(np.zeros((n, *data.shape[place.ndim :]), data.dtype), place[..., None], data)


# -- the kernel -----------------------------------------------------------------------------


def assigned(op, values):
    """Operand 0 is written; the result."""
    dst = op.ins[0]
    new = op.x[0] + op.x[1] if op.name == "AssignAdd" else op.x[1]
    values[dst["tensor_name"]] = settled(new, dst)
    return new if op.name == "AssignAdd" else op.x[-1]


def settled(value, tensor):
    """As the file says: its type, and dimensions of one element."""
    shape = shape_of(tensor)
    value = np.asarray(value).astype(tensor["data_type"])
    return value if -1 in shape else value.reshape(shape)


def evaluate(kernel, inputs):
    """The outputs by name, in order; written inputs that no output is come last, as in hone."""
    values, written = dict(inputs), []
    with np.errstate(all="ignore"):
        for desc in kernel["op_desc"]:
            op = Op(desc, values)
            if op.name in ("Assign", "InplaceAssign", "AssignAdd"):
                found = [assigned(op, values)]
                written.append(op.ins[0]["tensor_name"])
            else:
                found = RULES[op.name](op)
                found = found if isinstance(found, list) else [found]
            for value, tensor in zip(found, op.outs, strict=True):
                values[tensor["tensor_name"]] = settled(value, tensor)
    outputs = [(t["tensor_name"], values[t["tensor_name"]]) for t in kernel["output_desc"]]
    return outputs, [(n, values[n]) for n in inputs if n in written]
