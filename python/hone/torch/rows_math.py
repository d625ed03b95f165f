"""Rows of operators that compute element by element, along dimensions, or products."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from .writer import Refused, Row, Writer, dims_of, sizes


def unary(op: str, **attributes: Any) -> Row:
    """One operand, computed in the result's type."""
    return lambda w, a: w.n(op, w(a.self, w.out.dtype), **attributes)


def binary(op: str) -> Row:
    """Two operands, computed in the result's type."""
    return lambda w, a: w.n(op, w(a.self, w.out.dtype), w(a.other, w.out.dtype))


def comparison(op: str) -> Row:
    """Two operands, compared in the type that both fit."""
    def row(w: Writer, a: SimpleNamespace) -> str:
        both = torch.result_type(a.self.meta["val"], a.other.meta["val"]
                                 if isinstance(a.other, torch.fx.Node) else a.other)
        done = op.removeprefix("Not")
        name = w.n(done, w(a.self, both), w(a.other, both))
        return w.n("Not", name) if op != done else name
    return row


def sum_of(op: str) -> Row:
    """x + alpha * y, x - alpha * y."""
    def row(w: Writer, a: SimpleNamespace) -> str:
        other = w(a.other, w.out.dtype)
        if a.alpha != 1:
            other = w.n("Mul", other, w.scalar(a.alpha, w.out.dtype))
        return w.n(op, w(a.self, w.out.dtype), other)
    return row


def div_mode(w: Writer, a: SimpleNamespace) -> str:
    if a.rounding_mode is not None:
        raise Refused(f"rounding {a.rounding_mode}")
    return w.n("Div", w(a.self, w.out.dtype), w(a.other, w.out.dtype))


def rsub(w: Writer, a: SimpleNamespace) -> str:
    this = w(a.self, w.out.dtype)
    if a.alpha != 1:
        this = w.n("Mul", this, w.scalar(a.alpha, w.out.dtype))
    return w.n("Sub", w(a.other, w.out.dtype), this)


def clamp(w: Writer, a: SimpleNamespace) -> str:
    name = w(a.self, w.out.dtype)
    for op, bound in (("Max", getattr(a, "min", None)), ("Min", getattr(a, "max", None))):
        # a number that is none is the second operand's, and stays
        name = w.n(op, w(bound, w.out.dtype), name) if bound is not None else name
    return name


def hardtanh(w: Writer, a: SimpleNamespace) -> str:
    return clamp(w, SimpleNamespace(self=a.self, min=a.min_val, max=a.max_val))


def silu(w: Writer, a: SimpleNamespace) -> str:
    x = w(a.self)
    return w.n("Mul", x, w.n("Sigmoid", x))


def elu(w: Writer, a: SimpleNamespace) -> str:
    if a.input_scale != 1:
        raise Refused("input_scale")
    name = w.n("Elu", w(a.self), alpha=float(a.alpha))
    return w.n("Mul", name, w(a.scale)) if a.scale != 1 else name


def softplus(w: Writer, a: SimpleNamespace) -> str:
    if a.beta != 1 or a.threshold < 20:
        raise Refused("beta or threshold")
    return w.n("Softplus", w(a.self))


def where(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Where", w(a.condition), w(a.self, w.out.dtype), w(a.other, w.out.dtype))


def masked_fill(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Where", w(a.mask), w(a.value, w.out.dtype), w(a.self))


def same(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Identity", w(a.self, w.out.dtype))



def biased(w: Writer, name: str, bias: Any) -> str:
    return w.n("Add", name, w(bias)) if bias is not None else name


def addmm(w: Writer, a: SimpleNamespace) -> str:
    if a.beta != 1 or a.alpha != 1:
        raise Refused("alpha or beta")
    first, second = (a.mat1, a.mat2) if hasattr(a, "mat1") else (a.batch1, a.batch2)
    return w.n("Add", w.n("MatMul", w(first), w(second)), w(a.self))


def linear(w: Writer, name: str, weight: Any, bias: Any) -> str:
    turned = w.n("Transpose", w(weight), perm=[1, 0])
    return biased(w, w.n("MatMul", name, turned), bias)


def reduction(op: str) -> Row:
    """Over some dimensions, or all."""
    def row(w: Writer, a: SimpleNamespace) -> str:
        name = w(a.self, w.out.dtype)
        return w.n(op, name, w.ints(*dims_of(a.self, getattr(a, "dim", None))),
                   keepdims=int(getattr(a, "keepdim", False)))
    return row


def var(w: Writer, a: SimpleNamespace) -> str:
    dims, n = dims_of(a.self, a.dim), 1
    for d in dims:
        n *= sizes(a.self)[d]
    less = 1 if a.correction is None else a.correction
    if n <= less:
        raise Refused("too few elements")
    x, axes = w(a.self), w.ints(*dims)
    off = w.n("Sub", x, w.n("ReduceMean", x, axes, keepdims=1))
    mean = w.n("ReduceMean", w.n("Mul", off, off), axes, keepdims=int(a.keepdim))
    return w.n("Mul", mean, w(n / (n - less)))


def softmax(op: str) -> Row:
    """Along one dimension."""
    def row(w: Writer, a: SimpleNamespace) -> str:
        if len(sizes(a.self)) == 0:
            raise Refused("no dimensions")
        return w.n(op, w(a.self, w.out.dtype), axis=a.dim)
    return row
