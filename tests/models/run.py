"""Compiles networks with hone, runs them and compares: `run.py --hone HONE MODEL..`.

A MODEL is an .onnx file, whose inputs are drawn at random and whose answers are ONNX Runtime's, or
a folder of cases.py with inputs and answers.  Prints a row for each:

  right    all outputs have the right type and shape, and values by the rule of judge.py
  wrong    they have not
  refused  hone did not compile it, and said why
  failed   a crash, a time-out, memory written that is not the library's, two runs that differ

Error is the largest of |a - b| / (s + |b|), see judge.py; a `~` behind it says that all elements
of the right answer are equal, so that it says little.  Ends with 1 if any is wrong or failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys

import one
import onnx

HERE = pathlib.Path(__file__).parent
STATUS = ("right", "wrong", "refused", "failed")


def label(path):
    return path.name if path.is_dir() else path.stem


def options(args):
    """The arguments of run.py that go on to one.py."""
    given = ["--hone", args.hone, "--threads", str(args.threads), "--seed", str(args.seed)]
    given += [f"--tolerance={args.tolerance}"] if args.tolerance else []
    given += [f"--dtype={args.dtype}"] if args.dtype else []
    given += [f"--dim={name}={value}" for name, value in args.dim]
    return given + [f"--option={text}" for text in args.option]


def kill_group(process):
    """The child and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def run(path, args):
    """What became of one model, in a child with a time limit."""
    command = [sys.executable, str(HERE / "one.py"), str(path), *options(args)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=args.limit)
    except subprocess.TimeoutExpired:
        kill_group(process)
        return {"status": "failed", "why": f"not done in {args.limit} s"}
    if process.returncode == 0:
        return json.loads(out.strip().split("\n")[-1])
    last = (err.strip().split("\n") or [""])[-1]
    died = f"died of signal {-process.returncode}" if process.returncode < 0 else "ended early"
    return {"status": "failed", "why": f"{died} {last}".strip()}


def has_op(path, op):
    model = onnx.load(path / "model.onnx" if path.is_dir() else path, load_external_data=False)
    return any(node.op_type == op for node in model.graph.node)


def wanted(args):
    """The models, without what is neither a file nor a case (cases.json among them)."""
    found = [p for p in args.model if p.suffix == ".onnx" or (p / "model.onnx").exists()]
    return [p for p in found if has_op(p, args.op)] if args.op else found


def show(name, r):
    error = f"{r['relative']:.1e}{'~' if r['flat'] else ''}" if "relative" in r else ""
    seconds = f"{r['seconds']:.1f}" if "seconds" in r else ""
    print(
        f"{name:36} {r['status']:8} {error:8} {seconds:>7} "
        f"{r.get('nodes', ''):>5} {r.get('steps', ''):>5}  {r['why']}".rstrip(),
        flush=True,
    )


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="+", type=pathlib.Path)
    one.add_arguments(parser)
    parser.add_argument("--op", help="only models with a node of this kind")
    parser.add_argument("--limit", type=float, default=600, help="seconds a model")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="a file to append rows to")
    return parser.parse_args()


def main():
    args = arguments()
    count, paths = dict.fromkeys(STATUS, 0), wanted(args)
    print(f"{'model':36} status   error    compile nodes steps  why")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, r in zip(paths, pool.map(lambda p: run(p, args), paths), strict=True):
            show(label(path), r)
            count[r["status"]] += 1
            if args.json:
                with open(args.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"model": label(path), **r}) + "\n")
    print(", ".join(f"{n} {status}" for status, n in count.items()))
    return 1 if count["wrong"] or count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
