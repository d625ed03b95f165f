"""`hone compile` on networks drawn at random (random_net.py): operators in company that no exporter
gives them.  All answers are right.

More of them: `random_net.py FOLDER FIRST COUNT`, then `run.py --hone HONE FOLDER/*.onnx`.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
COUNT = 24


class Random(unittest.TestCase):
    def test_answers(self):
        hone = pathlib.Path(os.environ["HONE_BIN"]) / "hone"
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            os.environ["HONE_HOME"] = str(folder / "home")
            subprocess.run([sys.executable, HERE / "random_net.py", folder, "0", str(COUNT)], check=True)
            answers = folder / "rows.jsonl"
            command = [sys.executable, HERE / "run.py", "--hone", hone, "--jobs", "2"]
            command += ["--json", answers, *sorted(folder.glob("*.onnx"))]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            lines = answers.read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), COUNT)
        for row in map(json.loads, lines):
            with self.subTest(row["model"]):
                self.assertEqual(row["status"], "right", row["why"])


if __name__ == "__main__":
    unittest.main()
