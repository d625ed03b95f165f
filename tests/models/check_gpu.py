"""`hone compile` for GPUs on small nets, on nets drawn at random, and on some odd forms of operators:
all answers are right.  `--target opencl` runs on the device (PoCL where there is no GPU), and is
skipped where there is none; `--target cuda` runs on a driver that is a machine for PTX (tests/ptx).

More of them: `run.py --hone HONE --option=--target=opencl FOLDER/*.onnx`.
"""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import make
import onnx
from library import Library
from points import compare

HERE = pathlib.Path(__file__).parent
HONE = pathlib.Path(os.environ["HONE_BIN"]) / "hone"
SIZE = -20  # HONE_MODEL_SIZE
NAMES = ("resnet_small", "mobilenet_small", "bert_small", "odd_shapes", "odd_pools")
COUNT = 12  # drawn at random
# A GPU's programs, which cores run one thread after the other, are slow there.
GPU = "opencl -isa=opencl"
PYTHON = """
import sys
sys.path.insert(0, sys.argv[1])
import hone, numpy, onnxruntime
net = hone.compile(sys.argv[2], target="opencl", auto=True)
x = numpy.random.rand(*net.inputs[0]["shape"]).astype("float32")
session = onnxruntime.InferenceSession(sys.argv[2])
want = session.run(None, {net.inputs[0]["name"]: x})[0]
for _ in range(2):
    assert abs(numpy.asarray(net(x)[0]) - want).max() < 1e-4
net.close()
net.close()
try:
    hone.compile(sys.argv[2], target="cuda -isa=sm_80", auto=True)
except hone.HoneError as e:
    assert "libcuda.so.1 cannot be loaded: NVIDIA's driver is not installed (-21)" in str(e), e
    print("right")
"""


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


class Nets(unittest.TestCase):
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

    def small(self):
        for name in NAMES:
            onnx.save(make.SMALL[name](), self.folder / f"{name}.onnx")
        return sorted(self.folder.glob("*.onnx"))

    def drawn(self):
        draw = [sys.executable, HERE / "random_net.py", self.folder, "0", str(COUNT)]
        subprocess.run(draw, check=True)
        return sorted(self.folder.glob("*.onnx"))

    def ranged(self, target, name, points, order, *dims):
        """One library for all points."""
        model, path = make.SMALL[name](), self.folder / f"{name}.onnx"
        onnx.save(model, path)
        command = [HONE, "compile", path, "--target", target, "-o", self.folder / name]
        command += [word for dim in dims for word in ("--dim", dim)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        library = Library(self.folder / name)
        self.addCleanup(library.close)
        compare(self, model, path, library, points, order)
        return library


@unittest.skipUnless(has_device(), "no OpenCL device")
class OpenCL(Nets):
    def test_nets_that_people_use(self):
        self.assert_right(rows(self.folder, "opencl", self.small()), len(NAMES))

    def test_nets_drawn_at_random(self):
        models = self.drawn()
        self.assert_right(rows(self.folder, "opencl", models), COUNT)
        self.assert_right(rows(self.folder, GPU, models[:4]), 4)

    def test_ranges(self):
        """Inputs and outputs are as long as the size says; other sizes are told."""
        batches = [{"batch": n} for n in (3, 1, 2, 3)]
        library = self.ranged("opencl", "resnet_small_dyn", batches, ["batch"], "batch=1..3")
        for size in (0, 4, -1, 2**63 - 1):
            self.assertEqual(library.status_sized([size]), SIZE)
            self.assertIn(f"batch is {size}, not 1 to 3", library.error().decode())
        self.assertEqual(library.caller()(), SIZE)
        points = [{"batch": n, "sequence": m} for n in (1, 2) for m in (8, 16)]
        dims = ("sequence=8..16:8", "batch=1..2")
        self.ranged("opencl", "bert_small_dyn", points, ["sequence", "batch"], *dims)

    def test_python(self):
        """hone.compile for a device, its answers, and what a driver says that is not there."""
        script = [sys.executable, "-c", PYTHON, str(HERE.parents[1] / "python")]
        onnx.save(make.SMALL["resnet_small"](), self.folder / "net.onnx")
        env = os.environ | {"HONE_LIB": str(HONE.parents[1] / "lib" / "libhone.so.0")}
        env["LD_LIBRARY_PATH"] = str(self.folder)  # a driver that has no function
        (self.folder / "libcuda.so.1").touch()
        done = subprocess.run(
            [*script, self.folder / "net.onnx"], env=env, capture_output=True, text=True, check=False
        )
        if "ImportError: libhone" in done.stderr:
            self.skipTest("libhone cannot be loaded here")
        self.assertEqual(done.stdout, "right\n", done.stderr)

    def refused(self, name, *dims):
        path = self.folder / f"{name}.onnx"
        onnx.save(make.SMALL[name](), path)
        command = [HONE, "compile", path, "--target", "opencl", "-o", self.folder / "no"]
        command += [word for dim in dims for word in ("--dim", dim)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_too_many_sizes(self):
        self.assertIn(
            "more than 64 combinations of sizes", self.refused("resnet_small_dyn", "batch=1..65")
        )


class Cuda(Nets):
    def setUp(self):
        super().setUp()
        driver = self.folder / "driver"
        driver.mkdir()
        (driver / "libcuda.so.1").symlink_to(os.environ["HONE_MOCK_CUDA"])
        found = os.environ.get("LD_LIBRARY_PATH")
        os.environ["LD_LIBRARY_PATH"] = f"{driver}:{found}" if found else str(driver)
        os.environ["MOCK_CUDA_PTX"] = "1"
        self.faults = self.folder / "faults"
        os.environ["MOCK_CUDA_FAULTS"] = str(self.faults)

    def tearDown(self):
        self.assertFalse(self.faults.exists(), "a kernel had a fault")

    def test_nets_that_people_use(self):
        self.assert_right(rows(self.folder, "cuda -isa=sm_90a", self.small()), len(NAMES))

    def test_nets_drawn_at_random(self):
        self.assert_right(rows(self.folder, "cuda -isa=sm_80", self.drawn()), COUNT)

    def test_ranges(self):
        """In this process, where the driver is found by its name when it is loaded."""
        ctypes.CDLL(os.environ["HONE_MOCK_CUDA"])
        points = [{"batch": n} for n in (2, 1, 2)]
        self.ranged("cuda -isa=sm_80", "resnet_small_dyn", points, ["batch"], "batch=1..2")


if __name__ == "__main__":
    unittest.main()
