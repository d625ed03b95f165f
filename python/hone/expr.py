"""Computations as expressions.

>>> import hone
>>> A, B = hone.tensor("A", (64, 48)), hone.tensor("B", (48, 80))
>>> i, j, k = hone.indices("i j k")
>>> C = hone.sum("C", (i, j), A[i, k] * B[k, j])
>>> D = hone.define("D", (i, j), hone.maximum(C[i, j], 0))
>>> print(hone.program("dense", [A, B], D).text)
dense(float32 A[64,48], float32 B[48,80]) -> D {
    C(i,j) +=! (A(i,k) * B(k,j))
    D(i,j) = max(C(i,j), 0)
}

An index on the right alone is reduced, and ranges are inferred, as in the text notation.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import Iterable, Mapping, Sequence, Union

from . import _lib

Number = Union[int, float]
ExprLike = Union["Expr", Number]

_count = itertools.count()


def _text(x: ExprLike) -> str:
    if isinstance(x, Expr):
        return x.text
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, (int, float)):
        return repr(x) if x >= 0 else f"({x!r})"
    raise _lib.Invalid(f"{x!r} is no expression and no number")


def _tensors(*xs: ExprLike) -> frozenset["Tensor"]:
    return frozenset().union(*(x.tensors for x in xs if isinstance(x, Expr)))


class Expr:
    """A value at one point.  `==` compares objects; x.eq(y) is the expression."""

    def __init__(self, text: str, tensors: frozenset["Tensor"] = frozenset()) -> None:
        self.text, self.tensors = text, tensors

    def __repr__(self) -> str:
        return self.text

    def _binary(self, sign: str, other: ExprLike, swapped: bool = False) -> "Expr":
        x, y = (other, self) if swapped else (self, other)
        return Expr(f"({_text(x)} {sign} {_text(y)})", _tensors(x, y))

    def __add__(self, y: ExprLike) -> "Expr":
        return self._binary("+", y)

    def __radd__(self, y: ExprLike) -> "Expr":
        return self._binary("+", y, True)

    def __sub__(self, y: ExprLike) -> "Expr":
        return self._binary("-", y)

    def __rsub__(self, y: ExprLike) -> "Expr":
        return self._binary("-", y, True)

    def __mul__(self, y: ExprLike) -> "Expr":
        return self._binary("*", y)

    def __rmul__(self, y: ExprLike) -> "Expr":
        return self._binary("*", y, True)

    def __truediv__(self, y: ExprLike) -> "Expr":
        return self._binary("/", y)

    def __rtruediv__(self, y: ExprLike) -> "Expr":
        return self._binary("/", y, True)

    def __floordiv__(self, y: ExprLike) -> "Expr":
        return Expr(f"floordiv({self.text}, {_text(y)})", _tensors(self, y))

    def __mod__(self, y: ExprLike) -> "Expr":
        return self._binary("%", y)

    def __neg__(self) -> "Expr":
        return Expr(f"(-{self.text})", self.tensors)

    def __lt__(self, y: ExprLike) -> "Expr":
        return self._binary("<", y)

    def __le__(self, y: ExprLike) -> "Expr":
        return self._binary("<=", y)

    def __gt__(self, y: ExprLike) -> "Expr":
        return self._binary(">", y)

    def __ge__(self, y: ExprLike) -> "Expr":
        return self._binary(">=", y)

    def eq(self, y: ExprLike) -> "Expr":
        return self._binary("==", y)

    def __and__(self, y: ExprLike) -> "Expr":
        return self._binary("&&", y)

    def __or__(self, y: ExprLike) -> "Expr":
        return self._binary("||", y)

    def __invert__(self) -> "Expr":
        return Expr(f"(!{self.text})", self.tensors)


class Tensor:
    """An input, or what a statement defines; T[i, j] is its element."""

    def __init__(self, name: str, declared: str = "", statement: str = "",
                 reads: frozenset["Tensor"] = frozenset()) -> None:
        self.name, self.declared, self.statement, self.reads = name, declared, statement, reads
        self.number = next(_count)

    def __getitem__(self, at: Union[ExprLike, tuple[ExprLike, ...]]) -> Expr:
        at = at if isinstance(at, tuple) else (at,)
        inside = f"({','.join(map(_text, at))})" if at else ""
        return Expr(self.name + inside, _tensors(*at) | {self})

    def __repr__(self) -> str:
        return self.statement or self.declared


def tensor(name: str, shape: Sequence[int], dtype: str = "float32", *,
           constant: bool = False) -> Tensor:
    """An input.  constant: weights, the same in every call."""
    extents = f"[{','.join(str(int(n)) for n in shape)}]" if shape else ""
    return Tensor(name, f"{'const ' if constant else ''}{dtype} {name}{extents}")


def indices(names: str) -> tuple[Expr, ...]:
    """Indices of these names, which blanks part."""
    return tuple(Expr(name) for name in names.split())


def _statement(name: str, at: Iterable[Expr], sign: str, value: ExprLike,
               where: Mapping[Expr, tuple[int, int]] | None) -> Tensor:
    left = ",".join(map(_text, at))
    ranges = ", ".join(f"{_text(i)} in {lo}:{hi}" for i, (lo, hi) in (where or {}).items())
    text = f"{name}({left})" if left else name
    return Tensor(name, statement=f"{text} {sign} {_text(value)}"
                  + (f"  where {ranges}" if ranges else ""), reads=_tensors(value))


Where = Union[Mapping[Expr, "tuple[int, int]"], None]


def define(name: str, at: Iterable[Expr], value: ExprLike, where: Where = None) -> Tensor:
    """name(at) = value.  where: {index: (0, extent)}, where a range cannot be inferred."""
    return _statement(name, at, "=", value, where)


def sum(name: str, at: Iterable[Expr], value: ExprLike, where: Where = None) -> Tensor:
    """The sum over the indices that are in `value` alone."""
    return _statement(name, at, "+=!", value, where)


def product(name: str, at: Iterable[Expr], value: ExprLike, where: Where = None) -> Tensor:
    """The product over the indices that are in `value` alone."""
    return _statement(name, at, "*=!", value, where)


def max(name: str, at: Iterable[Expr], value: ExprLike, where: Where = None) -> Tensor:
    """The maximum over the indices that are in `value` alone."""
    return _statement(name, at, "max=!", value, where)


def min(name: str, at: Iterable[Expr], value: ExprLike, where: Where = None) -> Tensor:
    """The minimum over the indices that are in `value` alone."""
    return _statement(name, at, "min=!", value, where)


def call(function: str, *xs: ExprLike) -> Expr:
    """A function of the text notation, or a conversion.

    >>> import hone
    >>> i, = hone.indices("i")
    >>> hone.call("exp", hone.call("float32", i))
    exp(float32(i))
    """
    return Expr(f"{function}({', '.join(map(_text, xs))})", _tensors(*xs))


def maximum(x: ExprLike, y: ExprLike) -> Expr:
    """The greater of two values."""
    return call("max", x, y)


def minimum(x: ExprLike, y: ExprLike) -> Expr:
    """The lesser of two values."""
    return call("min", x, y)


def exp(x: ExprLike) -> Expr:
    """e to the power of x."""
    return call("exp", x)


def where(condition: Expr, x: ExprLike, y: ExprLike) -> Expr:
    """x where the condition holds, else y; the other one is not evaluated."""
    return Expr(f"({condition.text} ? {_text(x)} : {_text(y)})", _tensors(condition, x, y))


class Program:
    """A computation in the text notation, or as compute-dag/1.

    >>> import hone
    >>> p = hone.Program("f(float32 A[8]) -> B { B(i) = A(i) + 1 }")
    >>> p.key[:16]
    '6f01cc854d774ff4'
    >>> hone.Program("f(float32 A[8]) -> B { B(i) = A(j) }").key
    Traceback (most recent call last):
    ...
    hone.Invalid: dag:1:33: index 'j' is bound by nothing: it is not on the left, and '=' does not reduce (+=! does)
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def key(self) -> str:
        """The workload key: 64 hex digits."""
        return task_key(self)

    @property
    def name(self) -> str:
        """The word before the first bracket."""
        return self.text.split("(", 1)[0].strip() if self.text.lstrip()[:1] != "{" else ""

    def __repr__(self) -> str:
        return self.text


def task_key(program: Program, marks: int = 0) -> str:
    """The key of the task with these marks (HONE_BITWISE, HONE_COLD, ... of hone.h)."""
    text, key = program.text.encode(), ctypes.create_string_buffer(65)
    _lib.call("hone_task_key", text, len(text), marks, key)
    return key.value.decode()


def program(name: str, inputs: Sequence[Tensor],
            outputs: Union[Tensor, Sequence[Tensor]]) -> Program:
    """The program that makes the outputs of the inputs, which are its arguments in this order."""
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    found: set[Tensor] = set()
    waiting = list(outputs)
    while waiting:
        t = waiting.pop()
        if t not in found:
            found.add(t)
            waiting.extend(t.reads)
    missing = [t.name for t in found if t.declared and t not in inputs]
    if missing:
        raise _lib.Invalid(f"{name}: {', '.join(sorted(missing))} is read, and no input")
    statements = "\n".join(f"    {t.statement}" for t in sorted(found, key=lambda t: t.number)
                           if t.statement)
    ends = ", ".join(t.name for t in outputs)
    return Program(f"{name}({', '.join(t.declared for t in inputs)}) -> "
                   f"{ends if len(outputs) == 1 else f'({ends})'} {{\n{statements}\n}}")
