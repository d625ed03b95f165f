"""What other tuners found, kept for them: hone never runs it, and never mixes it with its own.

Each tool has a folder of its own below `foreign` in HONE_HOME, with one file a record.  A record is
the tool's key and the tool's text, and says who wrote it: the tool, its version, the machine and
the time.  hone's own store, its queries and its compiler do not read them.

>>> import hone.foreign
>>> records = hone.foreign.Records("example", "1.0")
>>> records.put("matmul 64x64", '{"block": 32}')
>>> records.get("matmul 64x64"), records.get("matmul 64x65")
('{"block": 32}', None)
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
import re
import time
from typing import Any, Iterator, Optional, Union

from . import _lib

Path = Union[str, "os.PathLike[str]"]

FORMAT = "hone-foreign/1"
MOST_BYTES = 1 << 20  # of a record
_MEMBERS = ("tool", "version", "key", "data", "machine")


def home_of(home: Optional[Path] = None) -> pathlib.Path:
    """The store's folder, as hone finds it."""
    given = home if home is not None else os.environ.get("HONE_HOME")
    if given:
        return pathlib.Path(given)
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return pathlib.Path(data, "hone")


class Records:
    """The records of one tool.  Any number of processes may read and write them."""

    def __init__(self, tool: str, version: str, home: Optional[Path] = None) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", tool):
            raise _lib.Invalid(f"{tool!r} is no name of a tool: letters, digits, _ and -, at most "
                               "32, and a letter first")
        self.tool, self.version = tool, version
        self.folder = home_of(home) / "foreign" / tool

    def _path(self, key: str) -> pathlib.Path:
        return self.folder / (hashlib.sha256(key.encode()).hexdigest()[:40] + ".json")

    def _read(self, path: pathlib.Path) -> Optional[dict[str, Any]]:
        """None where there is none, or it is no record of this tool."""
        try:
            with open(path, "rb") as f:
                data = f.read(MOST_BYTES + 1)
            record = json.loads(data) if len(data) <= MOST_BYTES else None
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(record, dict) or record.get("format") != FORMAT \
                or record.get("tool") != self.tool \
                or not all(isinstance(record.get(m), str) for m in _MEMBERS) \
                or self._path(record["key"]) != path:
            return None
        return record

    def get(self, key: str) -> Optional[str]:
        """The text of this key, or None."""
        record = self._read(self._path(key))
        return record["data"] if record is not None else None

    def about(self, key: str) -> Optional[dict[str, Any]]:
        """The record of this key with who wrote it, or None."""
        return self._read(self._path(key))

    def put(self, key: str, data: str) -> None:
        """Store it; what was there for the key goes."""
        text = json.dumps({"format": FORMAT, "tool": self.tool, "version": self.version,
                           "key": key, "data": data, "machine": platform.node(),
                           "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}) + "\n"
        if len(text) > MOST_BYTES:
            raise _lib.Invalid(f"{self.tool}: a record of {len(text)} bytes; {MOST_BYTES} at most")
        path = self._path(key)
        self.folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)

    def newest(self) -> Iterator[dict[str, Any]]:
        """All records, the newest first."""
        def when(path: pathlib.Path) -> int:
            try:
                return path.stat().st_mtime_ns
            except OSError:  # it went meanwhile
                return 0
        for path in sorted(self.folder.glob("*.json"), key=when, reverse=True):
            record = self._read(path)
            if record is not None:
                yield record
