"""The computations of rows/ by other libraries: `peers.py [--rows PATTERN] [--compile]`.

cuBLAS and cuDNN are called through PyTorch; `inductor` is torch.compile, whose kernels of
memory-bound computations are Triton's; `triton` is a product by torch.compile's Triton templates,
tuned by it.  A row's first comment names the computation: `# peer: product float32 1 512 512 512`
(batch, M, N, K).  Prints a JSON object a line, as contest.sh does.

Data are random.  A time is the median of 21 samples; a sample is so many calls one behind the other
that they take at least two milliseconds, between two events.
"""

import argparse
import fnmatch
import json
import pathlib
import statistics

import torch
import torch.nn.functional as F

SAMPLES = 21
SAMPLE_MS = 2.0
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def draw(dtype, *shape):
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(DTYPES[dtype])


def product(dtype, batch, m, n, k):
    a, b = draw(dtype, batch, m, k), draw(dtype, batch, k, n)
    if batch == 1:
        a, b = a[0], b[0]
    return torch.matmul, (a, b)


def conv(dtype, n, h, w, ci, co, kernel, stride, padding):
    form = torch.channels_last
    x = draw(dtype, n, ci, h, w).contiguous(memory_format=form)
    weight = draw(dtype, co, ci, kernel, kernel).contiguous(memory_format=form)
    bias = draw(dtype, co)
    return (
        lambda x, weight, bias: F.relu(F.conv2d(x, weight, bias, stride, padding)),
        (x, weight, bias),
    )


def of_rows(function):
    return lambda dtype, m, n: (function, (draw(dtype, m, n),))


def addrelu(dtype, n):
    return lambda a, b: F.relu(a + b), (draw(dtype, n), draw(dtype, n))


def layernorm(dtype, m, n):
    gain, bias = draw(dtype, n), draw(dtype, n)
    return lambda a, g, b: F.layer_norm(a, (n,), g, b), (draw(dtype, m, n), gain, bias)


KINDS = {
    "product": product,
    "conv": conv,
    "addrelu": addrelu,
    "layernorm": layernorm,
    "rowsum": of_rows(lambda a: a.sum(1)),
    "columnsum": of_rows(lambda a: a.sum(0)),
    "transpose": of_rows(lambda a: a.t().contiguous()),
    "softmax": of_rows(lambda a: F.softmax(a, 1)),
}
# Who is asked beside PyTorch's own kernels: torch.compile's options.
COMPILED = {
    "product": {"triton": {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}},
    "conv": {"inductor": {}},
}
OTHERS = {"inductor": {}}


def milliseconds(call, times):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def median_ns(function, data):
    def call():
        return function(*data)

    for _ in range(3):
        call()
    times = max(1, round(SAMPLE_MS / max(milliseconds(call, 3) / 3, 1e-3)))
    return statistics.median(milliseconds(call, times) / times for _ in range(SAMPLES)) * 1e6


def say(row, who, function, data):
    try:
        found = {"ns": median_ns(function, data)}
    except Exception as error:  # whatever the library raises is the row's answer
        found = {"ns": None, "why": str(error).splitlines()[0][:100]}
    print(json.dumps({"row": row, "who": who, **found}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="*")
    parser.add_argument("--compile", action="store_true", help="torch.compile and Triton, too")
    args = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    for path in sorted((pathlib.Path(__file__).parent / "rows").glob("*.txt")):
        if not fnmatch.fnmatch(path.stem, args.rows):
            continue
        kind, dtype, *numbers = path.read_text().splitlines()[0].removeprefix("# peer: ").split()
        function, data = KINDS[kind](dtype, *map(int, numbers))
        say(path.stem, "library", function, data)
        if args.compile:
            for who, options in COMPILED.get(kind, OTHERS).items():
                say(path.stem, who, torch.compile(function, options=options), data)
        del data
        torch.cuda.empty_cache()


main()
