"""`hone compile --target opencl` on small nets, on nets drawn at random, and on some odd forms of
operators: all answers are right on the device (PoCL where there is no GPU).  Skipped where there is
none.

More of them: `run.py --hone HONE --option=--target=opencl FOLDER/*.onnx`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import make
import onnx

HERE = pathlib.Path(__file__).parent
HONE = pathlib.Path(os.environ["HONE_BIN"]) / "hone"
NAMES = ("resnet_small", "mobilenet_small", "bert_small", "odd_shapes", "odd_pools")
COUNT = 12  # drawn at random
# A GPU's programs, which cores run one thread after the other, are slow there.
GPU = "opencl -isa=opencl"


def has_device():
    listed = subprocess.run([HONE, "board", "list"], capture_output=True, text=True, check=False)
    return "target  opencl" in listed.stdout


def rows(folder, target, models):
    """What run.py finds."""
    answers = folder / "rows.jsonl"
    answers.unlink(missing_ok=True)
    command = [sys.executable, HERE / "run.py", "--hone", HONE, f"--option=--target={target}"]
    command += ["--jobs", "2", "--json", answers, *models]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


@unittest.skipUnless(has_device(), "no OpenCL device")
class Gpu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        os.environ["HONE_HOME"] = str(self.folder / "home")

    def assert_right(self, found, count):
        self.assertEqual(len(found), count)
        for row in found:
            with self.subTest(row["model"]):
                self.assertEqual(row["status"], "right", row["why"])

    def test_nets_that_people_use(self):
        for name in NAMES:
            onnx.save(make.SMALL[name](), self.folder / f"{name}.onnx")
        models = sorted(self.folder.glob("*.onnx"))
        self.assert_right(rows(self.folder, "opencl", models), len(NAMES))

    def test_nets_drawn_at_random(self):
        draw = [sys.executable, HERE / "random_net.py", self.folder, "0", str(COUNT)]
        subprocess.run(draw, check=True)
        models = sorted(self.folder.glob("*.onnx"))
        self.assert_right(rows(self.folder, "opencl", models), COUNT)
        self.assert_right(rows(self.folder, GPU, models[:4]), 4)


if __name__ == "__main__":
    unittest.main()
