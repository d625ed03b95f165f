"""ONNX Runtime with hone's provider and without, timed in turn: `provider.py --hone HONE --plugin
libhone_ort.so MODEL.onnx..`.

A network is compiled into a folder of its own first (with --regions, its regions), so that the
first session races as a user's does.  The table has the milliseconds of a call, the median and the
least of both, and how many times as long the plain session takes (the median of the rounds'
ratios).  `raced` is the gain by the provider's own race, of which it wants 1.05; "-" if it took
none of the whole network.  A session that answers otherwise than the plain one ends the run.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "models"))

import fetch
import inputs
import numpy as np
import onnx
import onnxruntime as ort
from answer import dim

PAUSE_S = 0.03
QUIET = subprocess.DEVNULL
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}
LARGEST_ERROR = 1e-2  # of the largest element: what the provider's own race allows


def session_of(path, sizes, args, folder=None):
    options = ort.SessionOptions()
    options.intra_op_num_threads = args.threads
    options.add_session_config_entry("session.intra_op.allow_spinning", args.spin)
    for name, size in sizes.items():
        options.add_free_dimension_override_by_name(name, size)
    if folder is None:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    devices = [d for d in ort.get_ep_devices() if d.ep_name == "HoneExecutionProvider"]
    given = {"library": str(folder), "threads": str(args.threads)}
    options.add_provider_for_devices(devices, given)
    return ort.InferenceSession(str(path), options)


def one_round(session, data, args):
    """The least and the median of some calls, in milliseconds."""
    now, times = CLOCKS[args.clock], []
    time.sleep(PAUSE_S)
    session.run(None, data)
    end = time.monotonic() + args.seconds
    while len(times) < 3 or time.monotonic() < end:
        begin = now()
        session.run(None, data)
        times.append((now() - begin) / 1e6)
    return min(times), statistics.median(times)


def check(plain, hone):
    for right, found in zip(plain, hone):
        if right.dtype.kind != "f":
            assert np.array_equal(right, found), "other answers"
            continue
        error = np.abs(right.astype(np.float64) - found).max() / max(1e-30, np.abs(right).max())
        assert error < LARGEST_ERROR, f"error {error:.2g}"


def raced(folder):
    text = folder / "race.json"
    return f"{json.loads(text.read_text(encoding='utf-8'))['gain']:6.3f}" if text.exists() else "-"


def race(path, folder, args):
    model = onnx.load(path, load_external_data=False)
    known, printed = fetch.known(path.stem)
    sizes = inputs.fill(model, {**known, **dict(args.dim)})
    data = inputs.draw(model, sizes, printed=printed)
    dims = [f"--dim={name}={size}" for name, size in sizes.items()]
    command = [args.hone, "compile", path, "-o", folder, *dims, *args.option]
    subprocess.run(command, check=True, stdout=QUIET, stderr=QUIET)
    begin = time.monotonic()
    hone = session_of(path, sizes, args, folder)
    first = time.monotonic() - begin
    sides = {"plain": session_of(path, sizes, args), "hone": hone}
    check(sides["plain"].run(None, data), hone.run(None, data))
    times = {name: [] for name in sides}
    for k in range(args.rounds):
        for name in sorted(sides, reverse=k % 2 == 1):
            times[name].append(one_round(sides[name], data, args))
    ratio = statistics.median(p[1] / h[1] for p, h in zip(times["plain"], times["hone"]))
    report = [
        f"{min(t for t, _ in times[n]):9.3f} {statistics.median(t for _, t in times[n]):9.3f}"
        for n in ("plain", "hone")
    ]
    print(f"{path.stem:20} {report[0]} {report[1]} {ratio:7.3f} {first:8.2f} {raced(folder)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path, nargs="+")
    parser.add_argument("--hone", required=True, help="the command")
    parser.add_argument("--plugin", type=pathlib.Path, required=True, help="libhone_ort.so")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.2, help="of a round of one side")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--spin", choices=("0", "1"), default="1", help="of the runtime's threads")
    parser.add_argument("--option", action="append", default=[], help="one more for hone compile")
    args = parser.parse_args()
    ort.set_default_logger_severity(3)
    ort.register_execution_provider_library("hone", str(args.plugin.resolve()))
    print("model                    plain least, median       hone least, median   ratio  first s raced")
    with tempfile.TemporaryDirectory() as made:
        for path in args.model:
            race(path, pathlib.Path(made) / path.stem, args)


if __name__ == "__main__":
    main()
