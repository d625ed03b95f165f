"""Writes ONNX models with random weights: `make.py FOLDER [NAME..]`, `make.py --list`, and with
`make.py FOLDER --forms` one small model for each form of an operator that odd.py has.

The structure is that of the nets people use, the weights are drawn at a scale that keeps
activations finite, always the same for a name.  So there is something to test and to measure
without fetching anything; `fetch.py` gets trained ones.
"""

import argparse
import pathlib
import sys

import odd
import onnx
import quant
import text
import vision

SMALL_MOBILENET = ((1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 2, 1))

# Small ones are for tests of each commit, the others for the bench and for full tests.
SMALL = {
    "resnet_small": lambda: vision.resnet((2, 1), 8, 32, classes=10),
    "resnet_small_bn": lambda: vision.resnet((2, 1), 8, 32, classes=10, norm="separate"),
    "resnet_small_dyn": lambda: vision.resnet((2, 1), 8, 32, batch="batch", classes=10),
    "mobilenet_small": lambda: vision.mobilenet_v2(SMALL_MOBILENET, 32, classes=10),
    "bert_small": lambda: text.bert(2, 64, 4, 500, 64, sequence=16),
    "bert_small_dyn": lambda: text.bert(2, 64, 4, 500, 64, batch="batch", sequence="sequence"),
    "gpt_small": lambda: text.gpt(2, 64, 4, 500, 64, sequence=16),
    "gpt_small_dyn": lambda: text.gpt(2, 64, 4, 500, 64, batch="batch", sequence="sequence"),
    "llama_small": lambda: text.llama(2, 64, 4, 2, 500, sequence=13),
    "resnet_small_qdq": lambda: quant.static(SMALL["resnet_small"]()),
    "bert_small_qdq": lambda: quant.static_products(SMALL["bert_small"]()),
    "bert_small_int8": lambda: quant.dynamic(SMALL["bert_small"]()),
    "odd": odd.together,
    **{f"odd_{name}": lambda name=name: odd.graph(name) for name in odd.FAMILIES},
}
LARGE = {
    "resnet50": vision.resnet,
    "resnet50_bn": lambda: vision.resnet(norm="separate"),
    "resnet50_dyn": lambda: vision.resnet(batch="batch"),
    "resnet50_qdq": lambda: quant.static(vision.resnet()),
    "mobilenet_v2": vision.mobilenet_v2,
    "mobilenet_v2_bn": lambda: vision.mobilenet_v2(norm="separate"),
    "bert_base": text.bert,
    "bert_base_qdq": lambda: quant.static_products(text.bert()),
    "bert_base_dyn": lambda: text.bert(batch="batch", sequence="sequence"),
    "gpt2": lambda: text.gpt(12, 768, 12, 50257, 1024, sequence=128),
}
MODELS = {**SMALL, **LARGE}


def write(name, folder):
    """The model's file, made unless it is there."""
    path = pathlib.Path(folder) / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        onnx.save(MODELS[name](), partial)
        partial.rename(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the names, and end")
    parser.add_argument("--forms", action="store_true", help="write odd.py's forms")
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("name", nargs="*", help="of the list; all small ones by default")
    args = parser.parse_args()
    if args.list:
        print("\n".join(MODELS))
        return 0
    unknown = [name for name in args.name if name not in MODELS]
    if unknown or not args.folder:
        parser.error(f"unknown: {' '.join(unknown)}; see --list" if unknown else "which folder?")
    if args.forms:
        args.folder.mkdir(parents=True, exist_ok=True)
        for name, model in odd.forms().items():
            onnx.save(model, args.folder / f"{name}.onnx")
        return 0
    for name in args.name or SMALL:
        print(write(name, args.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
