"""What is stored: the best known schedule of a computation."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from typing import Any, Optional, Union

from . import _lib
from .expr import Program

MATCHES = ("exact", "class", "nearest", "automatic")


@dataclasses.dataclass(frozen=True)
class Answer:
    """The fastest correct and proved schedule (struct hone_answer)."""

    workload: str
    name: str
    target: str
    cache: str
    steps: Any
    median_ns: float  # 0: nothing was measured
    naive_ns: float  # 0: unknown
    flops: float
    trials: int
    failed: int
    match: str  # "exact", "class", "nearest" or "automatic"
    expected_ns: float  # on the target asked for; 0: nobody knows
    near: str  # what differs where it was measured; "" for an exact answer


class Store:
    """The snapshot of a store: $HONE_HOME's, or that of a directory.

    >>> import hone
    >>> with hone.Store("/no/such/store") as store: pass
    Traceback (most recent call last):
    ...
    hone.NotFound: /no/such/store/best.snapshot: not there; nothing was tuned here yet
    """

    def __init__(self, directory: Union[str, os.PathLike[str], None] = None) -> None:
        self._handle = ctypes.c_void_p()
        where = os.fsencode(directory) if directory is not None else None
        _lib.call("hone_store_open", where, ctypes.byref(self._handle))

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Twice is fine."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            _lib.lib.hone_store_close(handle)

    __del__ = close

    def __len__(self) -> int:
        return int(_lib.lib.hone_store_count(self._handle)) if self._handle else 0

    def query(self, what: Union[Program, str], target: Optional[str] = None) -> Answer:
        """The answer to a program, or to a workload key or its beginning.

        NotFound says why there is none.
        """
        if not self._handle:
            raise _lib.Invalid("the store is closed")
        key = what.key if isinstance(what, Program) else what
        a = _lib.AnswerStruct()
        _lib.call("hone_query_key", self._handle, key.encode(),
                  target.encode() if target is not None else None, ctypes.byref(a))
        expected = ctypes.c_double()
        try:
            _lib.call("hone_expect", self._handle, ctypes.byref(a),
                      target.encode() if target is not None else None, ctypes.byref(expected))
        except _lib.HoneError:  # the cost model does not look at such programs
            expected.value = 0.0
        return Answer(
            expected_ns=expected.value,
            workload=a.workload.decode(), name=a.name.decode(), target=a.target.decode(),
            cache=a.cache.decode(), steps=json.loads(a.steps or b"[]"),
            median_ns=a.median_ns, naive_ns=a.naive_ns, flops=a.flops, trials=a.n_trial,
            failed=a.n_failed, match=MATCHES[a.match], near=a.near.decode())
