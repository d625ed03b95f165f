"""`hone compile` for ranges of sizes: one library has the right answer at every size, says no to the
others, and what cannot be for a range is told."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import inputs
import judge
import make
import onnx
import onnxruntime
import vision
from graph import Graph
from library import Library

SIZE = -20  # HONE_MODEL_SIZE
OUTSIDE = (0, -1, 2**63 - 1, -(2**63))


def hone(*words):
    command = [pathlib.Path(os.environ["HONE_BIN"]) / "hone", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def parts():
    """Concatenations and a slice, whose places in the whole depend on the batch."""
    g = Graph("parts", opset=17)
    x = g.input("image", ["batch", 4, 9, 9])
    y = g.node("Relu", vision.conv(g, x, 4, 6, 3))
    y = g.node("Concat", y, vision.conv(g, x, 4, 5, 1), axis=1)
    y = g.node("Slice", y, g.ints(2), g.ints(9), g.ints(1))
    y = vision.conv(g, y, 7, 3, 3)
    g.output("twice", g.node("Concat", y, g.node("Relu", y), axis=0))
    return g.model()


class Ranges(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        os.environ["HONE_HOME"] = str(self.folder / "home")

    def made(self, name, maker=None):
        model, path = (maker or make.SMALL[name])(), self.folder / f"{name}.onnx"
        onnx.save(model, path)
        return model, path

    def compiled(self, path, *dims):
        words = [word for dim in dims for word in ("--dim", dim)]
        done = hone("compile", path, "--auto", *words, "-o", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        return Library(self.folder / "out")

    def check(self, model, path, library, points, order):
        """Every point: numbers by name, in the library's order."""
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        for point in points:
            data = inputs.draw(model, inputs.fill(model, point))
            arrays = [data[i.name] for i in session.get_inputs()]
            wanted = session.run(None, data)
            found = library.run_sized(
                arrays, [point[name] for name in order], [w.shape for w in wanted]
            )
            with self.subTest(point):
                outputs = [o.name for o in session.get_outputs()]
                self.assertEqual(judge.compare_all(found, wanted, outputs).why, "")

    def test_sequence(self):
        model, path = self.made("bert_small_dyn")
        library = self.compiled(path, "batch=1", "sequence=1..64")
        points = [{"batch": 1, "sequence": n} for n in range(1, 65)]
        self.check(model, path, library, points, ["sequence"])
        for size in (*OUTSIDE, 65):
            self.assertEqual(library.status_sized([size]), SIZE)
        self.assertEqual(library.caller()(), SIZE)  # it wants sizes

    def test_batch(self):
        model, path = self.made("resnet_small_dyn")
        library = self.compiled(path, "batch=1..5")
        points = [{"batch": n} for n in range(1, 6)]
        self.check(model, path, library, points, ["batch"])
        for size in (*OUTSIDE, 6):
            self.assertEqual(library.status_sized([size]), SIZE)

    def test_parts(self):
        model, path = self.made("parts", parts)
        library = self.compiled(path, "batch=1..6")
        self.check(model, path, library, [{"batch": n} for n in range(1, 7)], ["batch"])

    def test_both(self):
        model, path = self.made("bert_small_dyn")
        library = self.compiled(path, "sequence=1..7", "batch=1..3")
        points = [{"batch": n, "sequence": m} for n in range(1, 4) for m in range(1, 8)]
        self.check(model, path, library, points, ["sequence", "batch"])
        for sizes in ([0, 1], [1, 0], [8, 3], [7, 4]):
            self.assertEqual(library.status_sized(sizes), SIZE)

    def test_refusals(self):
        _, path = self.made("bert_small_dyn")
        out = ("-o", self.folder / "no")
        for dim, words in (
            ("sequence=5..2", "nor a range"),
            ("sequence=0..4", "nor a range"),
            ("sequence=1..", "nor a range"),
            ("sequence=1..99999", "combinations of sizes"),
            ("sequence=60..66", "at sequence = 66"),
        ):
            done = hone("compile", path, "--auto", "--dim", "batch=1", "--dim", dim, *out)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
        done = hone("model", path, "--dim", "batch=1", "--dim", "sequence=1..4")
        self.assertIn("only `hone compile` takes a range", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
