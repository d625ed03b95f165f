"""Whether an answer is right, by one rule for floats; other types must be equal.

An element `a` is right for `b` if |a - b| <= T * (s + |b|).  T is by the type (TOLERANCE); s is the
largest |b| of the tensor, but at most 1, so that small answers are not right by being small.  NaN
answers NaN, an infinity the same infinity.

A network whose products are of bfloat16 answers otherwise than it does in float32.  Its numbers have
8 bits, so each is off by up to 2^-9 of itself, and so is all that is added up of them: what counts
is the size of the tensor, not the element's.  Then s is the root mean square of b.  Errors add up
like a random walk along the network, and the largest of many elements is some five times a usual
one.  T is 2^-3, 64 single roundings.
"""

import numpy as np

TOLERANCE = {"float16": 2e-3, "float32": 1e-4, "float64": 1e-6}
BFLOAT16 = 2**-3


class Verdict:
    """Of one tensor: what is wrong in words ("" if nothing), and the errors that were seen."""

    def __init__(self, why="", absolute=0.0, relative=0.0, flat=False):
        self.why, self.absolute, self.relative, self.flat = why, absolute, relative, flat


def scale_of(b, dtype):
    """What is added to an element's size, of a network with products of this type."""
    return np.sqrt((b**2).mean()) if dtype == "bfloat16" else min(1.0, np.abs(b).max())


def compare_floats(a, b, tolerance, dtype="float32"):
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(b)
    if (
        not np.array_equal(a[~finite], b[~finite], equal_nan=True)
        or not np.isfinite(a[finite]).all()
    ):
        return Verdict("NaN or infinity in other places", np.inf, np.inf)
    a, b = a[finite], b[finite]
    if b.size == 0:
        return Verdict(flat=True)
    error, size = np.abs(a - b), np.abs(b)
    scale = scale_of(b, dtype) + size
    relative = float(
        np.divide(error, scale, out=np.where(error > 0, np.inf, 0), where=scale > 0).max()
    )
    why = "" if relative <= tolerance else f"error {relative:.2g} is above {tolerance:.0e}"
    return Verdict(
        why, float(error.max()), relative, flat=b.size > 1 and np.ptp(b) <= 1e-6 * size.max()
    )


def compare(a, b, tolerance=None, dtype="float32"):
    """A tensor against the right one; `dtype` is of the network's products."""
    if a.dtype != b.dtype:
        return Verdict(f"{a.dtype} instead of {b.dtype}")
    if a.shape != b.shape:
        return Verdict(f"shape {list(a.shape)} instead of {list(b.shape)}")
    if a.dtype.name in TOLERANCE:
        usual = BFLOAT16 if dtype == "bfloat16" else TOLERANCE[a.dtype.name]
        return compare_floats(a, b, tolerance or usual, dtype)
    different = int((a != b).sum())
    return Verdict(f"{different} of {a.size} differ" if different else "", float(different > 0))


def compare_all(found, wanted, names, tolerance=None, dtype="float32"):
    """One verdict for all outputs: the first that is wrong, the worst errors."""
    if len(found) != len(wanted):
        return Verdict(f"{len(found)} outputs instead of {len(wanted)}")
    each = [compare(a, b, tolerance, dtype) for a, b in zip(found, wanted, strict=True)]
    wrong = [f"{name}: {v.why}" for name, v in zip(names, each, strict=True) if v.why]
    more = f" ({len(wrong)} outputs wrong)" if len(wrong) > 1 else ""
    return Verdict(
        wrong[0] + more if wrong else "",
        max((v.absolute for v in each), default=0.0),
        max((v.relative for v in each), default=0.0),
        all(v.flat for v in each),
    )
