"""Who races: each prepares a whole network once, and then answers it again and again.

A contender is made for a Net.  `run` runs the network once; `answers` gives the outputs of the last
run, in the model's order.  All compute in float32 what the file says is float32, unless the Net
asks for bfloat16; ONNX Runtime has none on x86, and stays with float32.
"""

import dataclasses
import pathlib
import subprocess

import library
import onnxruntime


@dataclasses.dataclass
class Net:
    """A model with inputs (by name), the sizes of its open dimensions, and how to run it."""

    path: pathlib.Path
    data: dict
    sizes: dict
    threads: int
    hone: str  # the command, or "" to go without
    options: list  # more for `hone compile`
    built: pathlib.Path  # what it has compiled, a folder a model
    dtype: str = "float32"  # of products

    @property
    def folder(self):
        return self.built / self.path.stem


class Onnxruntime:
    """Inputs and outputs are bound: a run copies nothing."""

    def __init__(self, net):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = net.threads
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(net.path), options, ["CPUExecutionProvider"])
        self.binding = session.io_binding()
        for name, array in net.data.items():
            self.binding.bind_cpu_input(name, array)
        outputs = zip(session.get_outputs(), session.run(None, net.data), strict=True)
        for output, array in outputs:
            value = onnxruntime.OrtValue.ortvalue_from_numpy(array)
            self.binding.bind_ortvalue_output(output.name, value)
        self.run = lambda: session.run_with_iobinding(self.binding)

    def answers(self):
        return [value.numpy() for value in self.binding.get_outputs()]


class Openvino:
    """For latency; by itself it would compute in bfloat16 where the processor can, and in bytes
    where weights are stored as such."""

    def __init__(self, net):
        import openvino

        core = openvino.Core()
        model = core.read_model(net.path)
        model.reshape({name: list(array.shape) for name, array in net.data.items()})
        wishes = {
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
            "INFERENCE_NUM_THREADS": net.threads,
            "INFERENCE_PRECISION_HINT": {"float32": "f32", "bfloat16": "bf16"}[net.dtype],
            "PERFORMANCE_HINT": "LATENCY",
        }
        compiled = core.compile_model(model, "CPU", wishes)
        self.request = compiled.create_infer_request()
        for name, array in net.data.items():
            self.request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        self.n_outputs, self.run = len(compiled.outputs), self.request.infer

    def answers(self):
        return [self.request.get_output_tensor(k).data.copy() for k in range(self.n_outputs)]


class Torch:
    """torch.compile, whose minutes of compiling are not counted."""

    def __init__(self, net):
        import torch
        from torched import compile_file

        self.data, self.no_grad = [torch.from_numpy(x) for x in net.data.values()], torch.no_grad
        self.compiled = compile_file(net.path, net.sizes, self.data, net.threads)

    def run(self):
        with self.no_grad():
            self.last = self.compiled(*self.data)

    def answers(self):
        several = self.last if isinstance(self.last, (list, tuple)) else [self.last]
        return [value.numpy() for value in several]


class TorchGpu:
    """torch.compile on the first CUDA device, in float32 that is not rounded to TF32.  As in hone's
    run, inputs come from this machine's memory and answers go back."""

    def __init__(self, net):
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("torch has no CUDA device here")
        from torched import compile_file

        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        self.data, self.no_grad = [torch.from_numpy(x) for x in net.data.values()], torch.no_grad
        self.compiled = compile_file(net.path, net.sizes, self.data, net.threads, "cuda")

    def run(self):
        with self.no_grad():
            found = self.compiled(*(x.to("cuda", non_blocking=True) for x in self.data))
            several = found if isinstance(found, (list, tuple)) else [found]
            self.last = [value.cpu() for value in several]

    def answers(self):
        return [value.numpy() for value in self.last]


def compiled(net):
    """The folder of the compiled model, compiled unless it is there: a search may have taken
    hours."""
    if not (net.folder / "libmodel.so").exists():
        net.built.mkdir(parents=True, exist_ok=True)
        dims = [f"--dim={name}={value}" for name, value in net.sizes.items()]
        command = [net.hone, "compile", str(net.path), "-o", str(net.folder), *dims]
        command += [] if net.dtype == "float32" else [f"--dtype={net.dtype}"]
        command += net.options
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise library.Failed((done.stderr.strip().split("\n") or [""])[-1])
    return net.folder


class Hone:
    """As `hone compile` makes it."""

    def __init__(self, net):
        self.folder = compiled(net)
        self.compiled = library.Library(self.folder, net.threads)
        self.compiled.load(list(net.data.values()))
        self.run = self.compiled.caller()

    def answers(self):
        return self.compiled.answers()


CONTENDERS = {
    "hone": Hone,
    "onnxruntime": Onnxruntime,
    "openvino": Openvino,
    "torch": Torch,
    "torch_gpu": TorchGpu,
}
USUAL = ["hone", "onnxruntime", "openvino"]  # torch compiles for minutes: it is asked for
