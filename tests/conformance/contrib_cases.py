"""Operators that onnxruntime's optimizer writes into files, against onnxruntime."""

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import runner

# operator, shapes of operands (None = left out), attributes
CASES = [
    ("com.microsoft.Gelu", [(3, 4)], {}),
    ("com.microsoft.QuickGelu", [(3, 4)], {}),
    ("com.microsoft.QuickGelu", [(3, 4)], {"alpha": 1.25}),
    ("com.microsoft.FastGelu", [(3, 4)], {}),
    ("com.microsoft.FastGelu", [(2, 3, 4), (4,)], {}),
    ("com.microsoft.BiasGelu", [(2, 3, 4), (4,)], {}),
    ("com.microsoft.FusedMatMul", [(2, 4, 3), (2, 5, 4)], {"alpha": 0.5, "transA": 1, "transB": 1}),
    ("com.microsoft.FusedMatMul", [(3, 4), (4, 5)], {}),
    ("com.microsoft.SkipLayerNormalization", [(2, 3, 8), (2, 3, 8), (8,), (8,), (8,)], {}),
    ("com.microsoft.SkipLayerNormalization", [(2, 3, 8), (2, 3, 8), (8,)], {"epsilon": 0.1}),
    ("com.microsoft.SkipSimplifiedLayerNormalization", [(2, 3, 8), (2, 3, 8), (8,), (8,)], {}),
    ("SimplifiedLayerNormalization", [(2, 3, 8), (8,)], {"epsilon": 0.01}),
]


def build(op, shapes, attributes):
    domain, _, name = op.rpartition(".")
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, s) for i, s in enumerate(shapes)]
    node = helper.make_node(name, [v.name for v in inputs], ["y"], domain=domain, **attributes)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "case", inputs, [output])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def main():
    hone, faults = runner.Runner(), 0
    for number, (op, shapes, attributes) in enumerate(CASES):
        rng = np.random.default_rng(number)
        inputs = [rng.standard_normal(s).astype(np.float32) for s in shapes]
        model = build(op, shapes, attributes)
        session = onnxruntime.InferenceSession(model.SerializeToString())
        want = session.run(None, {f"x{i}": x for i, x in enumerate(inputs)})
        what, got = hone.run(model, inputs)
        wrong = runner.difference(got[0], want[0], 1e-4, 1e-6) if what == "ok" else got
        if wrong:
            faults += 1
            print(f"{op} {attributes}: {what}: {wrong}")
    print(f"{len(CASES) - faults} of {len(CASES)} are right")
    return faults > 0


sys.exit(main())
