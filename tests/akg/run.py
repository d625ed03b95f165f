"""Compiles fused operators of AKG with hone, runs them and compares: `run.py --hone HONE FILE..`.

The right answers are reference.py's.  Prints a row for each:

  right    all outputs have the right type and shape, and values by the rule of tests/models/judge.py
  wrong    they have not
  refused  hone did not compile it, and said why
  failed   a crash, a time-out, memory written that is not the library's

Ends with 1 if any is wrong or failed.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys

import one

HERE = pathlib.Path(__file__).parent
STATUS = ("right", "wrong", "refused", "failed")


def run(path, args):
    """What became of one kernel, in a child with a time limit."""
    command = [sys.executable, str(HERE / "one.py"), str(path), "--hone", args.hone]
    command += ["--seed", str(args.seed), "--size", str(args.size)]
    command += [f"--dim={name}={value}" for name, value in args.dim]
    command += [f"--tolerance={args.tolerance}"] if args.tolerance else []
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=args.limit
        )
    except subprocess.TimeoutExpired:
        return {"status": "failed", "why": f"not done in {args.limit} s"}
    if done.returncode == 0:
        return json.loads(done.stdout.strip().split("\n")[-1])
    return {"status": "failed", "why": f"ended with {done.returncode} {done.stderr[-200:]}"}


def show(name, r):
    error = f"{r['error']:.1e}" if "error" in r else ""
    print(
        f"{name:52} {r['status']:8} {error:8} {r.get('seconds', ''):>7} "
        f"{r.get('ops', ''):>4} {r.get('steps', ''):>5}  {r['why']}".rstrip(),
        flush=True,
    )


def most_elements(path):
    """Of the largest tensor, open dimensions left out."""
    kernel = json.loads(path.read_text(encoding="utf-8"))
    rows = [*(kernel["input_desc"] or []), kernel["output_desc"]]
    rows += [d["output_desc"] for d in kernel["op_desc"]]
    return max(math.prod(n for n in t["shape"] if n > 0) for row in rows for t in row)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kernel", nargs="+", type=pathlib.Path)
    one.add_arguments(parser)
    parser.add_argument("--limit", type=float, default=600, help="seconds a kernel")
    parser.add_argument("--most", type=int, help="elements of a tensor; larger kernels are left out")
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


def main():
    args = arguments()
    count, paths = dict.fromkeys(STATUS, 0), args.kernel
    if args.most:
        paths = [path for path in paths if most_elements(path) <= args.most]
    print(f"{'kernel':52} status   error    compile  ops steps  why")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        each = pool.map(lambda path: run(path, args), paths)
        for path, r in zip(paths, each, strict=True):
            show(path.name, r)
            count[r["status"]] += 1
    left = len(args.kernel) - len(paths)
    print(", ".join(f"{n} {status}" for status, n in count.items()), f"and {left} left out")
    return 1 if count["wrong"] or count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
