"""Whole networks, timed in turn: `race.py [--hone HONE] MODEL.onnx.. [--threads 1,2]`.

All contenders sit in one process.  In each round each of them, in an order drawn anew, runs the
network several times, so that the machine's drift falls on all alike.  Between two contenders
there is a pause, in which the threads of the one that ran stop spinning.  A round's figures are
the median and the least of its calls; the first call of a round is not among them.  Whose answers
differ from ONNX Runtime's does not race.

The table has the least of all rounds, the median of the rounds' medians, and how many times as
long as hone each takes (the median of the rounds' ratios).  --json appends a row for each; --steps
adds hone's longest steps, and how the sum of all compares with a whole run.

Networks for a GPU race by `--option=--target=LINE --only hone torch_gpu`; --dim says the batch.
Both have their weights on the device, and their inputs and answers in this machine's memory.

--clock cpu counts this process's time on processors instead: on a busy machine, and for one thread
alone, it is nearer to what a call takes than the wall clock is.
"""

import argparse
import json
import pathlib
import platform
import random
import statistics
import sys
import tempfile
import time
from importlib import metadata

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "models"))

import fetch
import inputs
import judge
import onnx
from contenders import CONTENDERS, USUAL, Net
from answer import dim

PAUSE_S = 0.03
REFERENCE = "hone"
RIGHT = "onnxruntime"
CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


def once(run, now):
    """Milliseconds of a call."""
    begin = now()
    run()
    return (now() - begin) / 1e6


def one_round(run, now, seconds, least_calls=3):
    """Median and least of the calls that fit into so many seconds."""
    time.sleep(PAUSE_S)
    run()
    times, end = [], time.monotonic() + seconds
    while len(times) < least_calls or time.monotonic() < end:
        times.append(once(run, now))
    return statistics.median(times), min(times)


def rounds(racers, args, seed=0):
    """By contender: a list of (median, least), one for each round."""
    found, rng = {name: [] for name in racers}, random.Random(seed)
    for _ in range(args.rounds):
        for name in rng.sample(list(racers), len(racers)):
            found[name].append(one_round(racers[name].run, CLOCKS[args.clock], args.seconds))
    return found


def net_of(path, threads, args):
    model = onnx.load(path)
    known, printed = fetch.known(path.stem)
    sizes = inputs.fill(model, {**known, **args.dim})
    data = inputs.draw(model, sizes, printed=printed)
    names = [output.name for output in model.graph.output]
    return Net(path, data, sizes, threads, args.hone, args.option, args.built, args.dtype), names


def ready(net, outputs, args):
    """The contenders that answer rightly; says why the others do not race."""
    racers, right = {}, CONTENDERS[RIGHT](net)
    right.run()
    for name in args.only:
        try:
            racer = right if name == RIGHT else CONTENDERS[name](net)
            racer.run()
            found = racer.answers(), right.answers(), outputs
            why = judge.compare_all(*found, args.tolerance, args.dtype).why
        except Exception as error:  # of any library: the others race all the same
            why = str(error).strip().split("\n")[0]
        if why:
            print(f"{net.path.stem}: {name} does not race: {why}", flush=True)
        else:
            racers[name] = racer
    return racers


def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def processor():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def row(net, name, clock, timed, reference):
    ratios = [mine[0] / theirs[0] for mine, theirs in zip(timed, reference or [], strict=False)]
    return {
        "model": net.path.stem,
        "sizes": net.sizes,
        "threads": net.threads,
        "contender": name,
        "version": version(name),
        "rounds": len(timed),
        "clock": clock,
        "least_ms": round(min(least for _, least in timed), 4),
        "median_ms": round(statistics.median(median for median, _ in timed), 4),
        "ratio": round(statistics.median(ratios), 3) if ratios else None,
        "processor": processor(),
    }


def show(r):
    ratio = f"{r['ratio']:6.2f}x" if r["ratio"] else ""
    print(
        f"{r['model']:24} {r['threads']:7} {r['contender']:12} "
        f"{r['least_ms']:10.3f} {r['median_ms']:10.3f} {ratio}".rstrip(),
        flush=True,
    )


def flops_of(folder):
    """Operations of each kernel, by its name."""
    made = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return {kernel["name"]: kernel["flops"] for kernel in made["kernels"]}


def show_steps(racer, clock, least_ms, count=15):
    """Where hone's time goes, and how fast it is there."""
    steps, flops = racer.compiled.steps(count=20, clock=CLOCKS[clock]), flops_of(racer.folder)
    total = sum(ns for _, _, ns in steps)
    print(f"  {len(steps)} steps take {total / 1e6:.3f} ms, a whole run {least_ms:.3f} ms")
    for name, kernel, ns in sorted(steps, key=lambda step: -step[2])[:count]:
        speed = flops.get(kernel, 0) / max(1, ns)
        print(
            f"  {ns / 1e6:9.4f} ms {100 * ns / total:5.1f} % {speed:7.1f} GFLOP/s {kernel} {name}"
        )


def race(path, threads, args):
    """One model at one number of threads."""
    net, outputs = net_of(path, threads, args)
    racers = ready(net, outputs, args)
    timed = rounds(racers, args)
    rows = [row(net, name, args.clock, timed[name], timed.get(REFERENCE)) for name in racers]
    for r in rows:
        show(r)
        if args.json:
            with open(args.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(r) + "\n")
    if args.steps and REFERENCE in racers:
        least = next(r["least_ms"] for r in rows if r["contender"] == REFERENCE)
        show_steps(racers[REFERENCE], args.clock, least)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="+", type=pathlib.Path)
    parser.add_argument("--hone", default="", help="the command; without it the others race")
    parser.add_argument("--built", type=pathlib.Path, help="folder of compiled models, kept")
    parser.add_argument("--option", action="append", default=[], help="one more for hone compile")
    parser.add_argument("--threads", default="1", help="1,2: one after the other")
    parser.add_argument("--dtype", choices=("float32", "bfloat16"), default="float32")
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=USUAL)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a contender in a round")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--tolerance", type=float, help="instead of judge.py's")
    parser.add_argument("--steps", action="store_true", help="hone's longest steps")
    parser.add_argument("--json", type=pathlib.Path, help="a file to append rows to")
    args = parser.parse_args()
    args.dim = dict(args.dim)
    if not (args.hone or args.built):
        args.only = [name for name in args.only if name != REFERENCE]
    return args


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        args.built = args.built or pathlib.Path(folder)
        print(f"{'model':24} threads contender      least ms  median ms  of hone's")
        for path in args.model:
            for threads in map(int, args.threads.split(",")):
                race(path, threads, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
