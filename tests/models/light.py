"""The nets that the `onnx` package holds without weights, as they are and with random weights.

All weights of such a file are equal, so that most wrong answers would look right.  In the second
form they are drawn by the place they are used at, at a scale that keeps activations finite.
"""

import math
import pathlib
import shutil

import numpy as np
import onnx
import onnx.backend.test
from onnx import numpy_helper

PREFIX = "light_"
FOLDER = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "light"
IR_VERSION = 8  # from 4 on initializers need not be inputs


def names():
    return sorted(path.stem for path in FOLDER.glob("light_*.onnx"))


def users(graph):
    """By tensor: the nodes that read it, and at which operand; Unsqueeze is looked through."""
    found = {}
    for node in reversed(graph.node):
        for operand, name in enumerate(node.input):
            through = found.get(node.output[0], []) if node.op_type == "Unsqueeze" else []
            found[name] = found.get(name, []) + (through or [(node, operand)])
    return found


def shapes(graph):
    """By tensor: the shapes of what may be a weight, a float initializer or a ConstantOfShape."""
    given = {w.name: w for w in graph.initializer}
    found = {
        name: tuple(w.dims) for name, w in given.items() if w.data_type == onnx.TensorProto.FLOAT
    }
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            found[node.output[0]] = tuple(numpy_helper.to_array(given[node.input[0]]))
    return found


def fan_in(node, shape):
    if node.op_type != "Gemm":
        return math.prod(shape[1:])
    transposed = any(a.name == "transB" and a.i for a in node.attribute)
    return shape[1] if transposed else shape[0]


def draw(rng, node, operand, shape, in_sum):
    """Values of a weight, by what reads it."""
    role = (node.op_type, operand)
    if role in (("Conv", 1), ("Gemm", 1)):
        return rng.standard_normal(shape) * math.sqrt(2 / fan_in(node, shape))
    if role == ("BatchNormalization", 1):
        return rng.uniform(0.8, 1.2, shape) * (0.3 if in_sum else 1)
    if role == ("BatchNormalization", 4) or node.op_type == "Mul":
        return rng.uniform(0.8, 1.2, shape)
    return rng.standard_normal(shape) * 0.1


def filled(model, seed=8):
    """The same net with random weights."""
    graph, rng, weights = model.graph, np.random.default_rng(seed), {}
    readers = users(graph)
    for name, shape in shapes(graph).items():
        for node, operand in readers.get(name, [])[:1]:
            in_sum = any(n.op_type == "Sum" for n, _ in readers.get(node.output[0], []))
            array = draw(rng, node, operand, shape, in_sum).astype(np.float32)
            weights[name] = numpy_helper.from_array(array, name)
    nodes = [n for n in graph.node if n.op_type != "ConstantOfShape" or n.output[0] not in weights]
    used = {name for node in nodes for name in node.input}
    kept = [w for w in graph.initializer if w.name not in weights and w.name in used]
    given = {w.name for w in graph.initializer}
    free = [i for i in graph.input if i.name not in given]
    made = onnx.helper.make_graph(nodes, graph.name, free, graph.output, [*kept, *weights.values()])
    return onnx.helper.make_model(made, opset_imports=model.opset_import, ir_version=IR_VERSION)


def write(name, folder):
    """Both files, unless they are there."""
    plain, full = folder / f"{name}.onnx", folder / f"filled_{name.removeprefix(PREFIX)}.onnx"
    if not plain.exists():
        shutil.copyfile(FOLDER / plain.name, plain)
    if not full.exists():
        onnx.save(filled(onnx.load(plain)), full)
    return [plain, full]
