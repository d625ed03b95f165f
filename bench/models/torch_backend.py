"""torch.compile's backend hone beside eager and inductor, in turn in one process.

    torch_backend.py [--threads N] [--rounds R] [--inductor] [NAME..]

The networks are torch's own and torchvision's, with random weights.  With one thread the clock is
the thread's processor time, so other load hardly counts; with several it is the wall's.
"""

import argparse
import math
import statistics
import time

import torch
import torchvision
from torch import nn

import hone.torch


def encoder(width, heads, layers, tokens):
    """BERT's shape."""
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False), (1, tokens, width)


def mlp(batch):
    """Of three layers."""
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                         nn.Linear(1024, 10)), (batch, 784)


def vision(name):
    """A network of torchvision."""
    return getattr(torchvision.models, name)(), (1, 3, 224, 224)


MODELS = {
    "mlp_1": lambda: mlp(1), "mlp_32": lambda: mlp(32), "mlp_256": lambda: mlp(256),
    "encoder_384x2_128": lambda: encoder(384, 12, 2, 128),
    "encoder_768x2_64": lambda: encoder(768, 12, 2, 64),
    "resnet18": lambda: vision("resnet18"), "resnet50": lambda: vision("resnet50"),
    "mobilenet_v2": lambda: vision("mobilenet_v2"), "squeezenet1_1": lambda: vision("squeezenet1_1"),
    "shufflenet_v2": lambda: vision("shufflenet_v2_x1_0"),
}


def timed(run, x, clock):
    """Seconds of one run, the first one not counted; at least 20 ms of them."""
    run(x)
    start, n = clock(), 0
    while n == 0 or clock() - start < 0.02:
        run(x)
        n += 1
    return (clock() - start) / n


def race(name, options):
    """One line."""
    torch._dynamo.reset()
    hone.torch.reset()
    torch.manual_seed(0)
    model, shape = MODELS[name]()
    model, x = model.eval(), torch.randn(shape)
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    runs = {"eager": model, "hone": torch.compile(model, backend=hone.torch.backend)}
    if options.inductor:
        runs["inductor"] = torch.compile(model, backend="inductor")
    want, times = model(x), {n: [] for n in runs}
    for n, run in runs.items():
        start = time.perf_counter()
        error = ((run(x) - want).abs().max() / want.abs().max()).item()
        print(f"#  {name} {n}: first call {time.perf_counter() - start:.1f} s, error {error:.1e}",
              flush=True)
    for at in range(options.rounds):
        for n in list(runs)[at % len(runs):] + list(runs)[:at % len(runs)]:
            time.sleep(0.03 if options.threads > 1 else 0)
            times[n].append(timed(runs[n], x, clock))
    gain = {n: statistics.median(t / h for t, h in zip(times[n], times["hone"])) for n in runs}
    graphs = hone.torch.explain()
    taken = sum(len(c.operators) for g in graphs for c in g.claims if c.state == "claimed")
    print(f"{name:18} {taken:4}/{sum(g.n_operators for g in graphs):<4} "
          + " ".join(f"{n} {statistics.median(t) * 1e3:.3f} ms" for n, t in times.items())
          + "  gain " + " ".join(f"{n} {g:.2f}" for n, g in gain.items() if n != "hone"),
          flush=True)
    return gain


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=list(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--inductor", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with torch.no_grad():
        gains = [race(name, options) for name in options.names]
    for n in gains[0]:
        mean = math.exp(statistics.mean(math.log(g[n]) for g in gains))
        print(f"geomean over {n}: {mean:.2f}")


if __name__ == "__main__":
    main()
