"""python -m hone demo: define, tune, query, load, call and draw, in half a minute."""

from __future__ import annotations

import argparse
import random
import sys
import time

import hone
from hone.tensors import _aligned
from hone.tune import time_text

N = 128


def _random_matrix(seed: int) -> memoryview:
    r, m = random.Random(seed), _aligned(4 * N * N).cast("f")
    for at in range(N * N):
        m[at] = r.randrange(-4, 5)
    return m.cast("B").cast("f", (N, N))


def demo(trials: int, picture: str) -> None:
    """Raises where anything is not as it should be."""
    A, B = hone.tensor("A", (N, N)), hone.tensor("B", (N, N))
    i, j, k = hone.indices("i j k")
    p = hone.program("demo", [A, B], hone.sum("C", (i, j), A[i, k] * B[k, j]))
    print(p.text)
    tuned = hone.tune(p, trials, progress=True)
    tuned.svg(picture)
    with hone.Store() as store:
        answer = store.query(p)
    print(f"{answer.match}: {time_text(answer.median_ns)}, "
          f"{answer.flops / answer.median_ns:.1f} GFLOP/s, after {answer.trials} trials; "
          f"as written {time_text(answer.naive_ns)}")
    kernel = tuned.kernel()
    a, b = _random_matrix(1), _random_matrix(2)
    c = kernel(a, b)  # the first call also starts threads
    start = time.perf_counter()
    kernel(a, b, c)
    print(f"{kernel}: a call from Python took {1e6 * (time.perf_counter() - start):.0f} us")
    for row, column in ((0, 0), (7, 100), (N - 1, N - 1)):
        want = sum(a[row, x] * b[x, column] for x in range(N))
        if c[row, column] != want:
            raise SystemExit(f"C[{row}, {column}] is {c[row, column]}, not {want}")
    print(f"its answers are right; the curve is in {picture}")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m hone")
    parser.add_argument("what", choices=["demo"])
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--picture", default="hone-demo.svg", metavar="FILE")
    options = parser.parse_args()
    try:
        demo(options.trials, options.picture)
    except hone.HoneError as e:
        sys.exit(f"hone: {e}")


if __name__ == "__main__":
    main()
