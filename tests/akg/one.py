"""One fused operator of AKG: compiles it with hone, runs it, compares; prints a line of JSON.  See
run.py.  In a process of its own, since what is tested may crash."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import reference

sys.path.append(str(pathlib.Path(__file__).parent.parent / "models"))
import judge
import library
from answer import Refused, dim, tell

# float16 is rounded after each operator, and kernels round a fused one once or twice.
TOLERANCE = {"float16": 5e-3}
# Where an operator needs operands from: else they are positive numbers around 1.
BETWEEN = {"ACos": (-0.9, 0.9), "Acos": (-0.9, 0.9), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9)}


def open_sizes(kernel, dims, size):
    """The kernel with a number for each open dimension, and the options that say the same."""
    given, options = dict(dims), []
    for (tensor,) in kernel["input_desc"] or []:
        names = tensor.get("symbolic_shape") or [None] * len(tensor["shape"])
        for k, n in enumerate(tensor["shape"]):
            if n == -1:
                place = f"{tensor['tensor_name']}:{k}"
                symbol = names[k] if names[k] and not str(names[k]).isdigit() else place
                name = place if place in given else symbol
                tensor["shape"][k] = given.get(name, size)
                options.append(f"--dim={name}={tensor['shape'][k]}")
    return sorted(set(options))


def most_place(kernel, name):
    """One more than the largest place that an operand may say; None: it says none."""
    for desc in kernel["op_desc"]:
        op = [t for group in desc["input_desc"] or [] for t in group]
        attr = reference.attributes(desc)
        if len(op) > 1 and op[1]["tensor_name"] == name:
            if desc["name"] == "Gather":
                return op[0]["shape"][attr.get("axis", 0)]
            if desc["name"] in ("GatherNd", "TensorScatterAdd"):
                return min(op[0]["shape"][: (op[1]["shape"] or [1])[-1]])
            if desc["name"] == "UnsortedSegmentSum":
                return attr["num_segments"]
        if desc["name"] == "OneHot" and op[0]["tensor_name"] == name:
            return attr.get("depth") or op[1].get("value")
    return None


def draw(kernel, seed):
    """Inputs by name: floats of both sides of 1, so that roots, logarithms and quotients are."""
    rng, inputs = np.random.default_rng(seed), {}
    for (tensor,) in kernel["input_desc"] or []:
        name, shape, dtype = tensor["tensor_name"], reference.shape_of(tensor), tensor["data_type"]
        users = [
            d["name"]
            for d in kernel["op_desc"]
            if any(t["tensor_name"] == name for g in d["input_desc"] or [] for t in g)
        ]
        low, high = next((BETWEEN[u] for u in users if u in BETWEEN), (0.25, 1.75))
        if dtype == "bool":
            inputs[name] = rng.integers(0, 2, shape).astype(bool)
        elif np.dtype(dtype).kind in "iu":
            inputs[name] = rng.integers(0, most_place(kernel, name) or 10, shape).astype(dtype)
        elif dtype.startswith("complex"):
            inputs[name] = (rng.uniform(low, high, shape) + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
        else:
            inputs[name] = rng.uniform(low, high, shape).astype(dtype)
    return inputs


def as_hone(array):
    """Complex numbers are pairs of floats in a last dimension."""
    if array.dtype.kind != "c":
        return np.ascontiguousarray(array)
    part = np.float32 if array.dtype == np.complex64 else np.float64
    return np.ascontiguousarray(array).view(part).reshape(*array.shape, 2)


def half_ends(array):
    """An infinity of float16 is a number above its largest, which may be off by as much as any."""
    return np.nan_to_num(array, nan=np.nan) if array.dtype == np.float16 else array


def compile_kernel(args, options, folder):
    command = [args.hone, "compile", "--auto", str(args.kernel), "-o", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    reason = (done.stderr.strip().split("\n") or [""])[-1]
    if done.returncode < 0 or (done.returncode > 0 and not reason):
        raise library.Failed(f"hone ended with {done.returncode}: {reason}")
    if done.returncode > 0:
        raise Refused(reason)


def test(args, found):
    kernel = json.loads(args.kernel.read_text(encoding="utf-8"))
    found["ops"] = len(kernel["op_desc"])
    options = open_sizes(kernel, args.dim, args.size)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        compile_kernel(args, options, folder)
        found["seconds"] = round(time.monotonic() - begin, 2)
        inputs = draw(kernel, args.seed)
        outputs, written = reference.evaluate(kernel, inputs)
        made = library.Library(folder)
        found["steps"] = made.model.n_steps
        answers = made.run([as_hone(x) for x in inputs.values()])
        names = [library.text(tensor.name) for tensor, _ in made.outputs]
    wanted = outputs + [(name, dict(written)[name]) for name in names[len(outputs) :]]
    if names != [name for name, _ in wanted]:
        raise library.Failed(f"outputs {names}")
    right = [as_hone(x) for _, x in wanted]
    has_half = any(t["data_type"] == "float16" for d in kernel["op_desc"] for t in d["output_desc"])
    found["status"], found["why"], found["error"] = "right", "", 0.0
    for name, a, b in zip(names, answers, right, strict=True):
        a, b = (half_ends(x) for x in (a, b))
        verdict = judge.compare(a, b, TOLERANCE["float16"] if has_half else args.tolerance)
        found["error"] = max(found["error"], verdict.relative)
        if verdict.why and found["status"] == "right":
            found["status"], found["why"] = "wrong", f"{name}: {verdict.why}"


def add_arguments(parser):
    """What run.py takes as well."""
    parser.add_argument("--hone", required=True, help="the command")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--size", type=int, default=32, help="of other open dimensions")
    parser.add_argument("--seed", type=int, default=0, help="of random inputs")
    parser.add_argument("--tolerance", type=float, help="instead of judge.py's")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernel", type=pathlib.Path)
    add_arguments(parser)
    return tell(test, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
