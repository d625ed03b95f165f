"""The models that make.py makes are the same each time, and ONNX Runtime computes finite, varied
answers with them at the sizes that the tests use and, where sizes are open, at others."""

import logging
import sys
import unittest

import inputs
import make
import numpy as np
import onnxruntime

OTHER_SIZES = {"batch": 3, "sequence": 11}


def answers(model, sizes):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"]
    )
    return session.run(None, inputs.draw(model, sizes))


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

    def test_answers_are_sane(self):
        for name, made in make.SMALL.items():
            model = made()
            for sizes in ({}, OTHER_SIZES) if inputs.symbols(model) else ({},):
                with self.subTest(name, sizes=sizes):
                    found = zip(model.graph.output, answers(model, sizes), strict=True)
                    flaws = [f"{o.name}: {flaw(array)}" for o, array in found if flaw(array)]
                    self.assertEqual(flaws, [])


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the quantizer's advice
    sys.exit(unittest.main())
