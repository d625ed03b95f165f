"""docs/python.md as a newcomer reads it: its programs, in their order, in one process.

    page.py PAGE

Trials are fewer, and the network is a small one of that name.  HONE_HOME is the caller's, for this
alone.
"""

import pathlib
import re
import sys

try:
    import numpy
    import onnx
except ImportError:
    print("skip: no numpy or no onnx")
    sys.exit(77)

LEAST_BLOCKS = 3


def network(path):
    """A small one, with the page's open dimension."""
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["image", "w"], ["y"])], "net",
        [helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, ["batch", 6])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["batch", 4])],
        [onnx.numpy_helper.from_array(numpy.ones((6, 4), "f"), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)


def main():
    """Raises where a program of the page does."""
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= LEAST_BLOCKS, f"{len(blocks)} programs"
    network("resnet50.onnx")
    names = {}
    for block in blocks:
        exec(compile(block.replace("trials=200", "trials=4"), sys.argv[1], "exec"), names)
    want = numpy.maximum(names["a"] @ names["b"], 0)
    assert numpy.allclose(names["d"], want, rtol=1e-4), "another product"
    assert names["answer"].match == "exact", names["answer"].match
    assert [o.shape for o in names["outputs"]] == [(1, 4)]
    for made in ("dense.svg", "out/dense.o", "net.hone/libmodel.so"):
        assert pathlib.Path(made).stat().st_size > 0, made
    print(f"{len(blocks)} programs of the page ran")


if __name__ == "__main__":
    main()
