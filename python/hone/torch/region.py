"""A region of a graph: exported, compiled, raced and called.

All of that is done in its first call, when its weights and inputs are there.  Until then, and
wherever hone is not faster, the region is torch's own.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import threading
from typing import Any, Iterator, Optional, Sequence

import torch

from .. import _lib, model as models
from . import ops, race
from .claims import Claim
from .onnx_file import MOST_BYTES, File
from .writer import Refused, Writer, tensor_bytes, type_name


@dataclasses.dataclass(frozen=True)
class Options:
    """What torch.compile(..., options={...}) may say."""

    claim: str = "faster"  # "faster", "always" or "never"
    weights: str = "packed"  # or "arguments"
    rest: str = "eager"  # or "inductor": what hone is raced against, and what runs where it loses
    folder: Optional[str] = None  # of compiled regions

    CHOICES = {"claim": ("faster", "always", "never"), "weights": ("packed", "arguments"),
               "rest": ("eager", "inductor")}


def folder_of(options: Options) -> pathlib.Path:
    """Where regions are kept: HONE_HOME's torch, as hone finds its store."""
    if options.folder:
        return pathlib.Path(options.folder)
    home = os.environ.get("HONE_HOME") or os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "hone")
    return pathlib.Path(home, "torch")


def order_of(t: torch.Tensor) -> list[int]:
    """Its dimensions as they lie in memory, the outermost first; Refused where there are gaps."""
    order = sorted(range(t.dim()), key=lambda d: (-t.stride(d), d))
    want = 1
    for d in reversed(order):
        if t.shape[d] != 1 and t.stride(d) != want:
            raise Refused("a tensor with gaps")
        want *= t.shape[d]
    return order


def _processor() -> bytes:
    """What a compiled region is for."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            lines = f.read().split("\n\n")[0].splitlines()
    except OSError:
        lines = []
    told = [s for s in lines if s.startswith(("model name", "flags", "Features", "CPU part"))]
    return "\n".join(told).encode()


def _stamp(path: pathlib.Path) -> list[int]:
    try:
        s = path.stat()
        return [s.st_size, s.st_mtime_ns]
    except OSError:
        return []


def _probes(t: torch.Tensor) -> list[tuple[Any, int]]:
    """The first, middle and last word of a weight.  What is written by way of `.data` has no
    version, and mostly changes these."""
    n = t.numel() * t.element_size()
    if not t.is_contiguous() or n < 8:
        return []
    words = [ctypes.c_uint64.from_address(t.data_ptr() + at)
             for at in sorted({0, n // 16 * 8, n // 8 * 8 - 8})]
    return [(word, word.value) for word in words]


@contextlib.contextmanager
def _locked(folder: pathlib.Path) -> Iterator[None]:
    """One process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


class Region(torch.nn.Module):
    """Takes the place of a submodule of torch.fx."""

    def __init__(self, inner: torch.fx.GraphModule, constant: Sequence[bool], claim: Claim,
                 options: Options) -> None:
        super().__init__()
        self._inner, self._claim, self._options = [inner], claim, options
        self._constant = list(constant)
        self._theirs: Any = inner
        self._lock = threading.Lock()
        self._run: Any = None
        self._first = True

    def forward(self, *args: torch.Tensor) -> Any:
        """Hone's where it is claimed, for the weights that it was made with."""
        if self._first:
            with self._lock:
                if self._first:
                    self._decide(args)
                    self._first = False
        run = self._run
        if run is None:
            return self._theirs(*args)
        made = run(args)
        if made is None:
            self._run, self._claim.state = None, "left"
            self._claim.reason = "its weights were changed after it was compiled"
            return self._theirs(*args)
        return made

    def _leave(self, reason: str) -> None:
        self._claim.state, self._claim.reason = "left", reason

    def _decide(self, args: Sequence[torch.Tensor]) -> None:
        """Whether it is claimed; never raises for what is hone's."""
        if self._options.rest == "inductor":
            self._theirs = torch.compile(self._inner[0], backend="inductor", dynamic=False)
        try:
            if self._options.claim == "never":
                raise Refused("claim is never")
            compiled = Compiled(self._inner[0], self._constant, args, self._options, self._claim)
            told = self._judge(compiled, args)
            self._run, self._claim.state, self._claim.reason = compiled, "claimed", told
        except (Refused, _lib.HoneError, OSError) as e:
            self._leave(str(e).splitlines()[0] if str(e) else type(e).__name__)

    def _judge(self, compiled: "Compiled", args: Sequence[torch.Tensor]) -> str:
        """What is known of it; Refused where its answers are wrong, or it is not faster."""
        def ours() -> Any:
            return _several(compiled(args))

        def theirs() -> Any:
            return _several(self._theirs(*args))
        claim = self._claim
        claim.error = race.difference(ours(), theirs())
        if not claim.error <= race.most_error(compiled.outputs):
            raise Refused(f"answers differ by {claim.error:.1e} of the largest")
        told = f"error {claim.error:.1e}"
        if self._options.claim == "always":
            return told
        about = {"torch": torch.__version__, "threads": compiled.threads,
                 "rest": self._options.rest, "library": _stamp(compiled.folder / "libmodel.so")}
        path = compiled.folder / "race.json"
        result = race.kept(path, about)
        if result is None:
            result = race.race(ours, theirs, compiled.threads)
            race.keep(path, about, result)
        claim.gain = result.gain
        told = (f"{result.torch_s * 1e6:.4g} us by torch, {result.hone_s * 1e6:.4g} by hone: "
                f"gain {result.gain:.2f}, {told}")
        if result.gain < race.LEAST_GAIN:
            raise Refused(f"not faster by 5 %: {told}")
        return told


