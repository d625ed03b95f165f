"""hone: fast kernels for tensor programs, found by search, proved and checked.

>>> import array, hone
>>> A, B = hone.tensor("A", (2, 3)), hone.tensor("B", (3, 2))
>>> i, j, k = hone.indices("i j k")
>>> p = hone.program("mm", [A, B], hone.sum("C", (i, j), A[i, k] * B[k, j]))
>>> mm = hone.tune(p, trials=4).kernel()
>>> a = memoryview(array.array("f", [1, 2, 3, 4, 5, 6])).cast("B").cast("f", (2, 3))
>>> b = memoryview(array.array("f", [1, 0, 0, 1, 1, 1])).cast("B").cast("f", (3, 2))
>>> mm(a, b).tolist()
[[4.0, 5.0], [10.0, 11.0]]

The rest is in docs/python.md.
"""

from ._lib import Corrupt, HoneError, Invalid, NotFound, Unsupported, VersionMismatch
from .curve import svg
from .expr import (Expr, Program, Tensor, call, define, exp, indices, max, maximum, min, minimum,
                   product, program, sum, task_key, tensor, where)
from .kernel import Kernel, build
from .model import Model, compile
from .store import Answer, Store
from .tensors import empty
from .tune import Client, Tuned, tune

__version__ = "0.1.0"
__all__ = ["Answer", "Client", "Corrupt", "Expr", "HoneError", "Invalid", "Kernel", "Model",
           "NotFound", "Program", "Store", "Tensor", "Tuned", "Unsupported", "VersionMismatch",
           "build", "call", "compile", "define", "empty", "exp", "indices", "max", "maximum",
           "min", "minimum", "product", "program", "sum", "svg", "task_key", "tensor", "tune",
           "where"]
