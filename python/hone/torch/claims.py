"""What was claimed of each graph, and why the rest was not: what explain() shows."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Optional


@dataclasses.dataclass
class Claim:
    """One region of a graph."""

    operators: list[str]
    state: str = "not run yet"  # then "claimed" or "left"
    reason: str = ""
    gain: Optional[float] = None  # torch's time over hone's
    error: Optional[float] = None  # of the largest element
    path: Optional[str] = None  # of the region as an ONNX file

    def __str__(self) -> str:
        names = Counter(self.operators)
        what = ", ".join(f"{n} {name}" if n > 1 else name for name, n in names.most_common(6))
        more = f", and {len(names) - 6} more" if len(names) > 6 else ""
        return (f"  {self.state}: {len(self.operators)} operators ({what}{more})"
                + (f"\n    {self.reason}" if self.reason else "")
                + (f"\n    {self.path}" if self.path else ""))


@dataclasses.dataclass
class Graph:
    """One graph that torch.compile gave."""

    number: int
    n_operators: int = 0
    reason: str = ""  # why no operator of it is looked at
    claims: list[Claim] = dataclasses.field(default_factory=list)
    left: dict[str, str] = dataclasses.field(default_factory=dict)  # operator to reason

    def __str__(self) -> str:
        taken = sum(len(c.operators) for c in self.claims if c.state == "claimed")
        lines = [f"graph {self.number}: {taken} of {self.n_operators} operators run by hone"]
        lines += [f"  left: {self.reason}"] if self.reason else []
        lines += [str(c) for c in self.claims]
        lines += [f"  left: {name}: {why}" for name, why in sorted(self.left.items())]
        return "\n".join(lines)


class Explanation(list):
    """All graphs, in order; printed, it is text."""

    def __str__(self) -> str:
        return "\n".join(str(g) for g in self) or "no graph was compiled by hone yet"

    __repr__ = __str__


graphs = Explanation()


def new_graph() -> Graph:
    """The next one."""
    graphs.append(Graph(len(graphs)))
    return graphs[-1]
