"""Helion's remote cache in hone's folder: HELION_REMOTE_CACHE_BACKEND=hone.helion.Backend.

What Helion found for a kernel on one machine is there for all that share HONE_HOME, and for its warm
start.  hone only keeps the text: Helion's key says which kernel, machine and version it is for.
"""

from __future__ import annotations

import importlib.metadata
import itertools
from typing import Iterable, Optional

from helion.autotuner.remote_cache import RemoteCacheBackend

from .foreign import Records


class Backend(RemoteCacheBackend):
    """What Helion calls."""

    def __init__(self) -> None:
        self._records = Records("helion", importlib.metadata.version("helion"))

    def get(self, key: str) -> Optional[str]:
        """The entry of this key, or None."""
        return self._records.get(key)

    def put(self, key: str, data: str) -> None:
        """Keep an entry."""
        self._records.put(key, data)

    def list(self, max_results: Optional[int] = None) -> Iterable[str]:
        """Entries, the newest first."""
        return [r["data"] for r in itertools.islice(self._records.newest(), max_results)]
