"""Networks: an ONNX file compiled by `hone compile`, and run."""

from __future__ import annotations

import ctypes
import hashlib
import json
import mmap
import os
import pathlib
import re
import tempfile
import threading
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from typing import Any, Mapping, Optional, Union

from . import _lib
from .kernel import run
from .tensors import View, _aligned, empty

Path = Union[str, "os.PathLike[str]"]

ABI = 4  # HONE_MODEL_ABI
FORMAT = "hone-network/1"
_BITS = {"bool": 8}


class _Tensor(Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("dims", POINTER(c_int64)),
                ("bytes", c_uint64), ("rank", c_uint32)]


class _Model(Structure):
    """struct hone_model of hone/model.h."""

    _fields_ = [("abi", c_uint32), ("n_inputs", c_uint32), ("n_outputs", c_uint32),
                ("n_kernels", c_uint32), ("n_steps", c_uint32), ("n_args", c_uint32),
                ("name", c_char_p), ("inputs", POINTER(_Tensor)), ("outputs", POINTER(_Tensor)),
                ("kernels", c_void_p), ("steps", c_void_p), ("args", c_void_p),
                ("weights_bytes", c_uint64), ("prepared_bytes", c_uint64),
                ("arena_bytes", c_uint64), ("stamp", c_uint64), ("n_sizes", c_uint32),
                ("n_ranges", c_uint32), ("sizes", c_void_p), ("ranges", c_void_p)]


def _told(table: Any, n: int) -> list[dict[str, Any]]:
    return [{"name": table[i].name.decode(errors="replace"), "dtype": table[i].dtype.decode(),
             "shape": [table[i].dims[d] for d in range(table[i].rank)],
             "bytes": int(table[i].bytes)} for i in range(n)]


_opened: dict[str, list[tuple[int, int]]] = {}


def _open(path: pathlib.Path) -> ctypes.CDLL:
    """The loader knows files by their path, and would give what an older file of this path had:
    each further file of one path is opened by another spelling of it."""
    s, where = path.stat(), path.resolve()
    files = _opened.setdefault(str(where), [])
    if (s.st_dev, s.st_ino) not in files:
        files.append((s.st_dev, s.st_ino))
    spelling = "./" * files.index((s.st_dev, s.st_ino))
    return ctypes.CDLL(f"{where.parent}/{spelling}{where.name}")


