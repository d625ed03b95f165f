"""bench/models/race.py times who answers rightly, and says why the others do not race."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import onnx
import stand_in

RACE = pathlib.Path(__file__).parents[2] / "bench" / "models" / "race.py"


def race(folder, *names):
    """What race.py prints on models of these names, and its rows."""
    paths, rows = [folder / f"{name}.onnx" for name in names], folder / "rows.jsonl"
    for path in paths:
        onnx.save(stand_in.model(), path)
    command = [sys.executable, RACE, "--hone", stand_in.command(folder), *paths, "--steps"]
    command += ["--only", "hone", "onnxruntime", "--rounds", "2", "--seconds", "0", "--json", rows]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, [json.loads(line) for line in rows.read_text().splitlines()]


class Race(unittest.TestCase):
    def test_who_races(self):
        with tempfile.TemporaryDirectory() as folder:
            text, rows = race(pathlib.Path(folder), "none", "wrong", "refuse")
        racers = [(row["model"], row["contender"]) for row in rows]
        both = [("none", "hone"), ("none", "onnxruntime")]
        self.assertEqual(racers, [*both, ("wrong", "onnxruntime"), ("refuse", "onnxruntime")])
        self.assertIn("wrong: hone does not race: y: error", text)
        self.assertIn("refuse: hone does not race: hone: node add_0", text)
        self.assertIn("1 steps take", text)
        self.assertEqual(rows[0]["ratio"], 1)
        self.assertGreater(rows[1]["ratio"], 0)
        self.assertIsNone(rows[2]["ratio"])


if __name__ == "__main__":
    sys.exit(unittest.main())
