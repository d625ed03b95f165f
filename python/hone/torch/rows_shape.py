"""Rows of operators that only say where elements lie, or pick some."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Optional

import torch

from .writer import Refused, Writer, dims_of, sizes


def reshape(w: Writer, a: SimpleNamespace) -> str:
    return w.shape(w(a.self), list(w.out.shape))


def permute(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Transpose", w(a.self), perm=dims_of(a.self, list(a.dims)))


def transpose(w: Writer, a: SimpleNamespace) -> str:
    perm = list(range(len(sizes(a.self))))
    x, y = dims_of(a.self, [a.dim0, a.dim1])
    perm[x], perm[y] = perm[y], perm[x]
    return w.n("Transpose", w(a.self), perm=perm)


def t(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Transpose", w(a.self), perm=list(reversed(range(len(sizes(a.self))))))


def expand(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Expand", w(a.self), w.ints(*w.out.shape))


def cat(w: Writer, a: SimpleNamespace) -> str:
    parts = [w(x, w.out.dtype) for x in a.tensors if sizes(x) != [0]]
    return w.n("Concat", *parts, axis=a.dim)


def slice(w: Writer, a: SimpleNamespace) -> str:
    n = sizes(a.self)[a.dim]
    begin, end = a.start or 0, n if a.end is None else min(a.end, n)
    return w.n("Slice", w(a.self), w.ints(begin), w.ints(end), w.ints(a.dim), w.ints(a.step))


def select(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Gather", w(a.self), w.scalar(a.index, torch.int64), axis=a.dim)


def split(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    parts = [t.shape[a.dim] for t in w.out]
    return list(w.file.nodes("Split", len(parts), w(a.self), w.ints(*parts), axis=a.dim))


def unbind(w: Writer, a: SimpleNamespace) -> list[Optional[str]]:
    parts = w.file.nodes("Split", len(w.out), w(a.self), w.ints(*[1] * len(w.out)), axis=a.dim)
    return [w.shape(p, t.shape) for p, t in zip(parts, w.out)]


def index(w: Writer, a: SimpleNamespace) -> str:
    """Where each dimension has indices of its own, as a picture's rows and columns."""
    given = [(d, x) for d, x in enumerate(a.indices) if x is not None]
    rank = max(len(sizes(x)) for _, x in given)
    dims = [d for d, _ in given]
    if dims != list(range(dims[0], dims[0] + len(given))) or (rank != len(given)):
        raise Refused("indices of this shape")
    name = w(a.self)
    for at, (d, x) in enumerate(given):
        shape = [1] * (rank - len(sizes(x))) + sizes(x)
        if x.meta["val"].dtype not in (torch.int64, torch.int32) or any(
                n != 1 for i, n in enumerate(shape) if i != at):
            raise Refused("indices of this shape")
        name = w.n("Gather", name, w.shape(w(x), [shape[at]]), axis=d)
    return name


def as_strided(w: Writer, a: SimpleNamespace) -> str:
    """Where it only says how to step along dimensions of one element."""
    x = a.self.meta["val"]
    there = [(n, s) for n, s in zip(x.shape, x.stride()) if n != 1]
    if a.storage_offset or there != [(n, s) for n, s in zip(a.size, a.stride) if n != 1]:
        raise Refused("other strides")
    return w.shape(w(a.self), a.size)


def embedding(w: Writer, a: SimpleNamespace) -> str:
    return w.n("Gather", w(a.weight), w(a.indices), axis=0)


def pad(w: Writer, a: SimpleNamespace) -> str:
    rank, pairs = len(sizes(a.self)), len(a.pad) // 2
    if any(n < 0 for n in a.pad):
        raise Refused("a border below 0")
    begin, end = [0] * rank, [0] * rank
    for at in range(pairs):
        begin[rank - 1 - at], end[rank - 1 - at] = a.pad[2 * at], a.pad[2 * at + 1]
    return w.n("Pad", w(a.self), w.ints(*begin, *end), w(a.value))
