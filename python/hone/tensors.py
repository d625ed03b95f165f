"""Arrays of others as struct hone_tensor, without copies: by DLPack, or by the buffer protocol."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_ssize_t, c_void_p, py_object
from typing import Any, Sequence

from . import _lib
from ._lib import TensorStruct

_api = ctypes.pythonapi
_capsule_name = ctypes.PYFUNCTYPE(c_char_p, py_object)(("PyCapsule_GetName", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(
    ("PyCapsule_GetPointer", _api))

# letters of the buffer protocol: code and bits
_FORMATS = {"f": (2, 32), "d": (2, 64), "e": (2, 16), "?": (6, 8),
            "b": (0, 8), "h": (0, 16), "i": (0, 32), "l": (0, 64), "q": (0, 64),
            "B": (1, 8), "H": (1, 16), "I": (1, 32), "L": (1, 64), "Q": (1, 64)}
LETTERS = {"float32": "f", "float64": "d", "bool": "?", "int8": "b", "int16": "h", "int32": "i",
           "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q",
           "float16": "H", "bfloat16": "H"}


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned, as far as it is read."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("ctx", c_void_p),
                ("deleter", c_void_p), ("flags", ctypes.c_uint64), ("tensor", TensorStruct)]


class _Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("buf", c_void_p), ("obj", py_object), ("len", c_ssize_t),
                ("itemsize", c_ssize_t), ("readonly", c_int), ("ndim", c_int),
                ("format", c_char_p), ("shape", POINTER(c_ssize_t)),
                ("strides", POINTER(c_ssize_t)), ("suboffsets", POINTER(c_ssize_t)),
                ("internal", c_void_p)]


_get_buffer = ctypes.PYFUNCTYPE(c_int, py_object, POINTER(_Buffer), c_int)(
    ("PyObject_GetBuffer", _api))
_release_buffer = ctypes.PYFUNCTYPE(None, POINTER(_Buffer))(("PyBuffer_Release", _api))
_STRIDED, _FORMAT = 0x0018, 0x0004  # PyBUF_STRIDES, PyBUF_FORMAT


class View:
    """One array, as long as it is held: .tensor, and .readonly."""

    def __init__(self, array: Any) -> None:
        self._buffer = None
        if hasattr(array, "__dlpack__"):
            self._by_dlpack(array)
        else:
            self._by_buffer(array)

    def _by_dlpack(self, array: Any) -> None:
        try:
            try:
                self._capsule = array.__dlpack__(max_version=(1, 0))
            except TypeError:  # of before DLPack 1.0
                self._capsule = array.__dlpack__()
        except (BufferError, RuntimeError, ValueError) as e:  # gradients, sparse, no memory, ...
            raise _lib.Invalid(f"{type(array).__name__} gives no memory: "
                               f"{str(e).splitlines()[0]}") from None
        name = _capsule_name(self._capsule)
        at = _capsule_pointer(self._capsule, name)
        if name == b"dltensor_versioned":
            managed = _Versioned.from_address(at)
            if managed.major != 1:
                raise _lib.VersionMismatch(f"DLPack {managed.major}: this hone reads version 1")
            self.tensor, self.readonly = managed.tensor, bool(managed.flags & 1)
        else:
            self.tensor, self.readonly = TensorStruct.from_address(at), False

    def _by_buffer(self, array: Any) -> None:
        b = _Buffer()
        try:
            _get_buffer(array, ctypes.byref(b), _STRIDED | _FORMAT)
        except (TypeError, BufferError) as e:
            raise _lib.Invalid(f"{type(array).__name__} is no array: {e}") from None
        self._buffer = b
        letter = (b.format or b"B").decode().lstrip("@=<")
        if letter not in _FORMATS:
            raise _lib.Invalid(f"elements of format {letter!r}, which no kernel takes")
        code, bits = _FORMATS[letter]
        self._shape = (c_int64 * b.ndim)(*b.shape[:b.ndim])
        self._strides = (c_int64 * b.ndim)(*(b.strides[d] // b.itemsize for d in range(b.ndim)))
        self.readonly = bool(b.readonly)
        self.tensor = TensorStruct(b.buf, 1, 0, b.ndim, code, bits, 1, self._shape, self._strides,
                                   0)

    def __del__(self) -> None:
        if getattr(self, "_buffer", None) is not None:
            _release_buffer(ctypes.byref(self._buffer))


def _aligned(n_bytes: int) -> memoryview:
    whole = bytearray(n_bytes + 63)
    begin = -ctypes.addressof(ctypes.c_char.from_buffer(whole)) % 64
    return memoryview(whole)[begin:begin + n_bytes]


def empty(shape: Sequence[int], dtype: str = "float32", like: Any = None) -> Any:
    """A new array: torch's where `like` is torch's, numpy's where that is installed, else a
    memoryview, which has .tolist().

    >>> import hone
    >>> list(hone.empty((2, 3)).shape)
    [2, 3]
    """
    kind = type(like).__module__.split(".")[0]
    if kind == "torch":
        import torch
        return torch.empty(tuple(shape), dtype=getattr(torch, dtype))
    try:
        import numpy
    except ImportError:
        letter, n = LETTERS[dtype], 1
        for extent in shape:
            n *= extent
        flat = _aligned(n * ctypes.sizeof(TYPES[letter])).cast("B").cast(letter)
        return flat.cast("B").cast(letter, tuple(shape)) if len(shape) > 1 else flat
    if dtype == "bfloat16":
        raise _lib.Unsupported("numpy has no bfloat16: give the output as an array of torch's")
    return numpy.empty(tuple(shape), dtype=dtype)


TYPES = {"f": ctypes.c_float, "d": ctypes.c_double, "?": ctypes.c_bool, "b": ctypes.c_int8,
         "h": ctypes.c_int16, "i": ctypes.c_int32, "q": ctypes.c_int64, "B": ctypes.c_uint8,
         "H": ctypes.c_uint16, "I": ctypes.c_uint32, "Q": ctypes.c_uint64}
