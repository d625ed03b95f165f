"""Stands in for `hone compile MODEL -o DIR`: builds stub.c, whose fault is the model's name.

Two names more: "refuse" is not compiled, "mute" neither, and without a reason.
"""

import os
import pathlib
import struct
import subprocess
import sys

FAULTS = "none wrong status crash hang outside stateful input_written unwritten".split()
RUNTIME = "graph/runtime/model_run.c"


def build(source, fault, folder):
    code = [pathlib.Path(__file__).with_name("stub.c"), source / RUNTIME]
    command = [os.environ.get("HONE_CC", "cc"), "-shared", "-fPIC", f"-I{source / 'include'}"]
    command += [f"-DFAULT={fault.upper()}", *map(str, code), "-o", str(folder / "libmodel.so")]
    subprocess.run(command, check=True)
    (folder / "model.h").write_text("extern const struct hone_model stub_model;\n")
    (folder / "model.weights").write_bytes(struct.pack("f", 1.5))


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
