"""Fixed rules and joint search at equal trials: `joint.py --hone HONE --work FOLDER MODEL.onnx..`.

Each model is tuned twice with as many trials, each in a store of its own: once laid out and fused
by rule, and once by what `hone tune` finds.  Then four libraries of it run in one process, in
turn, as in race.py:

    automatic   nothing is tuned
    rules       by rule, every record that was found
    final       by rule, the records that the network's final takes
    joint       ways to fuse that were found, and the final

The table has the least of all rounds, the median of the rounds' medians, and the median of the
rounds' ratios: how many times as fast as `rules` each is.  Whose answers differ from ONNX
Runtime's does not race.  --work keeps stores and libraries: what is there is not made again.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import race
from contenders import CONTENDERS, Hone
from answer import dim

import judge

WAYS = ("automatic", "rules", "final", "joint")


def hone(args, home, words):
    """A run of hone with that store, and a daemon of its own."""
    home.mkdir(parents=True, exist_ok=True)
    socket = f"/tmp/hone-joint-{os.getpid()}-{home.parent.name[:20]}-{home.name}/s"
    env = {**os.environ, "HONE_HOME": str(home), "HONE_SOCKET": socket}
    command = [args.hone, *words]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    shutil.rmtree(pathlib.Path(socket).parent, ignore_errors=True)
    for line in done.stderr.splitlines():
        if "a run" in line or done.returncode:
            print(f"  {home.name}: {line}", flush=True)
    if done.returncode:
        raise SystemExit(f"joint.py: {' '.join(command)} failed")


def tuned(args, net, way, options):
    """The store where the model was tuned."""
    home = args.work / net.path.stem / way
    if not (home / "tuned").exists():
        dims = [f"--dim={name}={value}" for name, value in net.sizes.items()]
        words = ["tune", str(net.path), *dims, "--trials", str(args.trials), "--quiet", *options]
        hone(args, home, words)
        (home / "tuned").touch()
    return home


def library(args, net, way, home, options=()):
    """The contender of a store."""
    built = args.work / net.path.stem / "built" / way
    folder = built / net.path.stem
    if not (folder / "libmodel.so").exists():
        built.mkdir(parents=True, exist_ok=True)
        dims = [f"--dim={name}={value}" for name, value in net.sizes.items()]
        hone(args, home, ["compile", str(net.path), "-o", str(folder), *dims, *options])
    return Hone(dataclasses.replace(net, built=built))


def without_final(home):
    """The same store, where nothing was decided of networks."""
    copy = home.with_name(home.name + "_records")
    if not copy.exists():
        shutil.copytree(home, copy, ignore=lambda *_: ["networks"])
    return copy


def racers_of(args, net, outputs):
    """By way; who is not right is left out."""
    rules = tuned(args, net, "rules", ["--fusion", "rules"])
    joint = tuned(args, net, "joint", [])
    made = {
        "automatic": library(args, net, "automatic", rules, ["--auto"]),
        "rules": library(args, net, "rules", without_final(rules)),
        "final": library(args, net, "final", rules),
        "joint": library(args, net, "joint", joint),
    }
    right = CONTENDERS["onnxruntime"](net)
    right.run()
    for way in WAYS:
        made[way].run()
        why = judge.compare_all(made[way].answers(), right.answers(), outputs, args.tolerance).why
        if why:
            print(f"{net.path.stem}: {way} does not race: {why}", flush=True)
            del made[way]
    return made


def show(net, timed, args):
    for way, mine in timed.items():
        ratios = [a[0] / b[0] for a, b in zip(timed["rules"], mine, strict=True)]
        row = {
            "model": net.path.stem,
            "way": way,
            "trials": args.trials,
            "threads": net.threads,
            "clock": args.clock,
            "least_ms": round(min(least for _, least in mine), 4),
            "median_ms": round(statistics.median(median for median, _ in mine), 4),
            "times_as_fast": round(statistics.median(ratios), 3),
        }
        print(
            f"{row['model']:24} {way:10} {row['least_ms']:10.3f} {row['median_ms']:10.3f} "
            f"{row['times_as_fast']:6.3f}",
            flush=True,
        )
        if args.json:
            with open(args.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="+", type=pathlib.Path)
    parser.add_argument("--hone", required=True, help="the command")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder that is kept")
    parser.add_argument("--trials", type=int, default=200, help="of each of the two")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a library in a round")
    parser.add_argument("--clock", choices=race.CLOCKS, default="wall")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--tolerance", type=float, help="instead of judge.py's")
    parser.add_argument("--json", type=pathlib.Path, help="a file to append rows to")
    args = parser.parse_args()
    args.dim, args.work = dict(args.dim), args.work.resolve()
    args.option, args.built, args.dtype = [], args.work, "float32"
    return args


def main():
    args = arguments()
    print(f"{'model':24} way          least ms  median ms  times as fast as rules")
    for path in args.model:
        net, outputs = race.net_of(path, args.threads, args)
        racers = racers_of(args, net, outputs)
        if "rules" in racers:
            show(net, race.rounds(racers, args), args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
