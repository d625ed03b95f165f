"""A network that `hone compile` wrote, called from Python: include/hone/model.h through ctypes.

The caller's memory is laid out to find faults: outputs and arena lie between guards that must not
change, and before a run they are filled with bytes that are NaN as floats, so that what was not
written shows.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import tempfile
import time
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint32, c_uint64, c_void_p

import numpy as np

ABI = 4
ALIGN = 64
GUARD_BYTES = 256
FILL = 0xFF

NOW = ctypes.CFUNCTYPE(c_uint64)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_char_p),
        ("dims", POINTER(c_int64)),
        ("bytes", c_uint64),
        ("rank", c_uint32),
    ]

    def shape(self):
        return tuple(self.dims[axis] for axis in range(self.rank))


class Kernel(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("packed", c_void_p),
        ("prepare_packed", c_void_p),
        ("init", c_void_p),
        ("prepared_bytes", c_uint64),
        ("workspace_bytes", c_uint64),
        ("worker_bytes", c_uint64),
        ("sized", c_void_p),
    ]


class Step(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kernel", c_uint32),
        ("first_arg", c_uint32),
        ("n_args", c_uint32),
        ("prepares", c_uint32),
        ("prepared", c_uint64),
    ]


class Model(ctypes.Structure):
    _fields_ = [
        ("abi", c_uint32),
        ("n_inputs", c_uint32),
        ("n_outputs", c_uint32),
        ("n_kernels", c_uint32),
        ("n_steps", c_uint32),
        ("n_args", c_uint32),
        ("name", c_char_p),
        ("inputs", POINTER(Tensor)),
        ("outputs", POINTER(Tensor)),
        ("kernels", POINTER(Kernel)),
        ("steps", POINTER(Step)),
        ("args", c_void_p),
        ("weights_bytes", c_uint64),
        ("prepared_bytes", c_uint64),
        ("arena_bytes", c_uint64),
        ("stamp", c_uint64),
        ("n_sizes", c_uint32),
        ("n_ranges", c_uint32),
        ("sizes", c_void_p),
        ("ranges", c_void_p),
    ]


class Failed(Exception):
    """The library broke its contract, or a call did not return 0."""


class Block:
    """Aligned bytes between two guards."""

    def __init__(self, n_bytes, what):
        self.n_bytes, self.what = n_bytes, what
        self.memory = np.full(n_bytes + 2 * GUARD_BYTES + ALIGN, FILL, np.uint8)
        self.begin = GUARD_BYTES + -(self.memory.ctypes.data + GUARD_BYTES) % ALIGN
        self.bytes = self.memory[self.begin : self.begin + n_bytes]
        self.address = self.memory.ctypes.data + self.begin

    def check(self):
        before, after = self.memory[: self.begin], self.memory[self.begin + self.n_bytes :]
        if not ((before == FILL).all() and (after == FILL).all()):
            raise Failed(f"wrote outside of {self.what}")


def text(name):
    return name.decode(errors="replace")


def name_of(folder):
    """The network's name in C, by its header."""
    header = (folder / "model.h").read_text(encoding="utf-8")
    found = re.search(r"struct hone_model (\w+)_model;", header)
    if not found:
        raise Failed("model.h declares no struct hone_model")
    return found.group(1)


def pool_of(folder):
    """The thread pool that lies beside the network, as a library."""
    with tempfile.TemporaryDirectory() as made:
        path, cc = pathlib.Path(made) / "pool.so", os.environ.get("HONE_CC", "cc")
        subprocess.run([cc, "-shared", "-o", path, folder / "hone_pool.o", "-pthread"], check=True)
        lib = ctypes.CDLL(str(path))
    lib.hone_pool_create.restype, lib.hone_pool_create.argtypes = c_void_p, [c_int32]
    lib.hone_pool_env.restype, lib.hone_pool_env.argtypes = c_void_p, [c_void_p, c_uint64]
    lib.hone_pool_destroy.argtypes = [c_void_p]
    return lib


