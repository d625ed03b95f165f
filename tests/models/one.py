"""One network: compiles it with hone, runs it, compares; prints a line of JSON.  See run.py.

In a process of its own, since what is tested may crash.  Steps that may hang have the caller's
time limit.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import fetch
import inputs
import judge
import library
import numpy as np
import onnx
from answer import Refused, dim, tell


def stored(folder, stem, values):
    """input_0.npy, .. of a folder, of the types that the model says."""
    paths = [folder / f"{stem}_{k}.npy" for k in range(len(values))]
    if not all(path.exists() for path in paths):
        return None
    return [np.load(path) for path in paths]


def reference(path, data):
    """ONNX Runtime's answers; unoptimized, as the operators are written."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    return session.run(None, data)


def compile_model(args, path, sizes, folder):
    """Runs hone; its last line on stderr is the reason of a refusal."""
    dims = [f"--dim={name}={value}" for name, value in sizes.items()]
    command = [args.hone, "compile", str(path), "-o", str(folder), *dims, *args.option]
    command += [f"--dtype={args.dtype}"] if args.dtype else []
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    seconds = time.monotonic() - begin
    reason = (done.stderr.strip().split("\n") or [""])[-1]
    if done.returncode < 0:
        raise library.Failed(f"hone died of signal {-done.returncode}: {reason}")
    if done.returncode > 0 and not reason:
        raise library.Failed(f"hone ended with {done.returncode}, without a reason")
    if done.returncode > 0:
        raise Refused(reason)
    return seconds


def prepare(args):
    """The model's path, the model, its sizes, inputs and the right answers, if they are stored."""
    is_case = args.model.is_dir()
    path = args.model / "model.onnx" if is_case else args.model
    model = onnx.load(path)
    known, printed = fetch.known(path.stem)
    sizes = inputs.fill(model, {**known, **dict(args.dim)})
    free = inputs.of(model)
    given = stored(args.model, "input", free) if is_case else None
    if given is None:
        given = list(inputs.draw(model, sizes, args.seed, printed).values())
    wanted = stored(args.model, "output", model.graph.output) if is_case else None
    if wanted is None:
        wanted = reference(path, {i.name: array for i, array in zip(free, given, strict=True)})
    return path, model, sizes, given, wanted


def run_twice(folder, threads, given):
    """The answers; a second run in the same memory must answer the same."""
    made = library.Library(folder, threads)
    first, second = made.run(given), made.run(given)
    if [a.tobytes() for a in first] != [a.tobytes() for a in second]:
        raise library.Failed("two runs, two answers")
    steps = made.model.n_steps
    made.close()
    return first, steps


def test(args, found):
    path, model, sizes, given, wanted = prepare(args)
    found["nodes"] = len(model.graph.node)
    with tempfile.TemporaryDirectory() as folder:
        found["seconds"] = round(compile_model(args, path, sizes, folder), 2)
        answers, found["steps"] = run_twice(folder, args.threads, given)
    names = [o.name for o in model.graph.output]
    verdict = judge.compare_all(answers, wanted, names, args.tolerance, args.dtype)
    found["status"], found["why"] = ("wrong", verdict.why) if verdict.why else ("right", "")
    found["absolute"], found["relative"] = verdict.absolute, verdict.relative
    found["flat"] = verdict.flat


def add_arguments(parser):
    """What run.py takes as well."""
    parser.add_argument("--hone", required=True, help="the command")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of random inputs")
    parser.add_argument("--tolerance", type=float, help="instead of judge.py's")
    parser.add_argument("--dtype", help="for hone compile")
    parser.add_argument("--option", action="append", default=[], help="one more for hone compile")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path)
    add_arguments(parser)
    return tell(test, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
