"""The models that make.py makes are the same each time, and ONNX Runtime computes finite, varied
answers with them at the sizes that the tests use and, where sizes are open, at others."""

import logging
import sys
import unittest

import inputs
import make
import numpy as np
import odd
import onnx
import onnxruntime

OTHER_SIZES = {"batch": 3, "sequence": 11}


def started(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"]
    )


def answers(model, sizes):
    return started(model).run(None, inputs.draw(model, sizes))


def flaw(array):
    """What is wrong with an answer, or None."""
    if not np.isfinite(array.astype(float)).all():
        return "not finite"
    if array.dtype.kind == "f" and not 1e-3 < np.abs(array).max() < 1e3:
        return f"largest value {np.abs(array).max()}"
    return "all values equal" if array.size > 1 and np.ptp(array.astype(float)) == 0 else None


class Made(unittest.TestCase):
    def test_twice_the_same(self):
        for name, made in make.SMALL.items():
            with self.subTest(name):
                self.assertEqual(made().SerializeToString(), made().SerializeToString())

    def test_forms_are_parts_of_the_whole(self):
        whole = make.SMALL["odd"]()
        wanted = dict(zip([o.name for o in whole.graph.output], answers(whole, {}), strict=True))
        for name, model in odd.forms().items():
            with self.subTest(name):
                session = started(model)
                taken = {i.name for i in session.get_inputs()}
                data = {k: v for k, v in inputs.draw(whole, {}).items() if k in taken}
                (answer,) = session.run(None, data)
                self.assertEqual(answer.tobytes(), wanted[name].tobytes())

    def test_answers_are_sane(self):
        for name, made in make.SMALL.items():
            model = made()
            for sizes in ({}, OTHER_SIZES) if inputs.symbols(model) else ({},):
                with self.subTest(name, sizes=sizes):
                    found = zip(model.graph.output, answers(model, sizes), strict=True)
                    flaws = [f"{o.name}: {flaw(array)}" for o, array in found if flaw(array)]
                    self.assertEqual(flaws, [])


class Dimensions(unittest.TestCase):
    def test_open_ones_are_named(self):
        shape = [2, "rows", "?", None, 0]
        value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
        value.type.tensor_type.shape.dim.add().dim_value = -1
        self.assertEqual(inputs.dims(value), [2, "rows", "x:2", "x:3", 0, "x:5"])


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the quantizer's advice
    sys.exit(unittest.main())