class Library:
    """`run` takes and gives arrays in the order of the network's inputs and outputs."""

    def __init__(self, folder, threads=1):
        folder = pathlib.Path(folder)
        lib, name = ctypes.CDLL(str((folder / "libmodel.so").resolve())), name_of(folder)
        self.model = Model.in_dll(lib, f"{name}_model")
        if self.model.abi != ABI:
            raise Failed(f"hone_model.abi is {self.model.abi}, not {ABI}")
        self._declare(lib, name)
        self.weights = self._weights(folder / "model.weights")
        self.pools = pool_of(folder) if threads > 1 else None
        self.pool = self.pools.hone_pool_create(threads) if self.pools else None
        self.arena = Block(self.arena_bytes(threads), "the arena")
        self.prepared = Block(self.model.prepared_bytes, "the prepared data")
        self.inputs = self._tensors(self.model.inputs, self.model.n_inputs)
        self.outputs = self._tensors(self.model.outputs, self.model.n_outputs)
        self._judge("prepare", self.prepare(*self._arguments(tensors=[])))

    def _declare(self, lib, name):
        """Types of the functions; a pointer more or less would be a crash without a message."""
        verbs = ("arena_bytes", "prepare", "run", "run_timed", "run_sized")
        functions = [getattr(lib, f"{name}_{verb}") for verb in verbs]
        self.arena_bytes, self.prepare, self.call_run, self.call_timed = functions[:4]
        self.call_sized = functions[4]
        self.release = getattr(lib, f"{name}_release", None)  # of a network for a GPU
        self.error = getattr(lib, f"{name}_error", None)
        if self.release:
            self.release.argtypes, self.error.restype = [c_void_p], c_char_p
        self.call_sized.argtypes = [c_void_p] * 7
        self.arena_bytes.restype, self.arena_bytes.argtypes = c_uint64, [c_int32]
        self.prepare.argtypes = [c_void_p] * 4
        self.call_run.argtypes = [c_void_p] * 6
        self.call_timed.argtypes = [*[c_void_p] * 6, NOW, c_void_p]

    def _weights(self, path):
        n_bytes = self.model.weights_bytes
        if path.stat().st_size != n_bytes:
            raise Failed(f"{path.name} has {path.stat().st_size} bytes, the table says {n_bytes}")
        return np.memmap(path, np.uint8, "r") if n_bytes else np.zeros(0, np.uint8)

    def _tensors(self, table, n):
        """Each with memory of its own."""
        return [(table[i], Block(table[i].bytes, text(table[i].name))) for i in range(n)]

    def _arguments(self, tensors):
        """What prepare (with no tensors) and run take."""
        lists = [
            (c_void_p * max(1, len(rows)))(*[block.address for _, block in rows])
            for rows in tensors
        ]
        env = self.pools.hone_pool_env(self.pool, 0) if self.pool else None
        return (
            self.weights.ctypes.data,
            self.prepared.address,
            *lists,
            self.arena.address,
            env,
        )

    def _judge(self, verb, status):
        if status != 0:
            why = f": {text(self.error())}" if self.error else ""
            raise Failed(f"{verb} returned {status}{why}")
        self.arena.check()
        self.prepared.check()
        for _, block in self.inputs + self.outputs:
            block.check()

    def load(self, arrays):
        """Copies the inputs to where `call` finds them."""
        if len(arrays) != len(self.inputs):
            raise Failed(f"{len(self.inputs)} inputs, not {len(arrays)}")
        for (tensor, block), array in zip(self.inputs, arrays, strict=True):
            want = f"{text(tensor.dtype)}{list(tensor.shape())}"
            have = f"{array.dtype.name}{list(array.shape)}"
            if want != have:
                raise Failed(f"input {text(tensor.name)} is {want}, not {have}")
            block.bytes[:] = np.frombuffer(array.tobytes(), np.uint8)

    def caller(self):
        """A function without arguments: runs the network, returns its status."""
        arguments = self._arguments([self.inputs, self.outputs])
        return lambda: self.call_run(*arguments)

    def run(self, arrays):
        """The answers to these inputs."""
        self.load(arrays)
        for block in [self.arena] + [block for _, block in self.outputs]:
            block.bytes[:] = FILL
        self._judge("run", self.caller()())
        for (tensor, block), array in zip(self.inputs, arrays, strict=True):
            if block.bytes.tobytes() != array.tobytes():
                raise Failed(f"wrote to input {text(tensor.name)}")
        return self.answers()

    def caller_sized(self, sizes):
        """A function without arguments: runs the network for these sizes, returns its status."""
        arguments = self._arguments([self.inputs, self.outputs])
        passed = (c_int64 * max(1, len(sizes)))(*sizes)
        return lambda: self.call_sized(passed, *arguments)

    def status_sized(self, sizes):
        """What a run for these sizes returns."""
        return self.caller_sized(sizes)()

    def load_sized(self, arrays):
        """Copies inputs of a size to where `caller_sized` finds them; what lies behind one is NaN
        as floats."""
        for (_, block), array in zip(self.inputs, arrays, strict=True):
            block.bytes[:] = FILL
            block.bytes[: array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)

    def answers_sized(self, shapes):
        """What the last run has written to outputs of these shapes."""
        found = []
        for (tensor, block), shape in zip(self.outputs, shapes, strict=True):
            kind = text(tensor.dtype)
            n = int(np.prod(shape)) * np.dtype(kind).itemsize
            found.append(block.bytes[:n].view(kind).reshape(shape).copy())
        return found

    def run_sized(self, arrays, sizes, shapes):
        """The answers to inputs of these sizes; shapes: the outputs'.  What lies behind an input is
        NaN as floats, and what lies behind an output must stay."""
        self.load_sized(arrays)
        for block in [self.arena] + [block for _, block in self.outputs]:
            block.bytes[:] = FILL
        self._judge("run_sized", self.status_sized(sizes))
        for (tensor, block), answer in zip(self.outputs, self.answers_sized(shapes), strict=True):
            if not (block.bytes[answer.nbytes :] == FILL).all():
                raise Failed(f"wrote behind output {text(tensor.name)}")
        return self.answers_sized(shapes)

    def answers(self):
        """What the last run has written."""
        return [
            block.bytes.view(text(tensor.dtype)).reshape(tensor.shape()).copy()
            for tensor, block in self.outputs
        ]

    def steps(self, count, clock=time.perf_counter_ns):
        """Of each step: its name, its kernel's, and nanoseconds, the least of so many runs.
        Asking the clock costs about a microsecond a step, which is in the figures."""
        arguments, n = self._arguments([self.inputs, self.outputs]), self.model.n_steps
        least, now = np.full(n, np.iinfo(np.uint64).max, np.uint64), NOW(clock)
        for _ in range(count):
            times = np.zeros(n, np.uint64)
            self._judge("run_timed", self.call_timed(*arguments, now, times.ctypes.data))
            least = np.minimum(least, times)
        steps = [self.model.steps[i] for i in range(n)]
        kernels = [text(self.model.kernels[step.kernel].name) for step in steps]
        names = [text(step.name) for step in steps]
        return list(zip(names, kernels, least.tolist(), strict=True))

    def close(self):
        if self.release:
            self.release(self.prepared.address)
        if self.pool:
            self.pools.hone_pool_destroy(self.pool)
            self.pool = None
