"""What a model takes, and random data for it.

A dimension that the model leaves open has a name: the model's symbol, or "input:axis" where it
has none.  `sizes` maps such names to numbers; what it does not name is 1 at axis 0, else 16.
"""

import numpy as np
from onnx import TensorProto, helper

BATCH, OTHER = 1, 16


def of(model):
    """The graph's inputs that have no initializer: files of before IR 4 list weights as well."""
    weights = {w.name for w in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in weights]


def dims(value):
    """A number for each dimension that is known, a name for each that is open."""
    return [
        d.dim_value if is_known(d) else named(d.dim_param) or f"{value.name}:{axis}"
        for axis, d in enumerate(value.type.tensor_type.shape.dim)
    ]


def is_known(dim):
    """0 is a size; some exporters write -1 for none."""
    return dim.HasField("dim_value") and dim.dim_value >= 0


def named(symbol):
    """Some exporters write "?", several times in a file, for what has no name."""
    return symbol if symbol != "?" else ""


def symbols(model):
    """Names of the open dimensions, in order."""
    found = [d for i in of(model) for d in dims(i) if isinstance(d, str)]
    return list(dict.fromkeys(found))


def fill(model, sizes):
    """A number for each name that `symbols` lists."""
    first = {dims(i)[0] for i in of(model) if dims(i)}
    return {name: sizes.get(name, BATCH if name in first else OTHER) for name in symbols(model)}


def dtype(value):
    return helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)


def print_like(rng, shape):
    """Pictures of dark blots in rows on white, as printed text is: white 1, black -1."""
    rows, columns = (4 * np.arange(n // 4 + 1) for n in shape[2:])
    ink = rng.random((len(rows), len(columns))) < 0.4 * (rows % 40 < 20)[:, None]
    return np.broadcast_to(1 - 2.0 * ink.repeat(4, 0).repeat(4, 1)[: shape[2], : shape[3]], shape)


def draw(model, sizes, seed=0, printed=False):
    """Random data by input name.  Integers are small, so that they may be indices; masks are 1,
    but the last entry of a row is 0.  printed: floats are pictures of text."""
    rng, sizes, data = np.random.default_rng(seed), fill(model, sizes), {}
    for value in of(model):
        shape = [sizes.get(d, d) for d in dims(value)]
        kind = value.type.tensor_type.elem_type
        if kind in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16):
            array = print_like(rng, shape) if printed else rng.standard_normal(shape)
        elif "mask" in value.name:
            array = np.ones(shape)
            array[..., -1] = 0
        else:
            array = rng.integers(0, 2 if "type" in value.name else 100, shape)
        data[value.name] = np.ascontiguousarray(array, dtype(value)).reshape(shape)
    return data
