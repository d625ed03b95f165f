"""Writes an ONNX file, which is what `hone compile` reads.

The format is protobuf's: numbers of seven bits a byte, and fields of number and kind.  So little of
it is needed that no package is: nodes, attributes, weights, inputs and outputs.
"""

from __future__ import annotations

import struct
from typing import Any, Iterable, Sequence

OPSET = 20
IR_VERSION = 9
MOST_BYTES = 1 << 31  # of a protobuf message

# torch's name of a type to TensorProto.DataType
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
         "float16": 10, "float64": 11, "bfloat16": 16}

_FLOAT, _INT, _STRING, _FLOATS, _INTS = 1, 2, 3, 6, 7  # AttributeProto.AttributeType


def _varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def _number(field: int, n: int) -> bytes:
    return _varint(field << 3) + _varint(n)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _float(field: int, x: float) -> bytes:
    return _varint(field << 3 | 5) + struct.pack("<f", x)


def _attribute(name: str, value: Any) -> bytes:
    head = _text(1, name)
    if isinstance(value, float):
        return head + _float(2, value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, _INT)
    if isinstance(value, str):
        return head + _text(4, value) + _number(20, _STRING)
    if value and isinstance(value[0], float):
        return head + b"".join(_float(7, x) for x in value) + _number(20, _FLOATS)
    return head + b"".join(_number(8, n) for n in value) + _number(20, _INTS)


def _value(name: str, dtype: str, shape: Sequence[int]) -> bytes:
    dims = b"".join(_bytes(1, _number(1, n)) for n in shape)
    tensor = _number(1, TYPES[dtype]) + _bytes(2, dims)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


class File:
    """A graph that grows: every method gives the names of what it adds."""

    def __init__(self, name: str = "region") -> None:
        self._name, self._count = name, 0
        self._nodes: list[bytes] = []
        self._weights: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def _fresh(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def input(self, dtype: str, shape: Sequence[int]) -> str:
        """One more input."""
        name = f"x{len(self._inputs)}"
        self._inputs.append(_value(name, dtype, shape))
        return name

    def output(self, of: str, dtype: str, shape: Sequence[int]) -> str:
        """One more output, a value of its own even where `of` is an input or a weight."""
        name = f"y{len(self._outputs)}"
        self._nodes.append(_text(1, of) + _text(2, name) + _text(4, "Identity"))
        self._outputs.append(_value(name, dtype, shape))
        return name

    def weight(self, dtype: str, shape: Sequence[int], data: bytes) -> str:
        """A constant, row by row."""
        name = self._fresh()
        self._weights.append(b"".join(_number(1, n) for n in shape) + _number(2, TYPES[dtype]) +
                             _text(8, name) + _bytes(9, data))
        return name

    def ints(self, numbers: Iterable[int]) -> str:
        """A vector of int64."""
        numbers = list(numbers)
        return self.weight("int64", [len(numbers)], struct.pack(f"<{len(numbers)}q", *numbers))

    def nodes(self, op: str, n_outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node with so many results; "" is an input that is left out."""
        names = [self._fresh() for _ in range(n_outputs)]
        self._nodes.append(b"".join(_text(1, i) for i in inputs) +
                           b"".join(_text(2, o) for o in names) + _text(4, op) +
                           b"".join(_bytes(5, _attribute(k, v)) for k, v in attributes.items()))
        return names

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        return self.nodes(op, 1, *inputs, **attributes)[0]

    def bytes(self) -> bytes:
        """The file."""
        graph = b"".join([*(_bytes(1, n) for n in self._nodes), _text(2, self._name),
                          *(_bytes(5, w) for w in self._weights),
                          *(_bytes(11, i) for i in self._inputs),
                          *(_bytes(12, o) for o in self._outputs)])
        opset = _text(1, "") + _number(2, OPSET)
        return _number(1, IR_VERSION) + _bytes(7, graph) + _bytes(8, opset)
