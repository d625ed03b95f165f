"""Small graphs of the less usual forms of operators, by family; each form is an output of its own.

A family yields what each form is called, and its value.  `graph` takes one family, `together` all,
as one graph.
"""

import numpy as np
import onnx
from graph import Graph

FAMILIES = {}


def family(function):
    FAMILIES[function.__name__] = function
    return function


def image(g):
    return g.shared_input("image", [2, 6, 13, 11])


@family
def convolutions(g):
    x, line = image(g), g.shared_input("line", [2, 4, 19])
    box = g.shared_input("box", [1, 2, 6, 7, 5])

    def conv(form, data, shape, op="Conv", bias=True, **attributes):
        c_out = shape[0] if op == "Conv" else shape[1] * attributes.get("group", 1)
        bias = [g.random((c_out,))] if bias else []
        fan_in = int(np.prod(shape[1:]))
        yield form, g.node(op, data, g.kaiming(shape, fan_in), *bias, **attributes)

    yield from conv("plain", x, (8, 6, 3, 3), bias=False)
    yield from conv("pointwise_strided", x, (8, 6, 1, 1), strides=[2, 2])
    yield from conv("asymmetric_pads", x, (8, 6, 3, 3), pads=[0, 1, 2, 3])
    yield from conv("dilated", x, (8, 6, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3])
    yield from conv("wide_kernel", x, (4, 6, 5, 1), strides=[3, 1], pads=[2, 0, 2, 0])
    yield from conv("grouped", x, (9, 2, 3, 3), bias=False, group=3, pads=[1] * 4)
    yield from conv("depthwise", x, (6, 1, 3, 3), bias=False, group=6, pads=[1] * 4)
    yield from conv("depthwise_strided", x, (6, 1, 5, 5), group=6, pads=[2] * 4, strides=[2, 2])
    yield from conv("depthwise_twofold", x, (12, 1, 3, 3), group=6)
    yield from conv("same_upper", x, (8, 6, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    yield from conv("same_lower", x, (8, 6, 4, 4), auto_pad="SAME_LOWER", strides=[2, 3])
    yield from conv("valid", x, (8, 6, 3, 2), auto_pad="VALID")
    yield from conv("one_dim", line, (6, 4, 3), bias=False, pads=[1, 1])
    yield from conv("one_dim_causal", line, (6, 4, 3), pads=[4, 0], dilations=[2])
    yield from conv("one_dim_depthwise", line, (4, 1, 5), group=4, strides=[2])
    yield from conv("three_dim", box, (4, 2, 3, 3, 3), pads=[1] * 6, strides=[1, 2, 1])
    yield from conv("transposed", x, (6, 5, 3, 3), "ConvTranspose", False, strides=[2, 2])
    yield from conv(
        "transposed_padded",
        x,
        (6, 5, 3, 3),
        "ConvTranspose",
        strides=[2, 2],
        pads=[1] * 4,
        output_padding=[1, 1],
    )
    yield from conv("transposed_grouped", x, (6, 2, 2, 2), "ConvTranspose", strides=[2, 2], group=3)
    yield from conv("transposed_dilated", x, (6, 3, 3, 3), "ConvTranspose", dilations=[2, 2])
    yield from conv("transposed_line", line, (4, 3, 4), "ConvTranspose", strides=[3], pads=[1, 0])


@family
def pools(g):
    x, line = image(g), g.shared_input("line", [2, 4, 19])
    k3, k2 = {"kernel_shape": [3, 3]}, {"kernel_shape": [2, 2]}
    yield "max", g.node("MaxPool", x, strides=[2, 2], **k3)
    yield "max_ceil", g.node("MaxPool", x, strides=[2, 2], ceil_mode=1, **k2)
    yield "max_padded", g.node("MaxPool", x, strides=[2, 1], pads=[1, 0, 0, 1], **k3)
    yield "max_dilated", g.node("MaxPool", x, dilations=[2, 2], **k3)
    yield "max_same", g.node("MaxPool", x, auto_pad="SAME_UPPER", strides=[2, 2], **k3)
    yield "max_line", g.node("MaxPool", line, kernel_shape=[4], strides=[3])
    yield "average", g.node("AveragePool", x, strides=[2, 2], **k2)
    yield "average_padded", g.node("AveragePool", x, pads=[1] * 4, **k3)
    yield "average_counted", g.node("AveragePool", x, pads=[1] * 4, count_include_pad=1, **k3)
    yield "average_ceil", g.node("AveragePool", x, strides=[2, 2], ceil_mode=1, **k3)
    yield "average_same", g.node("AveragePool", x, auto_pad="SAME_LOWER", strides=[2, 2], **k2)
    yield "global_average", g.node("GlobalAveragePool", x)
    yield "global_max", g.node("GlobalMaxPool", x)
    yield "global_line", g.node("GlobalAveragePool", line)


@family
def shapes(g):
    x, small = image(g), g.shared_input("small", [3, 4, 8])
    i = g.ints
    yield "slice", g.node("Slice", small, i(1, 0), i(3, 3), i(0, 1))
    yield "slice_back", g.node("Slice", small, i(-1), i(-100), i(-1), i(-2))
    yield "slice_clamped", g.node("Slice", small, i(-100, 2), i(1000, 1000), i(2, 1))
    yield "concat", g.node("Concat", small, g.random((3, 2, 8)), small, axis=-2)
    for k, part in enumerate(g.node("Split", small, i(1, 2, 5), outputs=3, axis=2)):
        yield f"split_{k}", part
    for k, part in enumerate(g.node("Split", small, outputs=2, axis=-1)):
        yield f"split_even_{k}", part
    yield "pad", g.node("Pad", small, i(0, 1, 2, 1, 0, 3), g.const(0.5), mode="constant")
    yield "pad_crop", g.node("Pad", small, i(0, -1, 1, 0, 0, -2), mode="constant")
    yield "pad_reflect", g.node("Pad", small, i(0, 1, 3, 0, 2, 2), mode="reflect")
    yield "pad_edge", g.node("Pad", small, i(1, 0, 2, 1, 0, 2), mode="edge")
    yield "transpose", g.node("Transpose", small, perm=[2, 0, 1])
    yield "transpose_all", g.node("Transpose", x)
    yield "reshape", g.node("Reshape", small, i(0, -1, 2))
    yield "flatten", g.node("Flatten", x, axis=2)
    yield "flatten_zero", g.node("Flatten", small, axis=0)
    yield "squeeze", g.node("Squeeze", g.node("Unsqueeze", small, i(0, -1)), i(0))
    yield "expand", g.node("Expand", g.node("Slice", small, i(0), i(1), i(1)), i(2, 1, 5, 1))
    yield "tile", g.node("Tile", small, i(2, 1, 3))
    yield "gather", g.node("Gather", small, g.const([[0, -1], [2, 1]], "int64"), axis=1)
    yield "gather_scalar", g.node("Gather", small, g.const(-2, "int64"), axis=-1)
    index = g.const(np.arange(3 * 4 * 2).reshape(3, 4, 2) % 8, "int64")
    yield "gather_elements", g.node("GatherElements", small, index, axis=2)
    yield "gather_nd", g.node("GatherND", small, g.const([[0, 1], [2, -1]], "int64"))
    yield (
        "scatter_nd",
        g.node("ScatterND", small, g.const([[2], [0]], "int64"), g.random((2, 4, 8))),
    )
    wide = g.const(np.arange(2 * 4 * 8).reshape(2, 4, 8) % 3 - 1, "int64")
    yield "scatter_elements", g.node("ScatterElements", small, wide, g.random((2, 4, 8)))
    yield (
        "scatter_elements_add",
        g.node("ScatterElements", small, wide, g.random((2, 4, 8)), axis=1, reduction="add"),
    )
    yield "depth_to_space", g.node("DepthToSpace", g.node("Concat", x, x, axis=1), blocksize=2)
    yield (
        "depth_to_space_crd",
        g.node("DepthToSpace", g.node("Concat", x, x, axis=1), blocksize=2, mode="CRD"),
    )
    yield "space_to_depth", g.node("SpaceToDepth", small4(g, small), blocksize=2)


@family
def parts(g):
    """What lies in another value's memory, or must not."""
    x, i = image(g), g.ints

    def conv(data, c_in, c_out):
        return g.node("Conv", data, g.kaiming((c_out, c_in, 1, 1), c_in))

    def relu(data, c_in, c_out):
        return g.node("Relu", conv(data, c_in, c_out))

    def join(*data, axis=1):
        return g.node("Concat", *data, axis=axis)

    dense = relu(x, 6, 5)
    for width in (5, 8, 11):
        dense = join(dense, relu(dense, width, 3))
    yield "dense_block", conv(dense, 14, 4)
    yield "branches", conv(join(conv(x, 6, 3), relu(x, 6, 4), g.node("Tanh", x)), 13, 4)
    a, b = relu(x, 6, 3), conv(x, 6, 3)
    yield "joined_twice", conv(join(conv(join(a, b), 6, 3), join(b, a, axis=2), axis=2), 3, 4)
    yield "joined_rows", conv(join(relu(x, 6, 3), conv(x, 6, 3), axis=3), 3, 4)
    yield "joined_images", conv(join(relu(x, 6, 3), conv(x, 6, 3), axis=0), 3, 4)
    yield "joined_is_output", join(conv(x, 6, 3), relu(x, 6, 4))
    c, d = g.node("Split", relu(x, 6, 8), i(3, 5), outputs=2, axis=1)
    yield "split_channels", join(conv(c, 3, 4), conv(d, 5, 4))
    e, f = g.node("Split", conv(x, 6, 4), outputs=2, axis=1)
    yield "cross_stage", conv(join(e, f, conv(f, 2, 2)), 6, 4)
    cut = g.node("Slice", relu(x, 6, 8), i(1, 2, 0), i(7, 10, 9), i(1, 2, 3), i(1, 1, 2))
    yield "cut_both_ways", conv(cut, 6, 4)
    groups = g.node("Reshape", relu(x, 6, 8), i(2, 2, 4, 13, 11))
    groups = g.node("Transpose", groups, perm=[0, 2, 1, 3, 4])
    yield "channel_shuffle", conv(g.node("Reshape", groups, i(2, 8, 13, 11)), 8, 4)
    rows = g.node("Transpose", g.node("Reshape", conv(x, 6, 8), i(2, 8, 143)), perm=[0, 2, 1])
    rows = g.node("Softmax", g.node("MatMul", rows, g.random((8, 8))))
    rows = g.node("Reshape", g.node("Transpose", rows, perm=[0, 2, 1]), i(2, 8, 13, 11))
    yield "image_is_rows", conv(rows, 8, 4)
    heads = g.node("MatMul", g.shared_input("small", [3, 4, 8]), g.random((8, 18)))
    q, k, v = (
        g.node("Transpose", g.node("Reshape", part, i(3, 4, 3, 2)), perm=[0, 2, 1, 3])
        for part in g.node("Split", heads, outputs=3, axis=2)
    )
    scores = g.node("Softmax", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2])))
    merged = g.node("Transpose", g.node("MatMul", scores, v), perm=[0, 2, 1, 3])
    yield "heads_of_one_product", g.node("Reshape", merged, i(3, 4, 6))


