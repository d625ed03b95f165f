"""8-bit forms of a net, as ONNX Runtime's quantizer makes them: models that go with the others.

Calibrated on random data: the scales suit what the tests feed in, nothing else.
"""

import pathlib
import tempfile

import numpy as np
import onnx


class RandomData:
    """A few random inputs, as the quantizer wants them: one dictionary at a time, then None."""

    def __init__(self, model, count, seed):
        rng, self.left = np.random.default_rng(seed), count
        self.draw = lambda: {
            i.name: rng.standard_normal(
                [d.dim_value for d in i.type.tensor_type.shape.dim], dtype=np.float32
            )
            for i in model.graph.input
        }

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


def static(model, seed=7):
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
        )

    return by_files(model, quantize)


def dynamic(model):
    """DynamicQuantizeLinear and MatMulInteger: activations are quantized as they come."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return by_files(
        model, lambda source, target: quantize_dynamic(source, target, weight_type=QuantType.QInt8)
    )
