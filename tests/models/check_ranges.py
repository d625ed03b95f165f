"""`hone compile` for ranges of sizes: one library has the right answer at every size, says no to the
others, and what cannot be for a range is told."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import make
import onnx
import points
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


def pairs():
    """Each row with each: lanes and sums are as long as the size."""
    g = Graph("pairs", opset=17)
    x = g.input("x", ["sequence", 24])
    y = g.node("Softmax", g.node("MatMul", x, g.node("Transpose", x, perm=[1, 0])))
    g.output("y", g.node("MatMul", y, x))
    return g.model()


def squeezed():
    """Strides, padding, a residual, and a factor for each channel from the mean over the image."""
    g = Graph("squeezed", opset=17)
    x = g.input("image", [1, 3, "height", "width"])
    x = g.node("Relu", vision.conv(g, x, 3, 8, 3, stride=2))
    y = vision.conv(g, g.node("Relu", vision.conv(g, x, 8, 8, 3, stride=2)), 8, 8, 3)
    z = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = g.node("Add", y, g.node("Mul", z, g.node("Sigmoid", g.node("GlobalAveragePool", y))))
    up = g.node("Resize", y, "", g.const([1, 1, 2, 2]), mode="nearest")
    g.output("y", g.node("Concat", up, x, axis=1))
    g.output("mean", g.node("GlobalAveragePool", x))
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

    def test_sequence(self):
        model, path = self.made("bert_small_dyn")
        library = self.compiled(path, "batch=1", "sequence=1..64")
        at = [{"batch": 1, "sequence": n} for n in range(1, 65)]
        points.compare(self, model, path, library, at, ["sequence"])
        for size in (*OUTSIDE, 65):
            self.assertEqual(library.status_sized([size]), SIZE)
        self.assertEqual(library.caller()(), SIZE)  # it wants sizes

    def test_causal(self):
        """A mask is a corner of the largest one."""
        model, path = self.made("gpt_small_dyn")
        library = self.compiled(path, "batch=1", "sequence=1..20")
        at = [{"batch": 1, "sequence": n} for n in range(1, 21)]
        points.compare(self, model, path, library, at, ["sequence"])

    def test_batch(self):
        model, path = self.made("resnet_small_dyn")
        library = self.compiled(path, "batch=1..5")
        at = [{"batch": n} for n in range(1, 6)]
        points.compare(self, model, path, library, at, ["batch"])
        for size in (*OUTSIDE, 6):
            self.assertEqual(library.status_sized([size]), SIZE)

    def test_parts(self):
        model, path = self.made("parts", parts)
        library = self.compiled(path, "batch=1..6")
        points.compare(self, model, path, library, [{"batch": n} for n in range(1, 7)], ["batch"])

    def test_height_and_width(self):
        """Multiples of a step: what is half of the image, or a mean over it, is a form of them."""
        model, path = self.made("squeezed", squeezed)
        library = self.compiled(path, "height=8..32:8", "width=4..20:4")
        at = [{"height": h, "width": w} for h in (8, 16, 32) for w in (4, 8, 12, 16, 20)]
        points.compare(self, model, path, library, at, ["height", "width"])
        for sizes in ([9, 4], [8, 6], [40, 4], [0, 4], [-8, 4], [8, 24]):
            self.assertEqual(library.status_sized(sizes), SIZE)
        header = (self.folder / "out" / "model.h").read_text(encoding="utf-8")
        self.assertIn("from 8 to 32, a multiple of 8", header)
        self.assertIn("float32[1, 16, height / 2, width / 2]", header)

    def test_both(self):
        model, path = self.made("bert_small_dyn")
        library = self.compiled(path, "sequence=1..7", "batch=1..3")
        at = [{"batch": n, "sequence": m} for n in range(1, 4) for m in range(1, 8)]
        points.compare(self, model, path, library, at, ["sequence", "batch"])
        for sizes in ([0, 1], [1, 0], [8, 3], [7, 4]):
            self.assertEqual(library.status_sized(sizes), SIZE)

    def test_bench(self):
        """bench/models/ranges.py: a row for each size, and their means."""
        _, path = self.made("pairs", pairs)
        bench = pathlib.Path(__file__).parents[2] / "bench" / "models" / "ranges.py"
        command = [sys.executable, bench, "--hone", f"{os.environ['HONE_BIN']}/hone", path]
        command += ["--dim", "sequence=1..20", "--points", "2", "--rounds", "1", "--seconds", "0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = [line.split()[-1] for line in done.stdout.splitlines()[1:3]]
        self.assertEqual(ends, ["20", "1"])
        self.assertIn("regret: geometric mean", done.stdout)
        self.assertIn("peer: geometric mean", done.stdout)

    def test_refusals(self):
        _, path = self.made("bert_small_dyn")
        out = ("-o", self.folder / "no")
        for dim, words in (
            ("sequence=5..2", "nor a range"),
            ("sequence=0..4", "nor a range"),
            ("sequence=1..", "nor a range"),
            ("sequence=1..99999", "combinations of sizes"),
            ("sequence=4..30:4", "multiples of the step, 4"),
            ("sequence=2..16:4", "multiples of the step, 4"),
            ("sequence=4..16:0", "nor a range"),
            ("sequence=4..16:", "nor a range"),
            ("sequence=60..66", "at sequence = 66"),
        ):
            done = hone("compile", path, "--auto", "--dim", "batch=1", "--dim", dim, *out)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)

    def test_shown(self):
        _, path = self.made("bert_small_dyn")
        dims = ("--dim", "batch=1", "--dim", "sequence=1..20")
        done = hone("model", path, *dims)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = [line for line in done.stdout.splitlines() if line.startswith("sequence = ")]
        parts = ["17..20", "2..4", "5..8", "9..16", "1..1"]
        self.assertEqual(shown, [f"sequence = {part}, at the largest" for part in parts])
        self.assertIn("to16_k04_matmul", done.stdout)
        at_one = done.stdout.split("sequence = 1..1")[1]  # with the weights of the others
        self.assertIn("r1_k04_matmul", at_one)
        self.assertIn("k03_matmul_add", at_one)
        self.assertNotIn("r1_k03_matmul_add", at_one)
        done = hone("check", path, *dims)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = [line for line in done.stdout.splitlines() if line.startswith("sequence = ")]
        self.assertEqual(shown, [f"sequence = {part}" for part in parts])

    def test_tuned(self):
        """Kernels for a range have the records of their largest sizes."""
        model, path = self.made("pairs", pairs)
        dims = ("--dim", "sequence=1..40")
        done = hone("tune", path, *dims, "--trials", "16")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = hone("compile", path, *dims, "-o", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads((self.folder / "out" / "model.json").read_text(encoding="utf-8"))
        sized = [kernel for kernel in made["kernels"] if "sizes" in kernel["dag"]]
        self.assertGreater(len(sized), 3)
        self.assertIn("record", [kernel["origin"] for kernel in sized])
        at = [{"sequence": n} for n in range(1, 41)]
        points.compare(self, model, path, Library(self.folder / "out"), at, ["sequence"])


if __name__ == "__main__":
    sys.exit(unittest.main())