def _several(results: Any) -> Sequence[torch.Tensor]:
    return results if isinstance(results, (tuple, list)) else (results,)


class Compiled:
    """A region as hone runs it."""

    def __init__(self, inner: torch.fx.GraphModule, constant: Sequence[bool],
                 args: Sequence[torch.Tensor], options: Options, claim: Claim) -> None:
        if options.weights == "arguments" or any(
                c and t.is_inference() for c, t in zip(constant, args)):
            constant = [False] * len(args)
        self._weights = [(at, t.data_ptr(), t._version, _probes(t))
                         for at, (c, t) in enumerate(zip(constant, args)) if c]
        with torch.no_grad():
            data = self._export(inner, constant, args)
        if len(data) >= MOST_BYTES:
            raise Refused("weights above 2 GiB")
        self.threads = torch.get_num_threads()
        self.folder = folder_of(options) / hashlib.sha256(
            data + _processor() + _lib.lib._name.encode()).hexdigest()[:32]
        claim.path = str(self.folder / "region.onnx")
        self._model = self._load(data)
        for have, want in ((self._model.inputs, self._takes), (self._model.outputs, self._gives)):
            if [(r["dtype"], r["shape"]) for r in have] != want:
                raise Refused(f"{self.folder}: it is not of this region")
        self._in = [at for at, c in enumerate(constant) if not c]
        self._strides = [args[at].stride() for at in self._in]
        self._inputs = ctypes.c_void_p * max(1, len(self._in))
        self._outputs = ctypes.c_void_p * max(1, len(self.outputs))

    def _export(self, inner: torch.fx.GraphModule, constant: Sequence[bool],
                args: Sequence[torch.Tensor]) -> bytes:
        """The region as an ONNX file: what hangs on constants alone is computed here."""
        w, known, place = Writer(File()), {}, 0
        self._takes: list[tuple[str, list[int]]] = []
        for node in inner.graph.nodes:
            if node.op == "placeholder":
                t = args[place]
                node.meta["val"] = t
                if constant[place]:
                    known[node] = t
                else:
                    order = order_of(t)
                    self._takes.append((type_name(t.dtype), [t.shape[d] for d in order]))
                    name = w.file.input(*self._takes[-1])
                    w.names[node] = name if order == sorted(order) else w.n(
                        "Transpose", name, perm=[order.index(d) for d in range(t.dim())])
                place += 1
            elif node.op == "call_function":
                if all(x in known for x in node.all_input_nodes):
                    known[node] = node.target(*torch.fx.map_arg(node.args, known.get),
                                              **torch.fx.map_arg(node.kwargs, known.get))
                    continue
                for x in node.all_input_nodes:
                    if x in known and x not in w.names and isinstance(known[x], torch.Tensor):
                        t = known[x]
                        w.names[x] = w.file.weight(type_name(t.dtype), list(t.shape),
                                                   tensor_bytes(t))
                self._write(w, node)
            elif node.op == "output":
                self._finish(w, node, known)
        return w.file.bytes()

    @staticmethod
    def _write(w: Writer, node: torch.fx.Node) -> None:
        if is_item(node):
            w.names[node] = w.names[node.args[0]][node.args[1]]
        else:
            ops.write(w, node)

    def _finish(self, w: Writer, node: torch.fx.Node, known: dict[Any, Any]) -> None:
        self._single = isinstance(node.args[0], torch.fx.Node)
        results = [node.args[0]] if self._single else list(node.args[0])
        self.outputs, self._gives = [], []
        for x in results:
            t = x.meta["val"]
            if x in known:
                w.names[x] = w.file.weight(type_name(t.dtype), list(t.shape),
                                           tensor_bytes(known[x]))
            order = order_of(t)
            name = w(x)
            if order != sorted(order):
                name = w.n("Transpose", name, perm=order)
            self._gives.append((type_name(t.dtype), [t.shape[d] for d in order]))
            w.file.output(name, *self._gives[-1])
            self.outputs.append(torch.empty_strided(tuple(t.shape), t.stride(), dtype=t.dtype,
                                                    device="meta"))

    def _load(self, data: bytes) -> models.Model:
        """From the folder, if the store is as it was when it was compiled."""
        made_of = [_stamp(folder_of(Options()).parent / "best.snapshot")]
        with _locked(self.folder):
            path, made = self.folder / "region.onnx", self.folder / "made-of"
            if made.exists() and made.read_bytes() == repr(made_of).encode():
                with contextlib.suppress(_lib.NotFound, _lib.Corrupt, _lib.VersionMismatch):
                    return models.Model(self.folder, self.threads)
            path.write_bytes(data)
            model = models.compile(path, self.folder, threads=self.threads)
            made.write_bytes(repr(made_of).encode())
            return model

    def __call__(self, args: Sequence[torch.Tensor]) -> Any:
        """The outputs; None where a weight is not what it was."""
        for at, pointer, version, probes in self._weights:
            t = args[at]
            if t.data_ptr() != pointer or t._version != version:
                return None
            for word, value in probes:  # in memory that t has now
                if word.value != value:
                    return None
        pointers = self._inputs()
        for to, at in enumerate(self._in):
            t = args[at]
            if t.stride() != self._strides[to]:
                t = torch.empty_strided(t.shape, self._strides[to], dtype=t.dtype).copy_(t)
            pointers[to] = t.data_ptr()
        made = [torch.empty_strided(o.shape, o.stride(), dtype=o.dtype) for o in self.outputs]
        self._model.run_at(pointers, self._outputs(*(t.data_ptr() for t in made)))
        return made[0] if self._single else tuple(made)


def is_item(node: torch.fx.Node) -> bool:
    """One of the results of an operator that has several."""
    return getattr(node.target, "__name__", "") == "getitem"
