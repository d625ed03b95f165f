"""Every case of the onnx package, three times: all operands are inputs; all but the first are
constants; all are.

A case passes if each run is right or refused, and one at least is right.  Cases that hone refuses
in every run are those of refusals.txt, with a part of the reason: so a new refusal is seen, and a
refusal that is none any more.
"""

import collections
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader, runner as onnx_runner  # noqa: F401

import runner

REFUSALS = pathlib.Path(__file__).parent / "refusals.txt"
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")

# Cases of which hone differs: it counts whole elements, as onnxruntime and PyTorch do.
DIFFERENT = {
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
}


def read_tensor(path, value):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def read_sets(case):
    """Of a case that lies in files."""
    for folder in sorted(pathlib.Path(case.model_dir).glob("test_data_set_*")):
        sides = []
        for side in ("input", "output"):
            n = len(list(folder.glob(f"{side}_*.pb")))
            sides.append([read_tensor(folder / f"{side}_{i}.pb", None) for i in range(n)])
        yield sides


def cases(words):
    for kind in KINDS:
        for case in loader.load_model_tests(kind=kind):
            if words and not any(w in case.name for w in words):
                continue
            if case.model is not None:
                yield case, case.model, case.data_sets
            else:
                model = onnx.load(pathlib.Path(case.model_dir) / "model.onnx")
                yield case, model, list(read_sets(case))


def plain(values):
    """Tensors, as arrays; None where one is none: a sequence, an absent optional, text."""
    arrays = []
    for v in values:
        if isinstance(v, onnx.TensorProto):
            v = numpy_helper.to_array(v)
        if v is None or isinstance(v, (list, dict)):
            return None
        v = np.asarray(v)
        if v.dtype.kind in "OUSc":
            return None
        arrays.append(v)
    return arrays


def once(hone, case, model, inputs, outputs, keep):
    model, left = runner.with_constants(model, inputs, keep)
    what, result = hone.run(model, left)
    if what != "ok":
        return what, result
    for i, (got, want) in enumerate(zip(result, outputs)):
        wrong = runner.difference(got, want, case.rtol, case.atol)
        if wrong:
            return "wrong", f"output {i}: {wrong}"
    return "ok", ""


def judge(hone, case, model, data_sets):
    """What the runs of a case say together."""
    reasons, right = [], False
    for inputs, outputs in data_sets:
        inputs, outputs = plain(inputs), plain(outputs)
        if inputs is None or outputs is None:
            return "refused", "no tensors of numbers"
        for keep in sorted({0, min(1, len(inputs)), len(inputs)}, reverse=True):
            what, why = once(hone, case, model, inputs, outputs, keep)
            if what in ("wrong", "failed"):
                return what, f"with {keep} inputs: {why}"
            right |= what == "ok"
            reasons.append(why)
    return ("ok", "") if right else ("refused", reasons[-1])


def read_refusals():
    """{name of a case: part of the reason}; a name may end with *."""
    known = []
    for line in REFUSALS.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, why = line.partition(" ")
            known.append((re.compile(re.escape(name).replace(r"\*", ".*")), why.strip()))
    return known


def main():
    warnings.simplefilter("ignore")
    hone, known = runner.Runner(), read_refusals()
    count, faults, used = collections.Counter(), 0, set()
    for case, model, data_sets in cases(sys.argv[1:]):
        what, why = judge(hone, case, model, data_sets)
        if what == "refused":
            match = [i for i, k in enumerate(known) if k[0].fullmatch(case.name) and k[1] in why]
            used.update(match)
            what = "refused, as listed" if match else "refused, not listed"
        if case.name in DIFFERENT:
            what = "different, as listed" if what == "wrong" else "no longer different"
        count[what] += 1
        if what in ("wrong", "failed", "refused, not listed", "no longer different"):
            faults += 1
            print(f"{case.name}: {what}: {why}")
    for i, (pattern, why) in enumerate(known):
        if i not in used and not sys.argv[1:]:
            faults += 1
            print(f"refusals.txt: no case is refused so: {pattern.pattern} {why}")
    print(", ".join(f"{n} {what}" for what, n in sorted(count.items())))
    return faults > 0


sys.exit(main())
