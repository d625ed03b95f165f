"""The program graph_run, kept running: a model and its inputs in, outputs back."""

import os
import pathlib
import re
import subprocess
import tempfile

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

TYPES = {"bfloat16": ml_dtypes.bfloat16}


class Runner:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["HONE_GRAPH_RUN"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, model, inputs):
        """("ok", outputs), ("refused", why) or ("failed", why)."""
        onnx.save(model, self.path / "model.onnx")
        for i, x in enumerate(inputs):
            np.ascontiguousarray(x).tofile(self.path / f"input_{i}.bin")
        self.process.stdin.write(f"{self.path}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line == "":
            code = self.process.wait()
            self.start()
            return "failed", f"graph_run ended with {code}"
        word, _, rest = line.rstrip("\n").partition(" ")
        if word != "ok":
            return word, rest
        return word, [self.output(i, text) for i, text in enumerate(rest.split())]

    def output(self, i, text):
        name, dims = re.fullmatch(r"(\w+)\[(.*)\]", text).groups()
        data = np.fromfile(self.path / f"output_{i}.bin", dtype=TYPES.get(name, name))
        return data.reshape([int(d) for d in dims.split(",") if d])


def with_constants(model, inputs, keep):
    """The model for these inputs: the first `keep` stay inputs, of known shapes; others are
    weights.  Returns it and the inputs that are left."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    weights = {w.name for w in model.graph.initializer}
    values = [v for v in model.graph.input if v.name not in weights]
    for i, (value, x) in enumerate(zip(values, inputs)):
        if i < keep:
            shape = value.type.tensor_type.shape
            del shape.dim[:]
            for d in x.shape:
                shape.dim.add().dim_value = d
        else:
            tensor = numpy_helper.from_array(np.asarray(x), value.name)
            tensor.data_type = value.type.tensor_type.elem_type
            model.graph.initializer.append(tensor)
            model.graph.input.remove(value)
    return model, inputs[:keep]


def difference(got, want, rtol, atol):
    """None, or what is wrong."""
    want = np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype}{list(got.shape)} in the place of {want.dtype}{list(want.shape)}"
    narrow = {"float16": 2e-3, "bfloat16": 2e-2}.get(str(want.dtype), 0)
    try:
        np.testing.assert_allclose(
            got.astype(np.float64),
            want.astype(np.float64),
            rtol=max(rtol, narrow),
            atol=max(atol, narrow / 4),
        )
    except AssertionError as e:
        return " ".join(str(e).split())[:200]
    return None
