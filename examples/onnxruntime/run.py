"""Run a network in ONNX Runtime, by what `hone compile` made of it where that is faster.

    hone compile net.onnx -o net.hone
    python run.py net.onnx /usr/lib/hone/libhone_ort.so [DIMENSION=SIZE ..]
"""

import sys

import numpy as np
import onnxruntime as ort

TYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}

model, plugin, *sizes = sys.argv[1:]
options = ort.SessionOptions()
for word in sizes:
    name, size = word.split("=")
    options.add_free_dimension_override_by_name(name, int(size))

# These two lines are all that hone needs.
ort.register_execution_provider_library("hone", plugin)
options.add_provider_for_devices(
    [d for d in ort.get_ep_devices() if d.ep_name == "HoneExecutionProvider"], {}
)

session = ort.InferenceSession(model, options)
inputs = {i.name: np.ones(i.shape, TYPES[i.type]) for i in session.get_inputs()}
for output, value in zip(session.get_outputs(), session.run(None, inputs)):
    print(output.name, value.shape, value.dtype)
