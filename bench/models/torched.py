"""A model file as what torch.compile understands, by onnx2torch.

onnx2torch computes shapes in Python while the network runs, and each of them would cut it in two.
So ONNX Runtime folds constants first, a reshape is told its shape, and the rest is traced.
"""

import pathlib
import tempfile

import onnx
import onnx2torch
import onnxruntime
import torch
import torch._inductor.config
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.shape_prop import ShapeProp


def folded(path, sizes):
    """The model with its constants folded, for these sizes of its open dimensions."""
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(pathlib.Path(folder) / "folded.onnx")
        options.log_severity_level = 3
        for name, value in sizes.items():
            options.add_free_dimension_override_by_name(name, value)
        onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def tell_shapes(model, data):
    """Reshapes of an fx graph get the shapes that they have with this data."""
    ShapeProp(model).propagate(*data)
    modules = dict(model.named_modules())
    for node in list(model.graph.nodes):
        if type(modules.get(str(node.target))).__name__ != "OnnxReshape":
            continue
        shape = tuple(node.meta["tensor_meta"].shape)
        with model.graph.inserting_after(node):
            told = model.graph.call_function(torch.reshape, (node.args[0], shape))
        node.replace_all_uses_with(told)
        model.graph.erase_node(node)
    model.recompile()


def compile_file(path, sizes, data, threads, device="cpu"):
    """A function of the tensors `data`, or of copies of them on another device; its weights are
    frozen, so that they can be packed."""
    torch._inductor.config.freezing = True
    torch.set_num_threads(threads)
    with torch.no_grad():
        model = onnx2torch.convert(folded(path, sizes)).eval()
        tell_shapes(model, data)
        if device == "cpu":
            return torch.compile(make_fx(model)(*data))
        traced = make_fx(model.to(device))(*(x.to(device) for x in data))
        return torch.compile(traced, mode="reduce-overhead")  # launches become a CUDA graph
