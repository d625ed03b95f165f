"""Operators that onnxruntime's optimizer writes into files, against onnxruntime."""

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import runner

NBITS = {"bits": 4, "block_size": 32}


def bits(*shape):
    """Of an operand that is bytes, not floats."""
    return ("uint8", shape)


# operator, shapes of operands, attributes
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
    ("com.microsoft.MatMulNBits", [(3, 64), bits(6, 2, 16), (12,)], {**NBITS, "K": 64, "N": 6}),
    (
        "com.microsoft.MatMulNBits",
        [(2, 3, 70), bits(6, 3, 16), (18,), bits(12)],
        {**NBITS, "K": 70, "N": 6},
    ),
    (
        "com.microsoft.MatMulNBits",
        [(3, 64), bits(6, 2, 32), (12,)],
        {**NBITS, "K": 64, "N": 6, "bits": 8},
    ),
]


def is_bits(shape):
    return shape[:1] == ("uint8",)


def draw(rng, shape):
    if is_bits(shape):
        return rng.integers(0, 256, shape[1], dtype=np.uint8)
    return rng.standard_normal(shape).astype(np.float32)


def build(op, shapes, attributes):
    domain, _, name = op.rpartition(".")
    inputs = [
        helper.make_tensor_value_info(f"x{i}", *((TensorProto.UINT8, s[1]) if is_bits(s) else (TensorProto.FLOAT, s)))
        for i, s in enumerate(shapes)
    ]
    node = helper.make_node(name, [v.name for v in inputs], ["y"], domain=domain, **attributes)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "case", inputs, [output])
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def main():
    hone, faults = runner.Runner(), 0
    for number, (op, shapes, attributes) in enumerate(CASES):
        rng = np.random.default_rng(number)
        inputs = [draw(rng, s) for s in shapes]
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