class Model:
    """A network in a folder that `hone compile` wrote.  Calls by several threads take turns."""

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self._pool, self._release, self._lock = None, None, threading.Lock()
        self.folder = pathlib.Path(folder)
        path = self.folder / "libmodel.so"
        if not path.exists():
            raise _lib.NotFound(f"{path}: not there; `hone compile` makes it where it finds a "
                                "linker (ld, ld.lld, cc or gcc)")
        _lib.call("hone_file_check", os.fsencode(path))
        self._check_manifest(path)
        header = (self.folder / "model.h").read_text(encoding="utf-8")
        found = re.search(r"struct hone_model (\w+)_model;", header)
        if not found:
            raise _lib.Corrupt(f"{self.folder / 'model.h'}: it declares no struct hone_model")
        library, name = _open(path), found.group(1)
        self._table = _Model.in_dll(library, f"{name}_model")
        if self._table.abi != ABI:
            raise _lib.VersionMismatch(f"{path}: ABI {self._table.abi}; this hone reads {ABI}")
        if self._table.n_ranges > 0:
            raise _lib.Unsupported(f"{path}: made for ranges of sizes, which Python does not call "
                                   "yet; compile it for one size (--dim NAME=N)")
        self.name = name
        self.inputs = _told(self._table.inputs, self._table.n_inputs)
        self.outputs = _told(self._table.outputs, self._table.n_outputs)
        self._run, prepare = getattr(library, f"{name}_run"), getattr(library, f"{name}_prepare")
        arena_bytes = getattr(library, f"{name}_arena_bytes")
        arena_bytes.restype, arena_bytes.argtypes = c_uint64, [c_int32]
        prepare.argtypes, self._run.argtypes = [c_void_p] * 4, [c_void_p] * 6
        self._error = getattr(library, f"{name}_error", None)  # of a network for a GPU alone
        self._pool = _lib.lib.hone_pool_create(threads)
        self._arena = _aligned(arena_bytes(_lib.lib.hone_pool_threads(self._pool)) + 64)
        self._prepared = _aligned(self._table.prepared_bytes + 64)
        self._weights = self._map()
        status = prepare(self._weights_at, self._at(self._prepared), self._at(self._arena),
                         _lib.lib.hone_pool_env(self._pool, 0))
        if status != 0:
            raise self._failed(status, _lib.Corrupt(
                f"{self.folder}: its weights are not this network's ({status})"))
        self._release = getattr(library, f"{name}_release", None)

    def _check_manifest(self, library: pathlib.Path) -> None:
        """The library is the one that the manifest was written with, and for this machine."""
        path = self.folder / "model.json"
        if path.exists() and not path.is_file():
            raise _lib.Invalid(f"{path}: not a file")
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
            form, target, want = said["format"], said["target"], said["library"]
        except FileNotFoundError:
            raise _lib.NotFound(f"{path}: not there; `hone compile` makes it") from None
        except (ValueError, KeyError, TypeError, RecursionError) as e:
            raise _lib.Invalid(f"{path}: no manifest of a network: {e}") from None
        if form != FORMAT:
            raise _lib.VersionMismatch(f"{path}: {form!r}; this hone reads {FORMAT}")
        if hashlib.sha256(library.read_bytes()).hexdigest() != want:
            raise _lib.Corrupt(f"{library}: not the file that was made with model.json")
        if not isinstance(target, str):
            raise _lib.Invalid(f"{path}: no target")
        if target.split()[:1] not in (["cuda"], ["opencl"]):  # a device is its driver's business
            _lib.call("hone_target_check", target.encode())

    def _failed(self, status: int, other: _lib.HoneError) -> _lib.HoneError:
        """What the network itself says of its last call, where it says anything."""
        if not self._error:
            return other
        self._error.restype = c_char_p
        told = self._error().decode(errors="replace")
        return _lib.HoneError(f"{self.folder}: {told} ({status})")

    @staticmethod
    def _at(block: memoryview) -> int:
        return ctypes.addressof(ctypes.c_char.from_buffer(block))

    def _map(self) -> Any:
        n, path = self._table.weights_bytes, self.folder / "model.weights"
        self._weights_at = None
        if n == 0:
            return None
        if not path.exists():
            raise _lib.NotFound(f"{path}: not there, and the network needs it")
        if not path.is_file():
            raise _lib.Invalid(f"{path}: not a file")
        if path.stat().st_size != n:
            raise _lib.Corrupt(f"{path}: {path.stat().st_size} bytes; the network's table says {n}")
        with open(path, "rb") as f:
            mapped = mmap.mmap(f.fileno(), n, access=mmap.ACCESS_COPY)
        self._weights_at = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        return mapped

    def __repr__(self) -> str:
        def told(rows: list[dict[str, Any]]) -> str:
            return ", ".join(f"{r['dtype']} {r['name']}{r['shape']}" for r in rows)
        return f"<hone.Model {self.name}({told(self.inputs)}) -> ({told(self.outputs)})>"

    def _check(self, what: str, row: dict[str, Any], array: Any) -> View:
        """The array, where it lies as the network reads it."""
        try:
            view, want = View(array), row["shape"]
        except _lib.Invalid as e:
            raise _lib.Invalid(f"{what} {row['name']}: {e}") from None
        t = view.tensor
        have = [t.shape[d] for d in range(t.ndim)]
        code = {"f": 2, "b": 6 if row["dtype"] == "bool" else 4, "i": 0, "u": 1}[row["dtype"][0]]
        bits = _BITS.get(row["dtype"]) or int(re.sub(r"\D", "", row["dtype"]))
        if t.device_type != 1:
            raise _lib.Invalid(f"{what} {row['name']}: it is not in this machine's memory")
        if (t.code, t.bits, t.lanes) != (code, bits, 1):
            raise _lib.Invalid(f"{what} {row['name']}: its elements are not {row['dtype']}")
        if have != want:
            raise _lib.Invalid(f"{what} {row['name']}: its shape is {have}, not {want}")
        stride = 1
        for d in reversed(range(t.ndim)):
            if t.strides and have[d] != 1 and t.strides[d] != stride:
                raise _lib.Invalid(f"{what} {row['name']}: it is not in rows without gaps; copy it")
            stride *= have[d]
        if (t.data or 0) + t.byte_offset == 0 or ((t.data or 0) + t.byte_offset) % (bits // 8):
            raise _lib.Invalid(f"{what} {row['name']}: no data, or it is not aligned")
        return view

    def __call__(self, *arrays: Any, **named: Any) -> list[Any]:
        """The outputs, in their order; inputs are in theirs, or by name."""
        if named:
            if arrays or set(named) != {r["name"] for r in self.inputs}:
                raise _lib.Invalid(f"{self.name}: it takes {[r['name'] for r in self.inputs]}")
            arrays = tuple(named[r["name"]] for r in self.inputs)
        if len(arrays) != len(self.inputs):
            raise _lib.Invalid(f"{self.name}: {len(arrays)} inputs, and it takes "
                               f"{len(self.inputs)}")
        made = [empty(r["shape"], r["dtype"], arrays[0] if arrays else None) for r in self.outputs]
        given = [self._check("input", r, a) for r, a in zip(self.inputs, arrays)]
        taken = [self._check("output", r, a) for r, a in zip(self.outputs, made)]
        self.run_at(self._pointers(given), self._pointers(taken))
        return made

    def run_at(self, inputs: Any, outputs: Any) -> None:
        """The same on arrays of addresses (ctypes.c_void_p), at which nobody looks."""
        with self._lock:
            if not self._pool:
                raise _lib.Invalid(f"{self.name}: it is closed")
            status = self._run(self._weights_at, self._at(self._prepared), inputs, outputs,
                               self._at(self._arena), _lib.lib.hone_pool_env(self._pool, 0))
        if status != 0:
            raise self._failed(status, _lib.HoneError(
                f"{self.name}: its run answered {status}"))

    @staticmethod
    def _pointers(views: list[View]) -> Any:
        return (c_void_p * max(1, len(views)))(
            *((v.tensor.data or 0) + v.tensor.byte_offset for v in views))

    def close(self) -> None:
        """Ends its threads; twice is fine, and a call that runs is waited for."""
        with self._lock:
            pool, self._pool = self._pool, None
            release, self._release = self._release, None
            if release:  # what it has of a device
                release.argtypes = [c_void_p]
                release(self._at(self._prepared))
        if pool:
            _lib.lib.hone_pool_destroy(pool)

    def __del__(self) -> None:
        self.close()


def compile(path: Path, directory: Optional[Path] = None, *,
            dims: Optional[Mapping[str, int]] = None, dtype: Optional[str] = None,
            auto: bool = False, threads: int = 0, home: Optional[Path] = None,
            target: Optional[str] = None) -> Model:
    """Compile an ONNX file, with the store's records where there are any, and load it.

    dims: sizes of dimensions that the network leaves open, by name.  directory: where the
    library is written; None: into a folder that goes when the program ends.  target: "opencl"
    or "cuda", for a device of this machine; None: its processor.
    """
    folder = directory
    if folder is None:
        temporary = tempfile.TemporaryDirectory()
        folder = temporary.name
    words = ["compile", os.fspath(path), "-o", os.fspath(folder), "--json", "--force"]
    for name, n in (dims or {}).items():
        words += ["--dim", f"{name}={int(n)}"]
    words += ["--dtype", dtype] if dtype else []
    words += ["--auto"] if auto else []
    words += ["--target", target] if target else []
    json.loads(run("hone", *words, home=home))
    model = Model(folder, threads)
    if directory is None:
        model._temporary = temporary
    return model
