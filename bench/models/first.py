"""The first answer of a cold process, and what a run costs beside its kernels:
`first.py --hone HONE [MODEL.onnx..] [--threads 1,2]`.

Each figure is of first.c, linked with what `hone compile` made and started anew --processes times;
the page cache is warm.  The first row is of a network of one kernel on eight numbers: its warm run
is the cost of a call, most of it.  The others are of the models.

  first     us from before open(2) of the weights to the first answer, the least of the processes
  populate  the same with weights mapped by MAP_POPULATE
  warm      us of a later run, the least
  around    what of a warm run is not in its steps, in per cent

--clock cpu takes the process's own clock, for a busy machine and one thread.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "models"))

import fetch
import inputs
import library
import onnx
from contenders import Net, compiled
from answer import dim
from onnx import TensorProto, helper

SOURCE = pathlib.Path(__file__).parents[2] / "tests" / "models" / "first.c"


def tiny(folder):
    """A network of one small kernel."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [8]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "tiny", [x], [y])
    path = folder / "tiny.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def program(folder):
    """first.c for a compiled network."""
    made, name = folder / "first", library.name_of(folder)
    words = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", f"-DNAME={name}", f"-I{folder}"]
    words += [SOURCE, folder / "model.o", folder / "hone_pool.o", "-lm", "-lpthread"]
    subprocess.run([*words, "-o", made], check=True)
    return made


def start(folder, threads, args, populate):
    """One process's figures."""
    words = [folder / "first", folder / "model.weights", str(threads), str(args.seconds)]
    words += [args.clock, *(["populate"] if populate else [])]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(path, threads, args):
    model = onnx.load(path, load_external_data=False)
    sizes = inputs.fill(model, {**fetch.known(path.stem)[0], **args.dim})
    net = Net(path, {}, sizes, threads, args.hone, args.option, args.built)
    folder = compiled(net)
    program(folder)
    cold, filled = (
        [start(folder, threads, args, populate) for _ in range(args.processes)]
        for populate in (False, True)
    )
    warm, kernels = (min(r[key] for r in cold + filled) for key in ("warm", "kernels"))
    return {
        "model": path.stem,
        "steps": cold[0]["steps"],
        "threads": threads,
        "first": min(r["first"] for r in cold) / 1e3,
        "populate": min(r["first"] for r in filled) / 1e3,
        "warm": warm / 1e3,
        "around": 100 * (warm - kernels) / warm,
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="*", type=pathlib.Path)
    parser.add_argument("--hone", required=True, help="the command")
    parser.add_argument("--built", type=pathlib.Path, help="folder of compiled models, kept")
    parser.add_argument("--option", action="append", default=[], help="one more for hone compile")
    parser.add_argument("--threads", default="1", help="1,2: one after the other")
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="of warm runs in a process")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--dim", type=dim, action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    args.dim = dict(args.dim)
    return args


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        args.built = args.built or pathlib.Path(folder)
        print("model                    steps threads   first us populate us    warm us  around")
        for path in [tiny(pathlib.Path(folder)), *args.model]:
            for threads in map(int, args.threads.split(",")):
                r = measure(path, threads, args)
                print(
                    f"{r['model']:24} {r['steps']:5} {r['threads']:7} {r['first']:10.1f} "
                    f"{r['populate']:11.1f} {r['warm']:10.3f} {r['around']:6.1f}%",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
