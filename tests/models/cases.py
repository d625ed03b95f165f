"""The conformance cases of the `onnx` package, as folders: `cases.py FOLDER [--kind KIND..]`.

A case is NAME/model.onnx with input_0.npy, .. and output_0.npy, .., which run.py reads;
FOLDER/cases.json lists the cases of each operator.  What holds no plain tensors (sequences,
strings, optional values, types that numpy has not) is left out and counted.

Many cases of one operator have a shape, axes or pads as an input of the graph.  hone compiles for
sizes that it knows, so here these operands become constants (PARAMETERS).
"""

import argparse
import collections
import json
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.case import node

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")

# Operands that say sizes or where to look, rather than what to compute with.
PARAMETERS = {
    "CenterCropPad": (1,),
    "Clip": (1, 2),
    "Compress": (1,),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "Dropout": (1, 2),
    "Expand": (1,),
    "OneHot": (1,),
    "Pad": (1, 2, 3),
    "Range": (0, 1, 2),
    "ReduceL1": (1,),
    "ReduceL2": (1,),
    "ReduceLogSum": (1,),
    "ReduceLogSumExp": (1,),
    "ReduceMax": (1,),
    "ReduceMean": (1,),
    "ReduceMin": (1,),
    "ReduceProd": (1,),
    "ReduceSum": (1,),
    "ReduceSumSquare": (1,),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1,),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}


def is_plain(array):
    """Whether numpy itself knows the type, so that a file of it can be read anywhere."""
    return isinstance(array, np.ndarray | np.generic) and np.asarray(array).dtype.kind in "fiub"


def stored_tensors(folder, stem):
    """input_0.pb, input_1.pb, .. of a case that is stored as files."""
    found = []
    while (path := folder / f"{stem}_{len(found)}.pb").exists():
        tensor = onnx.TensorProto.FromString(path.read_bytes())
        found.append(numpy_helper.to_array(tensor))
    return found


def stored(case):
    folder = pathlib.Path(case.model_dir)
    data = folder / "test_data_set_0"
    given = stored_tensors(data, "input"), stored_tensors(data, "output")
    return onnx.load(folder / "model.onnx"), *given


def is_whole(model, given, answers):
    """Whether all inputs and outputs are plain tensors, none missing."""
    return (
        len(given) == len(model.graph.input)
        and len(answers) == len(model.graph.output)
        and all(map(is_plain, [*given, *answers]))
    )


def loaded(case):
    """Model, inputs and outputs, or None for what is not of plain tensors."""
    try:
        model, *data = (case.model, *case.data_sets[0]) if case.model else stored(case)
    except Exception:  # protobuf and numpy have many ways to say that this is no tensor
        return None
    return (model, *data) if is_whole(model, *data) else None


def parameters(model):
    """Names of the graph's inputs that are parameters of a node."""
    return {
        n.input[k]
        for n in model.graph.node
        for k in PARAMETERS.get(n.op_type, ())
        if k < len(n.input)
    }


def with_constants(model, given):
    """The model with its parameters as constants, and the inputs that are left."""
    names, left = parameters(model), []
    fixed = onnx.ModelProto.FromString(model.SerializeToString())
    fixed.ir_version = max(fixed.ir_version, 4)
    fixed.graph.ClearField("input")
    for value, array in zip(model.graph.input, given, strict=True):
        if value.name in names:
            tensor = numpy_helper.from_array(np.asarray(array), value.name)
            fixed.graph.initializer.append(tensor)
        else:
            fixed.graph.input.append(value)
            left.append(array)
    return fixed, left


def write(folder, model, given, answers):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for stem, arrays in (("input", given), ("output", answers)):
        for k, array in enumerate(arrays):
            np.save(folder / f"{stem}_{k}.npy", np.asarray(array))


def collect(kinds):
    """All cases of these kinds."""
    found = [c for kind in kinds if kind != "node" for c in loader.load_model_tests(kind=kind)]
    return found + (node.collect_testcases() if "node" in kinds else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    args = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # cases divide by zero on purpose
    by_op, left_out = collections.defaultdict(list), 0
    for case in collect(args.kind):
        found = loaded(case)
        if found is None:
            left_out += 1
            continue
        model, given, answers = found
        name = case.name.removeprefix("test_")
        write(args.folder / name, *with_constants(model, given), answers)
        for op in sorted({n.op_type for n in model.graph.node}):
            by_op[op].append(name)
    index = json.dumps(by_op, indent=1, sort_keys=True)
    (args.folder / "cases.json").write_text(index, encoding="utf-8")
    count = len({name for names in by_op.values() for name in names})
    print(f"{count} cases of {len(by_op)} operators, {left_out} left out")
    return 0


if __name__ == "__main__":
    sys.exit(main())
