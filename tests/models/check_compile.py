"""`hone compile` on small nets and on each odd form of an operator: all answers are right, but for
those whose operator hone has not, which it must say."""

import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import make
import odd
import onnx

HERE = pathlib.Path(__file__).parent

# By name, and a part of the reason; a row goes when its operator comes.
REFUSED = {}


def write_all(folder):
    """The models to try, as files."""
    models = odd.forms()
    models.update((name, made()) for name, made in make.SMALL.items() if "odd" not in name)
    for name, model in models.items():
        onnx.save(model, folder / f"{name}.onnx")


def rows(folder, hone):
    """What run.py finds, by model."""
    answers = folder / "rows.jsonl"
    command = [sys.executable, HERE / "run.py", "--hone", hone, "--option=--auto", "--jobs", "2"]
    command += ["--json", answers, *sorted(folder.glob("*.onnx"))]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    found = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    return {row["model"]: row for row in found}


def flaw(name, row):
    """What is not as it should be, or None."""
    said = f"{row['status']} {row['why']}".strip()
    if name not in REFUSED:
        return None if row["status"] == "right" else said
    return None if row["status"] == "refused" and REFUSED[name] in row["why"] else said


class Compile(unittest.TestCase):
    def test_answers(self):
        hone = pathlib.Path(os.environ["HONE_BIN"]) / "hone"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            os.environ["HONE_HOME"] = str(folder / "home")
            write_all(folder)
            found = rows(folder, hone)
        self.assertGreater(len(found), 150)
        for name, row in found.items():
            with self.subTest(name):
                self.assertIsNone(flaw(name, row))


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # the quantizer's advice
    sys.exit(unittest.main())
