"""Rows of layers: convolutions, attention, normalization, pools, and whole encoder layers."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any, Optional, Sequence

import torch

from .rows_math import linear
from .writer import Refused, Writer, pair, sizes, tensor_bytes, type_name


def convolution(w: Writer, a: SimpleNamespace) -> str:
    spatial = len(sizes(a.weight)) - 2
    if len(sizes(a.input)) != spatial + 2:
        raise Refused("no batch dimension")
    pads = pair(a.padding, spatial)
    how = dict(strides=pair(a.stride, spatial), pads=pads + pads, group=a.groups,
               dilations=pair(a.dilation, spatial))
    inputs = [w(a.input), w(a.weight)] + ([w(a.bias)] if a.bias is not None else [])
    if a.transposed:
        return w.n("ConvTranspose", *inputs,
                   output_padding=pair(a.output_padding, spatial), **how)
    return w.n("Conv", *inputs, **how)


def attention(w: Writer, q: str, k: str, v: str, scale: float, mask: Optional[str],
               dtype: torch.dtype) -> str:
    """q, v: [.., positions, depth]; k: [.., depth, positions]."""
    scores = w.n("Mul", w.n("MatMul", q, k), w.scalar(scale, dtype))
    if mask is not None:
        scores = w.n("Add", scores, mask)
    return w.n("MatMul", w.n("Softmax", scores, axis=-1), v)


def sdpa(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    rank, dtype = len(sizes(a.query)), a.query.meta["val"].dtype
    if a.dropout_p != 0 or getattr(a, "enable_gqa", False):
        raise Refused("dropout or grouped heads")
    if getattr(a, "dropout_mask", None) is not None:
        raise Refused("dropout")
    mask = None
    if a.attn_mask is not None:
        mask = w(a.attn_mask)
        if a.attn_mask.meta["val"].dtype == torch.bool:
            mask = w.n("Where", mask, w.scalar(0, dtype), w.scalar(float("-inf"), dtype))
    elif a.is_causal:
        n, m = sizes(a.query)[-2], sizes(a.key)[-2]
        later = torch.full((n, m), float("-inf"), dtype=dtype).triu(1)
        mask = w.file.weight(type_name(dtype), [n, m], tensor_bytes(later))
    turned = list(range(rank))
    turned[-1], turned[-2] = turned[-2], turned[-1]
    scale = a.scale if a.scale is not None else sizes(a.query)[-1] ** -0.5
    return [attention(w, w(a.query), w.n("Transpose", w(a.key), perm=turned), w(a.value), scale,
                       mask, dtype), None]



def batch_norm(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    if getattr(a, "training", False) or a.running_mean is None:
        raise Refused("statistics of the batch")
    channels = sizes(a.input)[1]
    dtype = a.input.meta["val"].dtype

    def each(x: Any, otherwise: float) -> str:
        if x is not None:
            return w(x)
        return w.file.weight(type_name(dtype), [channels],
                             tensor_bytes(torch.full((channels,), otherwise, dtype=dtype)))
    return [w.n("BatchNormalization", w(a.input), each(a.weight, 1), each(a.bias, 0),
                w(a.running_mean), w(a.running_var), epsilon=float(a.eps)), None, None]


def normalized(w: Writer, x: str, weight: Any, bias: Any, eps: float, axes: int,
                dtype: torch.dtype, shape: Sequence[int]) -> str:
    scale = w(weight) if weight is not None else w.file.weight(
        type_name(dtype), shape, tensor_bytes(torch.ones(tuple(shape), dtype=dtype)))
    return w.n("LayerNormalization", x, scale, *([w(bias)] if bias is not None else []),
               axis=-axes, epsilon=float(eps))


def layer_norm(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    return [normalized(w, w(a.input), a.weight, a.bias, a.eps, len(a.normalized_shape),
                        a.input.meta["val"].dtype, a.normalized_shape), None, None]


def group_norm(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    shape, dtype = sizes(a.input), a.input.meta["val"].dtype
    rows = w.shape(w(a.input), [shape[0], a.group, -1])
    n = a.C // a.group * a.HxW
    name = w.shape(normalized(w, rows, None, None, a.eps, 1, dtype, [n]), shape)
    for op, x in (("Mul", a.weight), ("Add", a.bias)):
        if x is not None:
            name = w.n(op, name, w.shape(w(x), [a.C] + [1] * (len(shape) - 2)))
    return [name, None, None]


def pool(w: Writer, op: str, a: SimpleNamespace, **more: Any) -> str:
    if len(sizes(a.self)) != 4:
        raise Refused("no batch dimension")
    kernel, pads = pair(a.kernel_size), pair(a.padding)
    strides = pair(a.stride) if a.stride else kernel
    if a.ceil_mode:
        # torch leaves out a last window that begins behind the input, ONNX does not
        begins = [(m - 1) * s < n + p for m, s, n, p in zip(
            ceiled(sizes(a.self)[2:], kernel, strides, pads, pair(more.get("dilations", [1]))),
            strides, sizes(a.self)[2:], pads)]
        if op != "MaxPool" or not all(begins):
            raise Refused("ceil_mode")
    return w.n(op, w(a.self), kernel_shape=kernel, pads=pads + pads, strides=strides,
               ceil_mode=int(a.ceil_mode), **more)


def ceiled(sizes_: Sequence[int], kernel: Sequence[int], strides: Sequence[int],
           pads: Sequence[int], dilations: Sequence[int]) -> list[int]:
    """How many windows begin, where the last may go past the end."""
    return [-((n + 2 * p - d * (k - 1) - 1) // -s) + 1
            for n, k, s, p, d in zip(sizes_, kernel, strides, pads, dilations)]


def max_pool(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    return [pool(w, "MaxPool", a, dilations=pair(a.dilation)), None]


def avg_pool(w: Writer, a: SimpleNamespace) -> str:
    if a.divisor_override is not None:
        raise Refused("divisor_override")
    return pool(w, "AveragePool", a, count_include_pad=int(a.count_include_pad))


def adaptive(w: Writer, a: SimpleNamespace) -> str:
    have, want = sizes(a.self)[-2:], list(a.output_size)
    if len(sizes(a.self)) != 4 or any(h % n for h, n in zip(have, want)):
        raise Refused("windows of several sizes")
    kernel = [h // n for h, n in zip(have, want)]
    return w.n("AveragePool", w(a.self), kernel_shape=kernel, strides=kernel)


def nearest(w: Writer, a: SimpleNamespace) -> str:
    x = getattr(a, "self", None) or a.input
    have, want = sizes(x), list(w.out.shape)
    if any(m % n for n, m in zip(have, want)):
        raise Refused("no whole factor")
    scales = [m / n for n, m in zip(have, want)]
    packed = w.file.weight("float32", [len(scales)], struct.pack(f"<{len(scales)}f", *scales))
    return w.n("Resize", w(x), "", packed, mode="nearest", nearest_mode="floor",
               coordinate_transformation_mode="asymmetric")


def encoder_layer(w: Writer, a: SimpleNamespace) -> str:
    if a.mask is not None:
        raise Refused("a mask")
    batch, positions, width = sizes(a.src)
    depth, dtype = a.embed_dim // a.num_heads, w.out.dtype

    def norm(x: str, weight: Any, bias: Any) -> str:
        return normalized(w, x, weight, bias, a.eps, 1, dtype, [width])

    def attend(x: str) -> str:
        whole = w.file.nodes("Split", 3, linear(w, x, a.qkv_weight, a.qkv_bias),
                             w.ints(*[a.embed_dim] * 3), axis=2)
        q, k, v = (w.shape(part, [batch, positions, a.num_heads, depth]) for part in whole)
        mixed = attention(w, w.n("Transpose", q, perm=[0, 2, 1, 3]),
                           w.n("Transpose", k, perm=[0, 2, 3, 1]),
                           w.n("Transpose", v, perm=[0, 2, 1, 3]), depth ** -0.5, None, dtype)
        rows = w.shape(w.n("Transpose", mixed, perm=[0, 2, 1, 3]), [batch, positions, a.embed_dim])
        return linear(w, rows, a.proj_weight, a.proj_bias)

    def feed(x: str) -> str:
        inner = w.n("Gelu" if a.use_gelu else "Relu", linear(w, x, a.ffn_weight_1, a.ffn_bias_1))
        return linear(w, inner, a.ffn_weight_2, a.ffn_bias_2)

    x = w(a.src)
    if a.norm_first:
        x = w.n("Add", x, attend(norm(x, a.norm_weight_1, a.norm_bias_1)))
        return w.n("Add", x, feed(norm(x, a.norm_weight_2, a.norm_bias_2)))
    x = norm(w.n("Add", x, attend(x)), a.norm_weight_1, a.norm_bias_1)
    return norm(w.n("Add", x, feed(x)), a.norm_weight_2, a.norm_bias_2)
