"""A builder for ONNX graphs: nodes in order, weights from a seed.

The nets of this folder say their structure by this alone; `make.py` writes them to files.
"""

import math

import numpy as np
import onnx
from onnx import TensorProto, checker, helper, numpy_helper, shape_inference

TYPES = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
}


class Graph:
    """Nodes are appended in order; each call returns the name of what it computes."""

    def __init__(self, name, opset, seed=1):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs, self.weights = [], [], [], []

    def _name(self, stem):
        return f"{stem}_{len(self.nodes) + len(self.weights)}"

    def input(self, name, shape, dtype="float32"):
        """A dimension is a number, or a string: a symbol."""
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[dtype], shape))
        return name

    def shared_input(self, name, shape):
        """An input that several parts of a graph share."""
        known = any(i.name == name for i in self.inputs)
        return name if known else self.input(name, shape)

    def output(self, name, value, shape=None, dtype="float32"):
        """`value`, under a name of its own, is what the graph answers.  Without a shape both
        type and shape are inferred."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        if shape is None:
            self.outputs.append(onnx.ValueInfoProto(name=name))
        else:
            self.outputs.append(helper.make_tensor_value_info(name, TYPES[dtype], shape))

    def const(self, values, dtype="float32", name=None):
        """An initializer that holds these values."""
        name = name or self._name("const")
        array = np.asarray(values, dtype=dtype)
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *values):
        """A vector of int64: axes, shapes, pads."""
        return self.const(values, "int64")

    def random(self, shape, scale=1.0, mean=0.0):
        """An initializer of normally distributed values."""
        values = self.rng.standard_normal(shape, dtype=np.float32)
        return self.const(values * np.float32(scale) + np.float32(mean), name=self._name("weight"))

    def uniform(self, shape, low, high):
        return self.const(self.rng.uniform(low, high, shape), name=self._name("weight"))

    def kaiming(self, shape, fan_in, gain=2.0):
        """Weights that keep the scale of activations: 2 behind a ReLU, 1 elsewhere."""
        return self.random(shape, math.sqrt(gain / fan_in))

    def node(self, op, *inputs, outputs=1, **attributes):
        """Appends a node; "" stands for an input that is left out.  A list, if outputs > 1."""
        names = [self._name(op.lower()) + f".{i}" * (outputs > 1) for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names if outputs > 1 else names[0]

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], producer_name="hone-tests"
        )
        model.ir_version = 8
        if not all(o.HasField("type") for o in self.outputs):
            typed = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
            model.graph.output.clear()
            model.graph.output.extend(typed.graph.output)
        checker.check_model(model)
        return model
