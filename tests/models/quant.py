"""8-bit forms of a net, as ONNX Runtime's quantizer makes them: models that go with the others.

Calibrated on random data: the scales suit what the tests feed in, nothing else.
"""

import pathlib
import tempfile

import numpy as np
import onnx


def draw(rng, tensor):
    """Floats of any size; of integers, which are tokens, kinds and masks, zeros and ones."""
    shape = [d.dim_value for d in tensor.shape.dim]
    if tensor.elem_type == onnx.TensorProto.FLOAT:
        return rng.standard_normal(shape, dtype=np.float32)
    return rng.integers(0, 2, shape)


class RandomData:
    """A few random inputs, as the quantizer wants them: one dictionary at a time, then None."""

    def __init__(self, model, count, seed):
        rng, self.left = np.random.default_rng(seed), count
        self.draw = lambda: {i.name: draw(rng, i.type.tensor_type) for i in model.graph.input}

    def get_next(self):
        self.left -= 1
        return self.draw() if self.left >= 0 else None


def by_files(model, quantize):
    """quantize(path of the model, path of what it makes), between two temporary files."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = (str(pathlib.Path(folder) / f"{name}.onnx") for name in ("from", "to"))
        onnx.save(model, source)
        quantize(source, target)
        return onnx.load(target)


def static(model, seed=7, **options):
    """QDQ: QuantizeLinear and DequantizeLinear around what is computed in bytes."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    def quantize(source, target):
        quantize_static(
            source,
            target,
            RandomData(model, 3, seed),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            **options,
        )

    return by_files(model, quantize)


def static_products(model):
    """QDQ around the operands of products alone, those of attention too.  Results are floats."""
    products = ["MatMul", "Gemm"]
    return static(
        model,
        op_types_to_quantize=products,
        extra_options={"OpTypesToExcludeOutputQuantization": products},
    )


def dynamic(model):
    """DynamicQuantizeLinear and MatMulInteger: activations are quantized as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return by_files(
        model, lambda source, target: quantize_dynamic(source, target, weight_type=QuantType.QInt8)
    )
