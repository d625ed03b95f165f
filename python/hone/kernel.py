"""Kernels: loaded from their files, called on arrays."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
import threading
from typing import Any, Optional, Union

from . import _lib
from .expr import Program
from .tensors import View, _aligned, empty

Path = Union[str, "os.PathLike[str]"]


class Kernel:
    """A kernel of `hone replay`: NAME.o, or NAME.json, its manifest.

    >>> import hone
    >>> kernel = hone.build(hone.Program("f(float32 A[3]) -> B { B(i) = A(i) + 1 }"), auto=True)
    >>> kernel
    <hone.Kernel f(float32 A[3]) -> (float32 B[3])>
    >>> import array
    >>> kernel(array.array("f", [1, 2, 3])).tolist()
    [2.0, 3.0, 4.0]
    >>> kernel(array.array("f", [1, 2]))
    Traceback (most recent call last):
    ...
    hone.Invalid: f: argument 0 (A): dimension 0 is 2, not 3
    """

    def __init__(self, path: Path, workload: Optional[str] = None) -> None:
        self._handle = ctypes.c_void_p()
        _lib.call("hone_kernel_open", os.fsencode(path),
                  workload.encode() if workload else None, ctypes.byref(self._handle))
        self.path = pathlib.Path(path)
        self.info: dict[str, Any] = json.loads(_lib.lib.hone_kernel_info(self._handle))

    def close(self) -> None:
        """Twice is fine; no call of it may be running."""
        handle, self._handle = getattr(self, "_handle", None), ctypes.c_void_p()
        if handle:
            _lib.lib.hone_kernel_close(handle)

    __del__ = close

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Name, dtype and shape of each."""
        return [a for a in self.info["args"] if not a["output"]]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The same of outputs."""
        return [a for a in self.info["args"] if a["output"]]

    def __repr__(self) -> str:
        def told(args: list[dict[str, Any]]) -> str:
            return ", ".join(f"{a['dtype']} {a['name']}{a['shape']}".replace(" [", "[")
                             for a in args)
        return f"<hone.Kernel {self.info['symbol']}({told(self.inputs)}) -> ({told(self.outputs)})>"

    def __call__(self, *arrays: Any) -> Any:
        """Call it with its inputs, and it makes the outputs and returns them; or with its outputs
        behind them, and it fills these.

        Arrays are numpy's, torch's, or anything with DLPack or the buffer protocol, and are not
        copied.  Invalid says which argument is wrong, and why.
        """
        return self._call(arrays, None)

    def _call(self, arrays: tuple[Any, ...], env: Any) -> Any:
        made = []
        if len(arrays) == len(self.inputs):
            made = [empty(a["shape"], a["dtype"], arrays[0] if arrays else None)
                    for a in self._shaped(arrays)]
        views = [self._view(at, a) for at, a in enumerate((*arrays, *made))]
        for view, arg in zip(views, self.info["args"]):
            if arg["output"] and view.readonly:
                raise _lib.Invalid(f"{self.info['symbol']}: {arg['name']} is an output, and its "
                                   "array may only be read")
        if not self._handle:
            raise _lib.Invalid("the kernel is closed")
        _lib.call("hone_kernel_call_dlpack", self._handle, _pointers(views), len(views), env)
        return None if not made else made[0] if len(made) == 1 else tuple(made)

    def prepare(self, *constants: Any, threads: int = 0) -> "Prepared":
        """The kernel with its constant inputs, in their order: what hangs on these alone, as
        packed copies, is computed now and not in each call.

        >>> import array, hone
        >>> p = hone.Program("f(float32 A[3], const float32 B[3]) -> C { C(i) = A(i) * B(i) }")
        >>> double = hone.build(p, auto=True).prepare(array.array("f", [2, 2, 2]))
        >>> double(array.array("f", [1, 2, 3])).tolist()
        [2.0, 4.0, 6.0]
        """
        return Prepared(self, constants, threads)

    def _view(self, at: int, array: Any) -> View:
        try:
            return View(array)
        except _lib.Invalid as e:
            names = [a["name"] for a in self.info["args"]]
            which = f" ({names[at]})" if at < len(names) else ""
            raise _lib.Invalid(f"{self.info['symbol']}: argument {at}{which}: {e}") from None

    def _shaped(self, arrays: tuple[Any, ...]) -> list[dict[str, Any]]:
        """The outputs, their sizes told by the inputs."""
        sizes: dict[str, int] = {}
        for array, arg in zip(arrays, self.inputs):
            for have, want in zip(getattr(array, "shape", ()), arg["shape"]):
                if isinstance(want, str):
                    sizes.setdefault(want, int(have))
        shaped = []
        for arg in self.outputs:
            shape = [sizes.get(n, n) if isinstance(n, str) else n for n in arg["shape"]]
            if any(isinstance(n, str) for n in shape):
                raise _lib.Invalid(f"{self.info['symbol']}: give the output {arg['name']}: its "
                                   f"shape is {arg['shape']}")
            shaped.append({**arg, "shape": shape})
        return shaped


def _pointers(views: list[View]) -> Any:
    return (ctypes.POINTER(_lib.TensorStruct) * len(views))(
        *(ctypes.pointer(v.tensor) for v in views))


class Prepared:
    """A kernel and its constant inputs, which it keeps; calls take the other arrays.  Calls by
    several threads take turns."""

    def __init__(self, kernel: Kernel, constants: tuple[Any, ...], threads: int) -> None:
        self._pool, self._lock, self.kernel = None, threading.Lock(), kernel
        wanted = [a for a in kernel.inputs if a["constant"]]
        if len(constants) != len(wanted) or not wanted:
            raise _lib.Invalid(f"{kernel.info['symbol']}: its constant inputs are "
                               f"{[a['name'] for a in wanted]}, and {len(constants)} are given")
        if kernel.info["sizes"]:
            raise _lib.Unsupported(f"{kernel.info['symbol']}: it has sizes, which Python does not "
                                   "prepare yet")
        self._constants = list(constants)
        views = [kernel._view(at, a) for at, a in enumerate(self._all(
            [empty(a["shape"], a["dtype"], constants[0])
             for a in kernel.info["args"] if not a["constant"]]))]
        _lib.call("hone_kernel_check_dlpack", kernel._handle, _pointers(views), len(views))
        self._pool = _lib.lib.hone_pool_create(threads)
        n = _lib.lib.hone_kernel_prepared_bytes(kernel._handle)
        self._prepared = _aligned(n + 64)
        at = ctypes.addressof(ctypes.c_char.from_buffer(self._prepared))
        packed = (ctypes.c_void_p * len(views))(
            *((v.tensor.data or 0) + v.tensor.byte_offset for v in views))
        env = self._env()
        status = _lib.lib.hone_kernel_prepare(kernel._handle, packed, at,
                                              ctypes.byref(env)) if n else 0
        if status != 0:
            raise _lib.HoneError(f"{kernel.info['symbol']}: preparing it answered {status}")
        self._at, self._n = at, n

    def _all(self, others: list[Any]) -> list[Any]:
        """With the constants in their places."""
        constants, rest = iter(self._constants), iter(others)
        whole = [next(constants) if a["constant"] else next(rest)
                 for a in self.kernel.info["args"][:len(others) + len(self._constants)]]
        return whole

    def _env(self) -> _lib.EnvStruct:
        pool = _lib.lib
        n = pool.hone_kernel_workspace_bytes(self.kernel._handle,
                                             pool.hone_pool_threads(self._pool))
        return _lib.EnvStruct.from_buffer_copy(
            _lib.EnvStruct.from_address(pool.hone_pool_env(self._pool, n)))

    def __call__(self, *arrays: Any) -> Any:
        """As the kernel is called, without its constant inputs."""
        least = len(self.kernel.inputs) - len(self._constants)
        if len(arrays) not in (least, least + len(self.kernel.outputs)):
            raise _lib.Invalid(f"{self.kernel.info['symbol']}: {len(arrays)} arrays, and it takes "
                               f"{least} beside its constants, and its outputs behind them")
        with self._lock:
            if not self._pool or not self.kernel._handle:
                raise _lib.Invalid("the kernel is closed")
            env = self._env()
            env.prepared, env.prepared_bytes = self._at, self._n
            return self.kernel._call(tuple(self._all(list(arrays))), ctypes.byref(env))

    def close(self) -> None:
        """Ends its threads; twice is fine."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool:
            _lib.lib.hone_pool_destroy(pool)

    def __del__(self) -> None:
        if getattr(self, "_lock", None) is not None:
            self.close()


def run(name: str, *words: str, home: Optional[Path] = None) -> str:
    """What one of hone's programs prints; its refusal is the exception."""
    env = {**os.environ, **({"HONE_HOME": os.fspath(home)} if home is not None else {})}
    done = subprocess.run([_lib.program(name), *words], capture_output=True, text=True, env=env,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        lines = [s for s in done.stderr.splitlines() if s.startswith("hone")] or ["it failed"]
        code = done.returncode - 10 if done.returncode > 10 else 0
        raise _lib.error_of(code, lines[-1].removeprefix("hone: "))
    return done.stdout


def build(program: Program, directory: Optional[Path] = None, *, auto: bool = False,
          target: Optional[str] = None, home: Optional[Path] = None) -> Kernel:
    """Make the kernel of the best stored schedule, or of the automatic one, and load it.

    It is written into `directory`, as `hone replay` does; None: into one that goes at once.
    """
    with tempfile.TemporaryDirectory() as temporary:
        out = os.fspath(directory) if directory is not None else temporary
        words = ["replay", "--text", program.text, "-o", out, "--json", "--force"]
        words += ["--auto"] if auto else []
        words += ["--target", target] if target else []
        made = json.loads(run("hone", *words, home=home))
        return Kernel(made["object"], made["key"])
