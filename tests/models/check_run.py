"""run.py tells right from wrong: every fault that a library of stand_in.c can have, as it is shown."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import judge
import numpy as np
import onnx
import stand_in

HERE = pathlib.Path(__file__).parent

# What the model is called, what its row must say.
ROWS = {
    "none": "right",
    "wrong": "wrong y: error 0.00",
    "status": "failed Failed: run returned -1",
    "crash": "failed died of signal 6",
    "outside": "failed Failed: wrote outside of y",
    "stateful": "failed Failed: two runs, two answers",
    "input_written": "failed Failed: wrote to input x",
    "unwritten": "wrong y: NaN",
    "refuse": "refused hone: node add_0: Add is not for today",
    "mute": "failed Failed: hone ended with 1, without a reason",
}


def run(folder, names, *more):
    """The lines that run.py prints on models of these names, and its status."""
    hone, paths = stand_in.command(folder), [folder / f"{name}.onnx" for name in names]
    for path in paths:
        onnx.save(stand_in.model(), path)
    command = [sys.executable, HERE / "run.py", "--hone", hone, *more, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() + done.stderr.splitlines(), done.returncode


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_row(self, lines, name, row):
        """There is one line of this model, with this status and reason."""
        said, _, why = row.partition(" ")
        found = [line for line in lines if line.split()[:2] == [name, said] and why in line]
        self.assertEqual(len(found), 1, "\n".join([f"{name}: {row}", *lines]))

    def test_each_fault(self):
        lines, status = run(self.folder, ROWS, "--jobs", "2")
        for name, row in ROWS.items():
            self.assert_row(lines, name, row)
        self.assertEqual(status, 1)

    def test_what_hangs(self):
        lines, _ = run(self.folder, ["hang"], "--limit", "2")
        self.assert_row(lines, "hang", "failed not done in")

    def test_status_where_all_is_well(self):
        self.assertEqual(run(self.folder, ["none", "refuse"])[1], 0)

    def test_bfloat16(self):
        lines, status = run(self.folder, ["none", "wrong"], "--dtype", "bfloat16")
        self.assert_row(lines, "none", "right")
        self.assert_row(lines, "wrong", "right")  # by a percent
        self.assertEqual(status, 0)

    def test_threads(self):
        lines, _ = run(self.folder, ["none"], "--threads", "2")
        self.assert_row(lines, "none", "right")


class Rule(unittest.TestCase):
    def why(self, a, b, dtype="float32"):
        a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
        return judge.compare(a, b, dtype=dtype).why

    def test_the_limit(self):
        self.assertEqual(self.why([1, 10.0009], [1, 10]), "")
        self.assertNotEqual(self.why([1, 10.002], [1, 10]), "")

    def test_small_answers_are_not_right_by_being_small(self):
        self.assertNotEqual(self.why([1e-5, 2e-5], [1e-5, 1e-5]), "")

    def test_the_limit_of_bfloat16(self):
        right = [3.0, -3.0, 0.0, 3.0]  # root mean square: 2.6
        self.assertEqual(self.why([3.6, -3.0, 0.3, 3.0], right, "bfloat16"), "")
        self.assertNotEqual(self.why([3.8, -3.0, 0.0, 3.0], right, "bfloat16"), "")
        self.assertNotEqual(self.why([3.0, -3.0, 0.4, 3.0], right, "bfloat16"), "")
        self.assertNotEqual(self.why([3e-6, 5e-6], [3e-6, 4e-6], "bfloat16"), "")

    def test_what_is_not_finite(self):
        self.assertEqual(self.why([np.nan, np.inf, 1], [np.nan, np.inf, 1]), "")
        for a in ([1, np.inf], [np.nan, -np.inf], [np.nan, 1]):
            self.assertNotEqual(self.why(a, [np.nan, np.inf]), "")
        self.assertNotEqual(self.why([np.nan], [1]), "")

    def test_shape_and_type(self):
        self.assertIn("shape", self.why([[1]], [1]))
        self.assertIn("instead of", judge.compare(np.zeros(1), np.zeros(1, np.float32)).why)
        self.assertIn("1 of 2 differ", judge.compare(np.array([1, 2]), np.array([1, 3])).why)

    def test_flat_answers_are_marked(self):
        ones, two = np.ones(3, np.float32), np.array([1, 2], np.float32)
        self.assertTrue(judge.compare(ones, ones).flat)
        self.assertFalse(judge.compare(two, two).flat)


if __name__ == "__main__":
    sys.exit(unittest.main())
