"""bench/models/first.py: what a cold process takes, of the tiny network and of a model."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx
import stand_in

HONE = pathlib.Path(os.environ["HONE_BIN"]) / "hone"
FIRST = pathlib.Path(__file__).parents[2] / "bench" / "models" / "first.py"


def first(folder, clock):
    """The rows that first.py prints, in words."""
    path = folder / "small.onnx"
    onnx.save(stand_in.model(), path)
    command = [sys.executable, FIRST, "--hone", HONE, "--option=--auto", path]
    command += ["--threads", "1,2", "--processes", "1", "--seconds", "0", "--clock", clock]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()[1:]]


class First(unittest.TestCase):
    def test_rows(self):
        for clock in ("wall", "cpu"):
            with tempfile.TemporaryDirectory() as folder:
                rows = first(pathlib.Path(folder), clock)
            names = [(row[0], row[2]) for row in rows]
            self.assertEqual(names, [(n, t) for n in ("tiny", "small") for t in "12"])
            for row in rows:
                cold, populated, warm = map(float, row[3:6])
                self.assertGreater(min(cold, populated), warm)
                self.assertGreater(warm, 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
