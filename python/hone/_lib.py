"""libhone by ctypes: where it is, what its functions take, and its errors as exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_double, c_int, c_int32, c_int64
from ctypes import c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_ulong, c_void_p

HERE = pathlib.Path(__file__).resolve().parent


class HoneError(Exception):
    """What libhone or a program of hone's refused, in one line."""

    __module__ = "hone"
    code = 0


class NotFound(HoneError):
    """There is none, and the line says what there is instead."""

    __module__ = "hone"
    code = 1


class Invalid(HoneError):
    """What was given is wrong."""

    __module__ = "hone"
    code = 7


class Unsupported(HoneError):
    """This machine, or this version, cannot."""

    __module__ = "hone"
    code = 8


class VersionMismatch(HoneError):
    """A file of another version of hone."""

    __module__ = "hone"
    code = 9


class Corrupt(HoneError):
    """A file that was cut short or changed."""

    __module__ = "hone"
    code = 13


_BY_CODE = {c.code: c for c in (NotFound, Invalid, Unsupported, VersionMismatch, Corrupt)}


def error_of(code: int, text: str) -> HoneError:
    """The exception of an error class (its number, or below zero)."""
    error = _BY_CODE.get(abs(code), HoneError)(text)
    error.code = abs(code)
    return error


class Error(Structure):
    _fields_ = [("code", c_int), ("text", c_char * 1000)]


class AnswerStruct(Structure):
    _fields_ = [
        ("workload", c_char_p),
        ("name", c_char_p),
        ("target", c_char_p),
        ("cache", c_char_p),
        ("steps", c_char_p),
        ("median_ns", c_double),
        ("naive_ns", c_double),
        ("flops", c_double),
        ("n_trial", c_ulong),
        ("n_failed", c_ulong),
        ("near", c_char * 1024),
        ("match", c_int),
    ]


class TensorStruct(Structure):
    """struct hone_tensor, which is DLPack's DLTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class EnvStruct(Structure):
    """struct hone_env of hone/kernel.h."""

    _fields_ = [
        ("abi", c_uint32),
        ("n_workers", c_int32),
        ("parallel_for", c_void_p),
        ("ctx", c_void_p),
        ("workspace", c_void_p),
        ("workspace_bytes", c_uint64),
        ("prepared", c_void_p),
        ("prepared_bytes", c_uint64),
    ]


_FUNCTIONS = {
    "hone_store_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(Error)]),
    "hone_store_close": (None, [c_void_p]),
    "hone_store_count": (c_ulong, [c_void_p]),
    "hone_query_key": (
        c_int,
        [c_void_p, c_char_p, c_char_p, POINTER(AnswerStruct), POINTER(Error)],
    ),
    "hone_expect": (
        c_int,
        [c_void_p, POINTER(AnswerStruct), c_char_p, POINTER(c_double), POINTER(Error)],
    ),
    "hone_task_key": (c_int, [c_char_p, c_size_t, ctypes.c_uint, c_char_p, POINTER(Error)]),
    "hone_kernel_open": (c_int, [c_char_p, c_char_p, POINTER(c_void_p), POINTER(Error)]),
    "hone_kernel_close": (None, [c_void_p]),
    "hone_kernel_info": (c_char_p, [c_void_p]),
    "hone_kernel_call_dlpack": (
        c_int,
        [c_void_p, POINTER(POINTER(TensorStruct)), c_int32, c_void_p, POINTER(Error)],
    ),
    "hone_kernel_check_dlpack": (
        c_int,
        [c_void_p, POINTER(POINTER(TensorStruct)), c_int32, POINTER(Error)],
    ),
    "hone_kernel_workspace_bytes": (c_uint64, [c_void_p, c_int32]),
    "hone_kernel_prepared_bytes": (c_uint64, [c_void_p]),
    "hone_kernel_prepare": (c_int32, [c_void_p, POINTER(c_void_p), c_void_p, c_void_p]),
    "hone_file_check": (c_int, [c_char_p, POINTER(Error)]),
    "hone_target_check": (c_int, [c_char_p, POINTER(Error)]),
    "hone_pool_create": (c_void_p, [c_int32]),
    "hone_pool_destroy": (None, [c_void_p]),
    "hone_pool_threads": (c_int32, [c_void_p]),
    "hone_pool_env": (c_void_p, [c_void_p, c_uint64]),
}


def _candidates() -> list[str]:
    given = os.environ.get("HONE_LIB")
    return [given] if given else [str(HERE / "lib" / "libhone.so.0"), "libhone.so.0"]


def _load() -> ctypes.CDLL:
    reasons = []
    for path in _candidates():
        try:
            lib = ctypes.CDLL(path)
        except OSError as e:
            reasons.append(str(e))
            continue
        for name, (result, takes) in _FUNCTIONS.items():
            function = getattr(lib, name)
            function.restype, function.argtypes = result, takes
        return lib
    raise ImportError("libhone: " + "; ".join(reasons) + " (HONE_LIB names another file)")


lib = _load()


def call(name: str, *arguments: object) -> None:
    """Call a function whose last argument is the error, and raise what it says."""
    error = Error()
    code = getattr(lib, name)(*arguments, byref(error))
    if code != 0:
        raise error_of(code, error.text.decode(errors="replace"))


def program(name: str) -> str:
    """The path of one of hone's programs: beside this package, below $HONE_BIN, or on PATH."""
    for folder in (os.environ.get("HONE_BIN"), str(HERE / "bin")):
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    found = shutil.which(name)
    if found is None:
        raise NotFound(f"{name}: not beside this package and not on PATH; HONE_BIN names its folder")
    return found
