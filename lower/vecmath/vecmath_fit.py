#!/usr/bin/env python3
"""lower/vecmath/vecmath_fit.py -- where the coefficients of lower/vecmath/vecmath_*.c come from.

Each row states f, the interval, the powers of the polynomial and the weight of its error.
The fit is minimax (Remez's exchange, 1934) in 40 digits; coefficients are rounded to
float32 one at a time, the most important first, the rest fitted again after each, so that
what is rounded away is made up by those that follow.  Run it: it prints C arrays, highest
power first, with the largest weighted error in units of 2^-24.  Needs mpmath.
"""
import struct
import sys

from mpmath import mp, mpf

mp.dps = 40
LN2 = mp.log(2)


def f32(v):
    return mpf(struct.unpack("f", struct.pack("f", float(v)))[0])


def solve(points, rhs, basis):
    """Coefficients and levelled error e: sum c_k b_k + (-1)^i e = rhs."""
    n = len(basis) + 1
    m = mp.matrix(n, n)
    for i, (x, w) in enumerate(points):
        for k, power in enumerate(basis):
            m[i, k] = w * x**power
        m[i, n - 1] = (-1) ** i
    v = mp.lu_solve(m, mp.matrix(rhs))
    return [v[k] for k in range(n - 1)], abs(v[n - 1])


def remez(grid, basis):
    """grid: (x, w, w * f).  Exchange until the extrema stay."""
    n = len(basis) + 1
    at = [int((1 - mp.cos(mp.pi * i / (n - 1))) / 2 * (len(grid) - 1)) for i in range(n)]
    best = None
    for _ in range(30):
        c, level = solve([grid[i][:2] for i in at], [grid[i][2] for i in at], basis)
        err = [wf - w * sum(ck * x**p for ck, p in zip(c, basis)) for x, w, wf in grid]
        peaks = []
        for i, v in enumerate(err):
            if peaks and (v > 0) == (err[peaks[-1]] > 0):
                if abs(v) > abs(err[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > n:
            peaks.pop(0 if abs(err[peaks[0]]) < abs(err[peaks[-1]]) else -1)
        worst = max(abs(v) for v in err)
        if best is None or worst < best[1]:
            best = (c, worst)
        if len(peaks) < n or peaks == at or worst < level * mpf("1.0001"):
            break
        at = peaks
    return best


def fit(name, f, lo, hi, powers, weight, n_grid=800):
    grid = []
    for i in range(n_grid + 1):
        x = lo + (hi - lo) * mpf(i) / n_grid
        if x != 0:
            w = weight(x)
            grid.append((x, w, w * f(x)))
    left, fixed = sorted(powers), {}
    while left:
        c, _ = remez(grid, left)
        p = left.pop(0)
        fixed[p] = f32(c[0])
        grid = [(x, w, wf - w * fixed[p] * x**p) for x, w, wf in grid]
    worst = max(abs(wf) for _, _, wf in grid)
    text = ", ".join(float(fixed[p]).hex() for p in sorted(powers, reverse=True))
    print(f"{name}: {{ {text} }} /* {float(worst * 2**24):.3f} */")


def log_rest(scale):
    """(log(1+f) - f + f^2/2) / f^3 times scale."""
    return lambda f: scale * (mp.log1p(f) - f + f * f / 2) / f**3


def erf_tail(x):
    return -mp.log(mp.erfc(x))


ROWS = {
    # exp(r) = 1 + r + r^2 q(r)
    "expm1": (lambda r: (mp.expm1(r) - r) / r**2, -LN2 / 2, LN2 / 2, range(5),
              lambda r: r**2 / mp.exp(r)),
    # the same for tanh, relative to expm1(r) itself
    "expm1_rel": (lambda r: (mp.expm1(r) - r) / r**2, -LN2 / 2, LN2 / 2, range(5),
                  lambda r: r**2 / abs(mp.expm1(r))),
    # 2^r = 1 + r q(r)
    "exp2": (lambda r: (2**r - 1) / r, mpf(-0.5), mpf(0.5), range(6),
             lambda r: abs(r) / 2**r),
    # log(1+f) = f - f^2/2 + f^3 q(f)
    "log": (log_rest(1), mpf(-1) / 3, mpf(1) / 3, range(9),
            lambda f: abs(f**3 / mp.log1p(f))),
    # log(1+f)/ln 2 = f/ln 2 + f^2 q(f)
    "log2": (lambda f: (mp.log1p(f) - f) / f**2 / LN2, mpf(-1) / 3, mpf(1) / 3, range(9),
             lambda f: abs(f**2 / mp.log1p(f) * LN2)),
    "log10": (lambda f: (mp.log1p(f) - f) / f**2 / mp.log(10), mpf(-1) / 3, mpf(1) / 3,
              range(9), lambda f: abs(f**2 / mp.log1p(f) * mp.log(10))),
    # erf(x) = x + x q(x^2) below the joint, z = x^2
    "erf_small": (lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1, mpf(0), mpf(1), range(7),
                  lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z))),
    # erf(x) = 1 - exp(-q(x)) above it; the error is that of erf
    "erf_large": (erf_tail, mpf("0.99"), mpf("3.93"), range(8),
                  lambda x: mp.erfc(x) / mp.erf(x)),
    # atan(x) = x + x z q(z), z = x^2
    "atan": (lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mpf(0), mpf(1), range(8),
             lambda z: z * mp.sqrt(z) / mp.atan(mp.sqrt(z))),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or ROWS:
        fit(name, *ROWS[name])
