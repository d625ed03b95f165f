"""Inductor's lookup table from hone's folder: which templates to take for a product, without search.

    hone.inductor.adopt(table)      a table of Inductor's: key to configurations
    hone.inductor.install()         from now on it is looked up

Inductor asks for CUDA only, and has no recorder of its own: tables come from those who make them.
"""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional

import torch
from torch._inductor.lookup_table import LookupTableChoices
from torch._inductor.virtualized import V

from . import _lib
from .foreign import Path, Records


def records(home: Optional[Path] = None) -> Records:
    """Where tables are kept."""
    return Records("inductor", torch.__version__, home)


def _are_configurations(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(c, dict) and isinstance(c.get("template_id"), str) for c in value)


def adopt(table: Mapping[str, list[dict[str, Any]]], home: Optional[Path] = None) -> None:
    """Keep a table; all of it is looked at before any of it is kept."""
    for key, value in table.items():
        if not isinstance(key, str) or not _are_configurations(value):
            raise _lib.Invalid(f"{str(key)[:200]!r}: no list of configurations with template_id")
    kept = records(home)
    for key, value in table.items():
        kept.put(key, json.dumps(value))


class Table:
    """A table that reads one record for one key; what is damaged is not there."""

    def __init__(self, home: Optional[Path] = None) -> None:
        self._records = records(home)

    def get(self, key: str, default: Any = None) -> Any:
        """The configurations of this key."""
        text = self._records.get(key)
        try:
            value = json.loads(text) if text is not None else None
        except (ValueError, RecursionError):
            return default
        return value if _are_configurations(value) else default

    def __len__(self) -> int:
        return sum(1 for _ in self._records.folder.glob("*.json"))


class Choices(LookupTableChoices):
    """Inductor's, on hone's table."""

    def __init__(self, home: Optional[Path] = None) -> None:
        super().__init__()
        self._table = Table(home)

    def _get_lookup_table(self) -> Table:
        return self._table


def install(home: Optional[Path] = None) -> None:
    """Make Inductor look there."""
    V.set_choices_handler(Choices(home))
