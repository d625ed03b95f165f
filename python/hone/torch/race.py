"""Whether hone is faster than torch on a region: both run in turn, on the same inputs.

As with the ONNX Runtime provider, hone has to win by 5 %, and what counts is the less of two
quotients: the median of the turns', and that of the best times.  With one thread the time is that
of the thread's processor clock, which other programs do not change; with several it is the wall's.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import statistics
import time
from typing import Any, Callable, Sequence

import torch

FORMAT = "hone-torch-race/1"
LEAST_GAIN = 1.05
TURNS, LEAST_TURNS, MOST_S = 15, 5, 3.0
PAUSE_S = 0.03  # in which the other's threads stop spinning
LEAST_S = 0.002  # of one measured time, in which short regions run several times
MOST_ERROR = {torch.float32: 1e-3, torch.float64: 1e-6, torch.bfloat16: 4e-2, torch.float16: 1e-2}


@dataclasses.dataclass
class Result:
    """Times of one run in seconds."""

    torch_s: float
    hone_s: float
    gain: float


def difference(ours: Sequence[torch.Tensor], theirs: Sequence[torch.Tensor]) -> float:
    """Of the worst output; infinite where only one of them is a number."""
    worst = 0.0
    for x, y in zip(ours, theirs):
        if not x.dtype.is_floating_point:
            worst = max(worst, 0.0 if torch.equal(x, y) else float("inf"))
            continue
        x, y = x.double(), y.double()
        same = (x == y) | (x.isnan() & y.isnan())
        off = torch.where(same, 0, (x - y).abs())
        if off.numel() == 0:
            continue
        if not off.isfinite().all():
            return float("inf")
        most = y[y.isfinite()].abs().max().item() if y.isfinite().any() else 0.0
        worst = max(worst, off.max().item() / max(most, 1e-30))
    return worst


def most_error(outputs: Sequence[torch.Tensor]) -> float:
    """What an answer may be off."""
    return max((MOST_ERROR.get(t.dtype, 0.0) for t in outputs), default=0.0)


def _timed(run: Callable[[], Any], clock: Callable[[], float], n: int, pause_s: float) -> float:
    time.sleep(pause_s)
    for _ in range(n):  # to be warm
        run()
    start = clock()
    for _ in range(n):
        run()
    return (clock() - start) / n


def race(ours: Callable[[], Any], theirs: Callable[[], Any], threads: int) -> Result:
    """Both, in turn."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    pause_s = PAUSE_S if threads > 1 else 0
    n = max(1, int(LEAST_S / max(_timed(theirs, clock, 3, pause_s), 1e-6)))
    torch_s, hone_s = [], []
    start = time.monotonic()
    while len(torch_s) < TURNS and (len(torch_s) < LEAST_TURNS
                                    or time.monotonic() - start < MOST_S):
        pairs = [(theirs, torch_s), (ours, hone_s)]
        for run, times in pairs if len(torch_s) % 2 else reversed(pairs):
            times.append(_timed(run, clock, n, pause_s))
    gain = min(statistics.median(t / h for t, h in zip(torch_s, hone_s)),
               min(torch_s) / min(hone_s))
    return Result(statistics.median(torch_s), statistics.median(hone_s), gain)


def kept(path: pathlib.Path, about: dict[str, Any]) -> Any:
    """The result of an earlier race of the same two; None: there was none."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["format"] != FORMAT or said["about"] != about:
            return None
        return Result(*(float(said[m]) for m in ("torch_s", "hone_s", "gain")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(path: pathlib.Path, about: dict[str, Any], result: Result) -> None:
    """Where the folder cannot be written to, it is raced each time."""
    part = path.with_name(f"race.{os.getpid()}.part")
    try:
        part.write_text(json.dumps({"format": FORMAT, "about": about,
                                    **dataclasses.asdict(result)}) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError:
        pass
