"""What each of torch's operators (ATen) is in ONNX: one row an operator.

A row is a function of a Writer and of the operator's arguments by the names of its schema.  It
gives the name of the result, or a list where there are several; None in that list is a result that
hone does not compute.  It raises Refused, with the reason, for what it does not take.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from . import rows_layers as layers, rows_math as math, rows_shape as shapes
from .writer import Refused, Row, Writer

ROWS: dict[str, Row] = {
    "abs": math.unary("Abs"), "ceil": math.unary("Ceil"), "cos": math.unary("Cos"),
    "erf": math.unary("Erf"), "exp": math.unary("Exp"), "floor": math.unary("Floor"),
    "log": math.unary("Log"), "neg": math.unary("Neg"), "reciprocal": math.unary("Reciprocal"),
    "relu": math.unary("Relu"), "round": math.unary("Round"), "sigmoid": math.unary("Sigmoid"),
    "sign": math.unary("Sign"), "sin": math.unary("Sin"), "sqrt": math.unary("Sqrt"),
    "tan": math.unary("Tan"), "tanh": math.unary("Tanh"), "mish": math.unary("Mish"),
    "logical_not": lambda w, a: w.n("Not", w(a.self, torch.bool)),
    "hardswish": math.unary("HardSwish"),
    "hardsigmoid": math.unary("HardSigmoid", alpha=1 / 6, beta=0.5),
    "rsqrt": lambda w, a: w.n("Reciprocal", w.n("Sqrt", w(a.self, w.out.dtype))),
    "gelu": lambda w, a: w.n("Gelu", w(a.self), approximate=a.approximate),
    "leaky_relu": lambda w, a: w.n("LeakyRelu", w(a.self), alpha=float(a.negative_slope)),
    "silu": math.silu, "elu": math.elu, "softplus": math.softplus, "hardtanh": math.hardtanh,
    "clamp": math.clamp, "clamp_min": math.clamp, "clamp_max": math.clamp,
    "add.Tensor": math.sum_of("Add"), "add.Scalar": math.sum_of("Add"),
    "sub.Tensor": math.sum_of("Sub"), "sub.Scalar": math.sum_of("Sub"), "rsub.Scalar": math.rsub,
    "rsub.Tensor": math.rsub, "mul": math.binary("Mul"), "div": math.binary("Div"),
    "div.Tensor_mode": math.div_mode, "maximum": math.binary("Max"), "minimum": math.binary("Min"),
    "pow.Tensor_Scalar": lambda w, a: w.n("Pow", w(a.self, w.out.dtype), w(a.exponent)),
    "pow.Tensor_Tensor": lambda w, a: w.n("Pow", w(a.self, w.out.dtype),
                                          w(a.exponent, w.out.dtype)),
    "eq": math.comparison("Equal"), "ne": math.comparison("NotEqual"),
    "lt": math.comparison("Less"), "le": math.comparison("LessOrEqual"),
    "gt": math.comparison("Greater"), "ge": math.comparison("GreaterOrEqual"),
    "where.self": math.where, "masked_fill.Scalar": math.masked_fill,
    "masked_fill.Tensor": math.masked_fill, "clone": math.same, "detach": math.same,
    "alias": math.same, "_to_copy": math.same, "lift_fresh_copy": math.same,
    "mm": lambda w, a: w.n("MatMul", w(a.self), w(a.mat2)),
    "bmm": lambda w, a: w.n("MatMul", w(a.self), w(a.mat2)), "addmm": math.addmm,
    "baddbmm": math.addmm, "convolution": layers.convolution,
    "linear": lambda w, a: math.linear(w, w(a.input), a.weight, a.bias),
    "_scaled_dot_product_flash_attention_for_cpu": layers.sdpa,
    "_scaled_dot_product_attention_math": layers.sdpa,
    "_native_batch_norm_legit_no_training": layers.batch_norm,
    "native_batch_norm": layers.batch_norm, "native_layer_norm": layers.layer_norm,
    "native_group_norm": layers.group_norm, "sum": math.reduction("ReduceSum"),
    "mean": math.reduction("ReduceMean"), "amax": math.reduction("ReduceMax"),
    "amin": math.reduction("ReduceMin"), "var.correction": math.var,
    "_softmax": math.softmax("Softmax"), "_log_softmax": math.softmax("LogSoftmax"),
    "max_pool2d_with_indices": layers.max_pool, "avg_pool2d": layers.avg_pool,
    "_adaptive_avg_pool2d": layers.adaptive, "upsample_nearest2d": layers.nearest,
    "view": shapes.reshape, "_unsafe_view": shapes.reshape, "reshape": shapes.reshape,
    "unsqueeze": shapes.reshape, "squeeze": shapes.reshape, "permute": shapes.permute,
    "transpose.int": shapes.transpose, "t": shapes.t, "expand": shapes.expand, "cat": shapes.cat,
    "slice.Tensor": shapes.slice, "select.int": shapes.select, "split": shapes.split,
    "split_with_sizes": shapes.split, "unbind.int": shapes.unbind, "embedding": shapes.embedding,
    "index.Tensor": shapes.index, "_unsafe_index": shapes.index, "as_strided": shapes.as_strided,
    "constant_pad_nd": shapes.pad, "_transformer_encoder_layer_fwd": layers.encoder_layer,
}

# These compute nothing: a region of them alone is not worth a kernel.
IDLE = {"view", "_unsafe_view", "reshape", "unsqueeze", "squeeze", "permute", "transpose", "t",
        "expand", "slice", "select", "split", "split_with_sizes", "unbind", "clone", "detach",
        "alias", "_to_copy", "lift_fresh_copy", "as_strided"}
# Of these the row refuses what is random.
SEEDED = {"_scaled_dot_product_flash_attention_for_cpu"}


def row_of(target: Any) -> Row:
    """The row of an operator: of its overload, or of all of them."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.name.startswith("aten::"):
        raise Refused("not one of torch's operators")
    name = schema.name.removeprefix("aten::")
    for key in (f"{name}.{schema.overload_name}", name):
        if key in ROWS:
            return ROWS[key]
    raise Refused("hone has no such operator here")


def arguments(node: torch.fx.Node) -> SimpleNamespace:
    """By the names of the schema, defaults included."""
    given = {}
    for at, arg in enumerate(node.target._schema.arguments):
        default = arg.default_value if arg.has_default_value() else None
        given[arg.name] = node.args[at] if at < len(node.args) else node.kwargs.get(
            arg.name, default)
    return SimpleNamespace(**given)


def write(w: Writer, node: torch.fx.Node) -> None:
    """One operator, whose operands are written already."""
    w.out = node.meta["val"]
    w.names[node] = row_of(node.target)(w, arguments(node))
