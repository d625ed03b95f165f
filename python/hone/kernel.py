"""Kernels: loaded from their files, called on arrays."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import subprocess
import tempfile
from typing import Any, Optional, Union

from . import _lib
from .expr import Program
from .tensors import View, empty

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
        pointers = (ctypes.POINTER(_lib.TensorStruct) * len(views))(
            *(ctypes.pointer(v.tensor) for v in views))
        _lib.call("hone_kernel_call_dlpack", self._handle, pointers, len(views), None)
        return None if not made else made[0] if len(made) == 1 else tuple(made)

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
