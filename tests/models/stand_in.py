"""Stands in for `hone compile MODEL -o DIR`: builds stand_in.c, whose fault is the model's name.

Two names more: "refuse" is not compiled, "mute" neither, and without a reason.
"""

import os
import pathlib
import struct
import subprocess
import sys

from graph import Graph

FAULTS = "none wrong status crash hang outside stateful input_written unwritten".split()
FLAGS = "-fPIC -D_GNU_SOURCE -pthread".split()


def build(source, fault, folder):
    folder.mkdir(parents=True, exist_ok=True)
    cc = [os.environ.get("HONE_CC", "cc"), *FLAGS, f"-I{source}", f"-I{source / 'include'}"]
    code = pathlib.Path(__file__).with_name("stand_in.c"), source / "graph/runtime/model_run.c"
    model, pool = folder / "libmodel.so", folder / "hone_pool.o"
    subprocess.run([*cc, f"-DFAULT={fault.upper()}", "-shared", *code, "-o", model], check=True)
    subprocess.run([*cc, "-c", source / "base/pool.c", "-o", pool], check=True)
    (folder / "model.h").write_text("extern const struct hone_model stand_in_model;\n")
    (folder / "model.json").write_text('{"kernels": [{"name": "add", "flops": 4}]}')
    (folder / "model.weights").write_bytes(struct.pack("f", 1.5))


def command(folder):
    """A script in the folder that is called as hone is."""
    path = folder / "hone"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    path.chmod(0o755)
    return path


def model():
    """What the network computes that is built."""
    g = Graph("stand_in", opset=17)
    g.output("y", g.node("Add", g.input("x", [4]), g.const(1.5)), [4])
    return g.model()


def main():
    fault, folder = pathlib.Path(sys.argv[2]).stem, pathlib.Path(sys.argv[4])
    if fault == "refuse":
        print("hone: node add_0: Add is not for today", file=sys.stderr)
    if fault not in FAULTS:
        return 1
    build(pathlib.Path(__file__).parents[2], fault, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
