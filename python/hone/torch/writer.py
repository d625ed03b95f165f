"""The file that a region becomes, and where each value of torch's graph is in it."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Callable, Optional, Sequence, Union

import torch

from .onnx_file import TYPES, File

Result = Union[str, list[Optional[str]]]
Row = Callable[["Writer", SimpleNamespace], Result]


class Refused(Exception):
    """The reason, in a few words."""


def type_name(dtype: torch.dtype) -> str:
    """As numpy and hone call it; Refused where hone has no such type."""
    name = str(dtype).removeprefix("torch.")
    if name not in TYPES:
        raise Refused(f"type {name}")
    return name


class Writer:
    """The file, and where each value of torch's graph is in it."""

    def __init__(self, file: File) -> None:
        self.file, self.names = file, {}
        self.n: Callable[..., str] = file.node
        self.out: Any = None  # torch's fake result of the operator that is being written

    def __call__(self, x: Any, dtype: Optional[torch.dtype] = None) -> str:
        """The name of a node's value, or of a number as a constant; as `dtype`, if given."""
        if not isinstance(x, torch.fx.Node):
            return self.scalar(x, dtype or self.out.dtype)
        name = self.names[x]
        if not isinstance(name, str):
            raise Refused("a result that hone does not compute")
        have = x.meta["val"].dtype
        return name if dtype is None or have == dtype else self.cast(name, dtype)

    def cast(self, name: str, dtype: torch.dtype) -> str:
        """The same in another type."""
        return self.n("Cast", name, to=TYPES[type_name(dtype)])

    def scalar(self, x: Union[int, float, bool], dtype: torch.dtype) -> str:
        """A constant."""
        t = torch.tensor(x, dtype=dtype)
        return self.file.weight(type_name(dtype), [], tensor_bytes(t))

    def ints(self, *numbers: int) -> str:
        """A vector of int64."""
        return self.file.ints(numbers)

    def shape(self, name: str, shape: Sequence[int]) -> str:
        """The same elements in another shape."""
        return self.n("Reshape", name, self.ints(*shape))


def tensor_bytes(t: torch.Tensor) -> bytes:
    """Row by row."""
    t = t.detach().contiguous()
    if t.numel() == 0:
        return b""
    if t.dim() == 0:
        t = t.reshape(1)
    return ctypes.string_at(t.data_ptr(), t.numel() * t.element_size())


def sizes(x: torch.fx.Node) -> list[int]:
    """The shape of a node's value."""
    return list(x.meta["val"].shape)


def dims_of(x: torch.fx.Node, dims: Any) -> list[int]:
    rank = len(sizes(x))
    if dims is None or dims == []:
        return list(range(rank))
    return [d % max(rank, 1) for d in ([dims] if isinstance(dims, int) else dims)]


def pair(x: Sequence[int], n: int = 2) -> list[int]:
    return list(x) * n if len(x) == 1 else list(x)
