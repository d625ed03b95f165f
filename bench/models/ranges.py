"""What a range of sizes costs a whole network:
`ranges.py --hone HONE MODEL.onnx --dim batch=1 --dim sequence=1..512 [--points 20]`.

One library is compiled for the range.  Sizes are drawn from it, log-uniformly from a fixed seed
(--uniform: uniformly).  For each, a library is compiled for that size alone, and dropped
afterwards; then it, the range's and ONNX Runtime run in turn in one process, as in race.py.
Libraries whose answers differ from ONNX Runtime's end the program.

A row is a size.  `regret` is how many times as long as the size's own library the range's takes,
`peer` how many times as long as the range's ONNX Runtime takes.  The last line has geometric means,
the 95th percentile and the worst.  --json appends a row for each size.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "models"))

import inputs
import judge
import onnx
import onnxruntime
from contenders import Net, Onnxruntime
from library import Failed, Library
from race import CLOCKS, processor, rounds, version

RANGE, SIZE, PEER = "range", "size", "onnxruntime"


class Sized:
    """A library of hone's: for these sizes alone, or (sizes) for a range that has them."""

    def __init__(self, library, arrays, sizes):
        self.net, self.sizes = library, sizes
        if sizes is None:
            library.load(arrays)
            self.run = library.caller()
        else:
            library.load_sized(arrays)
            self.run = library.caller_sized(sizes)

    def answers(self, shapes):
        return self.net.answers() if self.sizes is None else self.net.answers_sized(shapes)


def compiled(args, dims, folder):
    words = [word for name, value in dims.items() for word in ("--dim", f"{name}={value}")]
    command = [args.hone, "compile", str(args.model), "-o", str(folder), *words, *args.option]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed((done.stderr.strip().split("\n") or [""])[-1])
    return Library(folder, args.threads)


def ends(value):
    """(least, most, step) of 3, of 1..512 or of 32..640:32."""
    span, _, step = value.partition(":")
    least, _, most = span.partition("..")
    return int(least), int(most or least), int(step or 1)


def drawn(args):
    """So many points: a dictionary of sizes each; the first are the ends of the ranges."""
    rng, ranges = random.Random(args.seed), {name: ends(v) for name, v in args.dim.items()}
    points = [{name: pair[k] for name, pair in ranges.items()} for k in (1, 0)]
    while len(points) < args.points:
        point = {}
        for name, (least, most, step) in ranges.items():
            x = rng.uniform(least, most + 1)
            if not args.uniform:
                x = math.exp(rng.uniform(math.log(least), math.log(most + 1)))
            point[name] = min(most, max(least, int(x) // step * step))
        points.append(point)
    return points[: args.points]


def judged(name, racer, wanted, outputs):
    racer.run()
    shapes = [w.shape for w in wanted]
    why = judge.compare_all(racer.answers(shapes), wanted, outputs).why
    if why:
        raise Failed(f"{name}: {why}")


def one_point(args, model, ranged, order, point):
    """The row of these sizes."""
    sizes = inputs.fill(model, point)
    data = inputs.draw(model, sizes)
    arrays, outputs = list(data.values()), [o.name for o in model.graph.output]
    net = Net(args.model, data, sizes, args.threads, args.hone, args.option, None)
    peer = Onnxruntime(net)
    with tempfile.TemporaryDirectory() as folder:
        own = compiled(args, point, folder)
        racers = {
            RANGE: Sized(ranged, arrays, [point[name] for name in order]),
            SIZE: Sized(own, arrays, None),
        }
        for name, racer in racers.items():
            judged(f"{name} at {point}", racer, peer.answers(), outputs)
        racers[PEER] = peer
        timed = rounds(racers, args)
        own.close()
    row = {"model": args.model.stem, "sizes": point, "threads": args.threads, "clock": args.clock}
    for name in racers:
        row[f"{name}_ms"] = round(min(least for _, least in timed[name]), 4)
    row["regret"] = ratio(timed, RANGE, SIZE)
    row["peer"] = ratio(timed, PEER, RANGE)
    row["version"], row["processor"] = version(PEER), processor()
    return row


def ratio(timed, mine, theirs):
    """The median of the rounds' ratios."""
    pairs = zip(timed[mine], timed[theirs], strict=True)
    return round(statistics.median(x[0] / y[0] for x, y in pairs), 3)


def summary(values):
    values = sorted(values)
    mean = math.exp(sum(map(math.log, values)) / len(values))
    p95 = values[(len(values) - 1) * 95 // 100]
    return f"geometric mean {mean:.3f}, 95 % {p95:.3f}, least {values[0]:.3f}, most {values[-1]:.3f}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--hone", required=True, help="the command")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=LEAST..MOST[:STEP]")
    parser.add_argument("--points", type=int, default=20)
    parser.add_argument("--uniform", action="store_true", help="instead of log-uniformly")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--built", type=pathlib.Path, help="folder of the range's library, kept")
    parser.add_argument("--option", action="append", default=[], help="one more for hone compile")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a contender in a round")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--json", type=pathlib.Path, help="a file to append rows to")
    args = parser.parse_args()
    args.dim = dict(word.split("=") for word in args.dim)
    return args


def main():
    args = arguments()
    order = [name for name, value in args.dim.items() if ".." in value]
    model, rows = onnx.load(args.model), []
    onnxruntime.set_default_logger_severity(3)
    with tempfile.TemporaryDirectory() as folder:
        built = args.built or pathlib.Path(folder) / "range"
        there = (built / "libmodel.so").exists()
        ranged = Library(built, args.threads) if there else compiled(args, args.dim, built)
        print("     range ms      size ms       ort ms  regret    peer  sizes")
        for point in drawn(args):
            rows.append(one_point(args, model, ranged, order, point))
            times = "".join(f"{rows[-1][f'{name}_ms']:13.3f}" for name in (RANGE, SIZE, PEER))
            named = ", ".join(f"{name} = {point[name]}" for name in order)
            print(f"{times} {rows[-1]['regret']:7.3f} {rows[-1]['peer']:7.3f}  {named}", flush=True)
            if args.json:
                with open(args.json, "a", encoding="utf-8") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    for key in ("regret", "peer"):
        print(f"{key}: {summary([row[key] for row in rows])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
