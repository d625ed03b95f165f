"""Tuning, by the daemon's protocol: JSON-RPC, one object a line, on a Unix socket."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Callable, Iterator, Optional, Union

from . import _lib
from .curve import svg
from .expr import Program
from .kernel import Kernel, build

Path = Union[str, "os.PathLike[str]"]

START_S = 30.0


def socket_path(given: Optional[Path] = None) -> str:
    """Where honed listens, as all of hone finds it."""
    if given is not None:
        return os.path.abspath(given)
    if os.environ.get("HONE_SOCKET"):
        return os.path.abspath(os.environ["HONE_SOCKET"])
    if os.environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(os.environ["XDG_RUNTIME_DIR"], "hone", "honed.sock")
    return "/run/hone/honed.sock" if os.getuid() == 0 else f"/tmp/hone-{os.getuid()}/honed.sock"


class Client:
    """A connection to honed; a private one is started where none answers, and ends with it."""

    def __init__(self, path: Optional[Path] = None, home: Optional[Path] = None,
                 start: bool = True) -> None:
        self.path, self._next, self._honed = socket_path(path), 0, None
        self._socket = self._connect()
        if self._socket is None:
            if not start:
                raise _lib.NotFound(f"{self.path}: no honed answers there")
            self._start(home)
        self._lines = self._socket.makefile("r", encoding="utf-8", newline="\n")
        self.hello = self.call("hello", protocol=[1, 1], client={"name": "hone.py"})

    def _connect(self) -> Optional[socket.socket]:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(self.path)
        except OSError:
            s.close()
            return None
        return s

    def _start(self, home: Optional[Path]) -> None:
        words = [_lib.program("honed"), "--private", "--socket", self.path]
        words += ["--home", os.fspath(home)] if home is not None else []
        self._honed = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                       start_new_session=True, text=True)
        deadline = time.monotonic() + START_S
        while self._socket is None:
            if self._honed.poll() is not None:
                said = (self._honed.stderr.read().splitlines() or ["it ended"])[-1]
                raise _lib.NotFound(f"honed: {said.removeprefix('honed: ')}")
            if time.monotonic() > deadline:
                raise _lib.NotFound(f"{self.path}: honed does not answer")
            time.sleep(0.02)
            self._socket = self._connect()
        # its log must not fill the pipe
        self._drain = threading.Thread(target=self._honed.stderr.read, daemon=True)
        self._drain.start()

    def send(self, method: str, **params: Any) -> int:
        """A request, and its number."""
        self._next += 1
        text = json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        self._socket.sendall(text.encode() + b"\n")
        return self._next

    def next(self) -> dict[str, Any]:
        """The next message, an answer or an event."""
        line = self._lines.readline()
        if not line:
            raise _lib.HoneError("honed went away; what it has stored is kept")
        return json.loads(line)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A request and its answer; events before it are dropped."""
        number = self.send(method, **params)
        while True:
            message = self.next()
            if message.get("id") == number:
                if "error" in message:
                    raise _lib.error_of(message["error"]["code"], message["error"]["message"])
                return message["result"]

    def events(self, job: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """What happens to a job, to its end: kind and data."""
        self.call("subscribe", job=job, since_seq=0)
        while True:
            message = self.next()
            if message.get("method") == "hone.event" and message["params"].get("job") == job:
                params = message["params"]
                yield params["type"], params.get("data", {})
                if params["type"] == "done":
                    return

    def close(self) -> None:
        """A private honed ends, too, and is waited for."""
        self._lines.close()
        self._socket.close()
        if self._honed is not None:
            self._honed.wait()
            self._drain.join()
            self._honed.stderr.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclasses.dataclass
class Tuned:
    """How a job ended: its numbers, and its curve of (trials, best ns)."""

    program: Program
    job: dict[str, Any]
    curve: list[tuple[int, float]]
    home: Optional[Path]

    @property
    def median_ns(self) -> float:
        """The best time; 0 where no program was right."""
        return self.job.get("median_ns") or self.job.get("best_ns") or 0.0

    @property
    def naive_ns(self) -> float:
        """The time of the program as it is written; 0 = unknown."""
        return self.job.get("naive_ns") or 0.0

    def kernel(self, directory: Optional[Path] = None) -> Kernel:
        """The best one, made and loaded."""
        return build(self.program, directory, home=self.home)

    def svg(self, path: Optional[Path] = None) -> str:
        """The curve as a picture; written to `path`, if there is one."""
        text = svg(self.curve, self.job.get("name") or self.program.name, self.naive_ns)
        if path is not None:
            pathlib.Path(path).write_text(text, encoding="utf-8")
        return text


def bar(done: int, most: int, note: str, width: int = 30) -> str:
    """One line of progress.

    >>> bar(16, 64, "71 ns")
    '[#######-----------------------] 16/64 trials  71 ns'
    """
    full = width * min(done, most) // most if most else 0
    return f"[{'#' * full}{'-' * (width - full)}] {done}/{most} trials  {note}".rstrip()


def time_text(ns: float) -> str:
    """A time for people.

    >>> time_text(2754), time_text(71.4)
    ('2.754 us', '71.4 ns')
    """
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns:.4g} ns"


def tune(program: Program, trials: int = 64, *, seconds: Optional[float] = None,
         progress: Optional[bool] = None, each: Optional[Callable[[dict[str, Any]], None]] = None,
         home: Optional[Path] = None, path: Optional[Path] = None, **more: Any) -> Tuned:
    """Search for a fast kernel; what is found is stored.

    progress: a bar on standard error (None: if that is a terminal).  each: called with the data
    of each progress event.  home, path: of the store and the socket.  more: other parameters of
    `submit` (docs/proto.md), as policy="random" or bitwise=True.

    >>> import hone
    >>> p = hone.Program("f(float32 A[64]) -> B { B(i) = A(i) * 2 }")
    >>> tuned = hone.tune(p, trials=4)
    >>> tuned.job["state"], tuned.median_ns > 0, len(tuned.curve) > 0
    ('done', True, True)
    >>> with hone.Store() as store: store.query(p).match
    'exact'
    """
    show = sys.stderr.isatty() if progress is None else progress
    budget = {"trials": trials, **({"seconds": seconds} if seconds is not None else {})}
    curve: list[tuple[int, float]] = []
    job: dict[str, Any] = {}
    with Client(path, home) as client:
        submitted = client.call("submit", text=program.text, name=more.pop("name", program.name),
                                **budget, **more)
        for kind, data in client.events(submitted["job"]):
            best = data.get("best_ns") or data.get("median_ns") or 0
            if best and data.get("trials"):
                curve.append((data["trials"], best))
            if kind == "warn" and show:
                print(f"\nhone: {data.get('message', data)}", file=sys.stderr)
            if kind in ("progress", "done"):
                job = data
                if each is not None:
                    each(data)
            if show:
                note = time_text(best) if best else str(data.get("state", ""))
                print("\r" + bar(data.get("trials", 0), trials, note), end="", file=sys.stderr,
                      flush=True)
    if show:
        print(file=sys.stderr)
    if job.get("state") != "done":
        raise _lib.HoneError(f"{program.name}: {job.get('state')}: {job.get('message', '')}")
    return Tuned(program, job, curve, home)