def small4(g, small):
    return g.node("Unsqueeze", small, g.ints(0))


@family
def resizes(g):
    x = image(g)

    def resize(form, scales=None, sizes=None, **attributes):
        scales = g.const(scales) if scales else ""
        sizes = [g.ints(*sizes)] if sizes else []
        yield form, g.node("Resize", x, "", scales, *sizes, **attributes)

    twice, odd = [1.0, 1.0, 2.0, 2.0], [2, 6, 20, 8]
    yield from resize(
        "nearest",
        twice,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    yield from resize("nearest_half_pixel", None, odd, mode="nearest")
    yield from resize("nearest_ceil", [1.0, 1.0, 0.6, 1.7], mode="nearest", nearest_mode="ceil")
    yield from resize("linear", twice, mode="linear")
    yield from resize(
        "linear_corners", None, odd, mode="linear", coordinate_transformation_mode="align_corners"
    )
    yield from resize(
        "linear_pytorch",
        None,
        odd,
        mode="linear",
        coordinate_transformation_mode="pytorch_half_pixel",
    )
    yield from resize("cubic", twice, mode="cubic", cubic_coeff_a=-0.75)
    grid = g.node("Mul", g.shared_input("grid", [2, 5, 7, 2]), g.const(0.6))
    for mode in ("bilinear", "nearest", "bicubic"):
        yield f"grid_{mode}", g.node("GridSample", x, grid, mode=mode)
    yield "grid_border", g.node("GridSample", x, grid, padding_mode="border", align_corners=1)
    yield "grid_reflection", g.node("GridSample", x, grid, padding_mode="reflection")


@family
def sequences(g):
    x, state = g.shared_input("steps", [7, 3, 10]), g.shared_input("state", [1, 3, 12])

    def weights(gates, directions=1):
        shapes = ((gates * 12, 10), (gates * 12, 12), (gates * 24,))
        return [g.random((directions, *shape), scale=0.3) for shape in shapes]

    yield "rnn", g.node("RNN", x, *weights(1), hidden_size=12)
    yield "gru", g.node("GRU", x, *weights(3), "", state, hidden_size=12)
    yield (
        "gru_before_reset",
        g.node("GRU", x, *weights(3), hidden_size=12, linear_before_reset=1, direction="reverse"),
    )
    results = g.node("LSTM", x, *weights(4), "", state, state, outputs=3, hidden_size=12)
    for name, value in zip(("all", "hidden", "cell"), results):
        yield f"lstm_{name}", value
    both = g.node("LSTM", x, *weights(4, 2), hidden_size=12, direction="bidirectional")
    yield "lstm_bidirectional", both


@family
def reductions(g):
    x, i = g.shared_input("small", [3, 4, 8]), g.ints
    yield "sum", g.node("ReduceSum", x, i(1), keepdims=0)
    yield "sum_kept", g.node("ReduceSum", x, i(-1, 0), keepdims=1)
    yield "sum_all", g.node("ReduceSum", x, keepdims=0)
    yield "sum_nothing", g.node("ReduceSum", x, noop_with_empty_axes=1)
    yield "mean", g.node("ReduceMean", x, axes=[-2], keepdims=0)
    yield "mean_all", g.node("ReduceMean", x)
    yield "max", g.node("ReduceMax", x, axes=[0, 2], keepdims=0)
    yield "min", g.node("ReduceMin", x, axes=[1])
    yield "prod", g.node("ReduceProd", x, axes=[-1])
    yield "l1", g.node("ReduceL1", x, axes=[2], keepdims=0)
    yield "l2", g.node("ReduceL2", x, axes=[1, 2])
    yield "sum_square", g.node("ReduceSumSquare", x, axes=[0])
    yield "log_sum_exp", g.node("ReduceLogSumExp", x, axes=[-1])
    yield "arg_max", g.node("ArgMax", x, axis=-1, keepdims=0)
    yield "arg_min_kept", g.node("ArgMin", x, axis=1)
    yield "cum_sum", g.node("CumSum", x, g.const(1, "int64"))
    yield "cum_sum_back", g.node("CumSum", x, g.const(-1, "int64"), exclusive=1, reverse=1)
    values, index = g.node("TopK", x, i(3), outputs=2, axis=-1)
    yield "top_values", values
    yield "top_index", index


@family
def products(g):
    a, t = g.shared_input("rows", [5, 7]), g.shared_input("small", [3, 4, 8])
    w, wt = g.random((7, 6)), g.random((6, 7))
    yield "gemm", g.node("Gemm", a, w, g.random((6,)))
    yield "gemm_bare", g.node("Gemm", a, wt, transB=1)
    yield "gemm_scaled", g.node("Gemm", a, w, g.random((5, 1)), alpha=0.5, beta=-2.0)
    yield (
        "gemm_transposed",
        g.node("Gemm", g.node("Transpose", a, perm=[1, 0]), wt, g.const(0.5), transA=1, transB=1),
    )
    yield "gemm_whole_bias", g.node("Gemm", a, w, g.random((5, 6)), beta=0.25)
    yield "matmul", g.node("MatMul", a, w)
    yield "matmul_batched", g.node("MatMul", t, g.random((3, 8, 5)))
    yield "matmul_shared", g.node("MatMul", t, g.random((8, 5)))
    yield (
        "matmul_broadcast",
        g.node("MatMul", g.node("Unsqueeze", t, g.ints(1)), g.random((1, 2, 8, 3))),
    )
    yield "matmul_vector", g.node("MatMul", t, g.random((8,)))
    yield "vector_matmul", g.node("MatMul", g.random((4,)), t)
    yield "einsum", g.node("Einsum", t, g.random((3, 8, 2)), equation="bij,bjk->bki")


UNARY = """Abs Neg Exp Log Sqrt Reciprocal Sin Cos Tanh Sigmoid Erf Floor Ceil Round Sign Relu
    Softplus Softsign HardSwish HardSigmoid Elu Selu Celu LeakyRelu ThresholdedRelu""".split()


@family
def elements(g):
    x, row = g.shared_input("small", [3, 4, 8]), g.shared_input("row", [4, 1])
    positive = g.node("Add", g.node("Abs", x), g.const(0.1))
    for op in UNARY:
        yield op.lower(), g.node(op, positive if op in ("Log", "Sqrt", "Reciprocal") else x)
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"):
        yield f"{op.lower()}_broadcast", g.node(op, x, row)
    yield "pow", g.node("Pow", positive, row)
    for quarters in (1, 3, 6, 11):
        yield f"pow_{quarters}_quarters", g.node("Pow", positive, g.const(quarters / 4))
    yield "max_of_three", g.node("Max", x, row, g.const(0.25))
    yield "sum_of_three", g.node("Sum", x, row, g.random((8,)))
    yield "mean_of_two", g.node("Mean", x, row)
    yield "clip_below", g.node("Clip", x, g.const(-0.5))
    yield "clip_above", g.node("Clip", x, "", g.const(0.5))
    less, same = g.node("Less", x, row), g.node("Equal", x, x)
    yield "less", less
    yield "greater_or_equal", g.node("GreaterOrEqual", x, row)
    yield "not_and", g.node("Not", g.node("And", less, same))
    yield "where", g.node("Where", less, row, g.const(-1.0))
    whole = g.node("Cast", g.node("Mul", x, g.const(10.0)), to=7)
    yield "cast", whole
    yield "int_div", g.node("Div", whole, g.const(3, "int64"))
    yield "int_mod", g.node("Mod", whole, g.const(3, "int64"))
    yield "float_mod", g.node("Mod", x, g.const(0.3), fmod=1)


@family
def normalizations(g):
    x, small = image(g), g.shared_input("small", [3, 4, 8])
    yield "softmax", g.node("Softmax", small, axis=-1)
    yield "softmax_middle", g.node("Softmax", small, axis=1)
    yield "log_softmax", g.node("LogSoftmax", small, axis=2)
    yield "lrn", g.node("LRN", x, size=3, alpha=1e-2, beta=0.75, bias=1.0)
    yield "instance", g.node("InstanceNormalization", x, g.random((6,)), g.random((6,)))
    yield "layer", g.node("LayerNormalization", small, g.random((8,)), g.random((8,)), axis=-1)
    yield "layer_two_axes", g.node("LayerNormalization", small, g.random((4, 8)), axis=1)
    yield "l2", g.node("LpNormalization", small, axis=1, p=2)
    yield "mean_variance", g.node("MeanVarianceNormalization", x, axes=[0, 2, 3])


def add(g, name, prefix=""):
    for form, value in FAMILIES[name](g):
        g.output(prefix + form, value)


def graph(name, seed=5):
    """One family."""
    g = Graph(f"odd_{name}", opset=17, seed=seed)
    add(g, name)
    return g.model()


def together(seed=6):
    """All families."""
    g = Graph("odd", opset=17, seed=seed)
    for name in FAMILIES:
        add(g, name, f"{name}.")
    return g.model()


def only(model, output):
    """What one output of a model needs, as a model."""
    graph, needed, nodes = model.graph, {output}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
            nodes.insert(0, node)
    kept = [
        [value for value in values if value.name in needed]
        for values in (graph.input, graph.output, graph.initializer)
    ]
    made = onnx.helper.make_graph(nodes, output, *kept)
    return onnx.helper.make_model(
        made, opset_imports=model.opset_import, ir_version=model.ir_version
    )


def forms():
    """Each form as a model of its own, by name: where one is refused, the others are not."""
    whole = together()
    return {output.name: only(whole, output.name) for output in whole.graph.output}
