"""Where ONNX Runtime's time goes: `where.py MODEL.onnx.. [--threads N]`.

Its profiler times each node of the graph that it made of the model.  A node counts with its least
time over the runs; the table sums them by kind of node, with how many there are, and lists the
longest.  Asking the clock slows small nodes, so the sum is above a run's time.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "models"))

import fetch
import inputs
import onnx
import onnxruntime
from answer import dim


def profile(path, data, threads, runs, folder):
    """The profiler's events of so many runs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_profiling = True
    options.profile_file_prefix = str(pathlib.Path(folder) / "profile")
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    for _ in range(runs):
        session.run(None, data)
    return json.loads(pathlib.Path(session.end_profiling()).read_text(encoding="utf-8"))


def least_times(events):
    """Microseconds by node: (index, kind, shapes of its inputs)."""
    found = collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            args = event["args"]
            shapes = [list(s.values())[0] for s in args.get("input_type_shape", [])]
            found[args["node_index"], args["op_name"], str(shapes)].append(event["dur"])
    return {node: min(times) for node, times in found.items()}


def show(name, times, count):
    total = max(1, sum(times.values()))
    by_kind = collections.defaultdict(list)
    for (_, kind, _), us in times.items():
        by_kind[kind].append(us)
    print(f"{name}: {len(times)} nodes, {total / 1e3:.3f} ms")
    for kind, each in sorted(by_kind.items(), key=lambda item: -sum(item[1])):
        share = 100 * sum(each) / total
        print(f"  {sum(each) / 1e3:10.3f} ms {share:5.1f} %  {len(each):4} {kind}")
    for (_, kind, shapes), us in sorted(times.items(), key=lambda item: -item[1])[:count]:
        print(f"  {us / 1e3:10.3f} ms  {kind} {shapes}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="+", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--longest", type=int, default=10, help="nodes to list")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    for path in args.model:
        model = onnx.load(path)
        known, printed = fetch.known(path.stem)
        data = inputs.draw(model, {**known, **dict(args.dim)}, printed=printed)
        with tempfile.TemporaryDirectory() as folder:
            events = profile(path, data, args.threads, args.runs, folder)
        show(path.stem, least_times(events), args.longest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
