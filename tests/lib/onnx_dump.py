"""What a model says, in the words of onnx_dump.h, by the onnx package and its protobuf.

    python3 onnx_dump.py FILE...
"""
import hashlib
import struct
import sys

import onnx
import onnx.helper

SHOWN = 40
TYPES = {number: name.lower() for name, number in onnx.TensorProto.DataType.items()}
ATTRIBUTES = {number: name for name, number in onnx.AttributeProto.AttributeType.items()}
WORDS = [("sequence_type", "sequence"), ("map_type", "map"), ("opaque_type", "opaque"),
         ("sparse_tensor_type", "sparse tensor"), ("optional_type", "optional")]
# The struct codes of numbers that stand one by one in a field of int32.
INT32_CODES = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "float16": "H",
               "bfloat16": "H"}


def data(v):
    if len(v) > SHOWN:
        return f"{len(v)}:#{hashlib.sha256(v).hexdigest()}"
    return f"{len(v)}:{v.hex()}"


def text_bytes(s):
    return s if isinstance(s, bytes) else s.encode()


def product(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def bytes_of(t):
    size = onnx.helper.tensor_dtype_to_np_dtype(t.data_type).itemsize
    return product(t.dims) * size


def tensor_bytes(t):
    if t.HasField("raw_data") and t.raw_data:
        return t.raw_data
    word = TYPES[t.data_type]
    for values, code in ((t.float_data, "f"), (t.double_data, "d"), (t.int64_data, "q"),
                         (t.uint64_data, "I" if word == "uint32" else "Q"),
                         (t.int32_data, INT32_CODES.get(word, "B"))):
        if values:
            return struct.pack(f"<{len(values)}{code}", *values)
    return b""


def tensor(indent, t):
    dims = ",".join(str(d) for d in t.dims)
    line = f'{indent}tensor "{t.name}" {TYPES[t.data_type]}[{dims}] {product(t.dims)} '
    if t.data_location == onnx.TensorProto.EXTERNAL:
        where = {e.key: e.value for e in t.external_data}
        line += f'in "{where["location"]}" at {int(where.get("offset", 0))}, '
        line += f'{where.get("length", bytes_of(t))} bytes'
    else:
        line += data(tensor_bytes(t))
    print(line + "".join(" " + data(s) for s in t.string_data))


def dim(d):
    kind = d.WhichOneof("value")
    return "?" if kind is None else str(getattr(d, kind))


def value(indent, what, v):
    line = f'{indent}{what} "{v.name}" '
    kind = v.type.WhichOneof("value") if v.HasField("type") else "untyped"
    if kind != "tensor_type":
        print(line + {None: "nothing", "untyped": "untyped", **dict(WORDS)}[kind])
        return
    t = v.type.tensor_type
    line += TYPES.get(t.elem_type, "?") if t.elem_type else "?"
    if t.HasField("shape"):
        print(line + "[" + ",".join(dim(d) for d in t.shape.dim) + "]")
    else:
        print(line + " of any rank")


def kind_of(a):
    """The type, or in files before they had one the one value that is there."""
    if a.type:
        return ATTRIBUTES[a.type]
    fields = [("f", "FLOAT"), ("i", "INT"), ("s", "STRING"), ("t", "TENSOR"), ("g", "GRAPH"),
              ("tp", "TYPE_PROTO"), ("sparse_tensor", "SPARSE_TENSOR")]
    lists = [("floats", "FLOATS"), ("ints", "INTS"), ("strings", "STRINGS"),
             ("tensors", "TENSORS"), ("graphs", "GRAPHS"), ("type_protos", "TYPE_PROTOS"),
             ("sparse_tensors", "SPARSE_TENSORS")]
    found = [word for name, word in fields if a.HasField(name)]
    found += [word for name, word in lists if getattr(a, name)]
    return found[0] if len(found) == 1 else "?"


def attribute(indent, a):
    line = f'{indent}attribute "{a.name}" {kind_of(a)} f {a.f:.9g} i {a.i} s {data(a.s)}'
    line += f" ref {a.ref_attr_name}" if a.ref_attr_name else ""
    line += "".join(f" {f:.9g}" for f in a.floats) + "".join(f" {i}" for i in a.ints)
    print(line + "".join(" " + data(s) for s in a.strings))
    if a.HasField("t"):
        tensor(indent + "  ", a.t)
    for t in a.tensors:
        tensor(indent + "  ", t)
    if a.HasField("g"):
        graph(indent + "  ", a.g)
    for g in a.graphs:
        graph(indent + "  ", g)


def node(indent, n):
    op = (n.domain + "." if n.domain else "") + n.op_type
    op += ":" + n.overload if n.overload else ""
    print(f'{indent}node "{n.name}" {op}:' + "".join(f' "{i}"' for i in n.input) + " ->" +
          "".join(f' "{o}"' for o in n.output))
    for a in n.attribute:
        attribute(indent + "  ", a)


def graph(indent, g):
    sparse = len(g.sparse_initializer)
    print(f'{indent}graph "{g.name}"' + (f", {sparse} sparse" if sparse else ""))
    indent += "  "
    for what, values in (("input", g.input), ("output", g.output), ("value", g.value_info)):
        for v in values:
            value(indent, what, v)
    for t in g.initializer:
        tensor(indent, t)
    for n in g.node:
        node(indent, n)


def model(m):
    print(f'model ir {m.ir_version} version {m.model_version} by "{m.producer_name}" '
          f'"{m.producer_version}" domain "{m.domain}"' +
          (", with training" if m.training_info else ""))
    for o in m.opset_import:
        print(f'opset "{o.domain}" {o.version}')
    for e in m.metadata_props:
        print(f'metadata "{e.key}" {data(text_bytes(e.value))}')
    for f in m.functions:
        print(f"function {f.domain}.{f.name}")
    graph("", m.graph)


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    for path in sys.argv[1:]:
        model(onnx.load(path, load_external_data=False))


main()
