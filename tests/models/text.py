"""Transformers with random weights, node by node as PyTorch's exporter writes them.

A BERT encoder, and causal decoders of the kinds of GPT-2 and of Llama, the last one with opset 23's
operators for attention.  Sizes are numbers, or symbols: then the
graph computes its shapes at run time (Shape, Gather, Concat, Reshape), as exported graphs do.
"""

import math

import numpy as np
from graph import Graph

LOWEST = float(np.finfo(np.float32).min)


def layer_norm(g, x, hidden, eps=1e-12):
    mean = g.node("ReduceMean", x, axes=[-1])
    centred = g.node("Sub", x, mean)
    square = g.node("Pow", centred, g.const(2.0))
    var = g.node("Add", g.node("ReduceMean", square, axes=[-1]), g.const(eps))
    y = g.node("Div", centred, g.node("Sqrt", var))
    y = g.node("Mul", y, g.uniform((hidden,), 0.8, 1.2))
    return g.node("Add", y, g.random((hidden,), 0.1))


def gelu(g, x):
    """By erf, as torch.nn.functional.gelu is exported."""
    y = g.node("Erf", g.node("Div", x, g.const(math.sqrt(2))))
    y = g.node("Add", y, g.const(1.0))
    return g.node("Mul", g.node("Mul", x, y), g.const(0.5))


def gelu_tanh(g, x):
    """GPT-2's approximation."""
    cubic = g.node("Mul", g.node("Pow", x, g.const(3.0)), g.const(0.044715))
    y = g.node("Mul", g.node("Add", x, cubic), g.const(math.sqrt(2 / math.pi)))
    y = g.node("Add", g.node("Tanh", y), g.const(1.0))
    return g.node("Mul", g.node("Mul", x, g.const(0.5)), y)


def linear(g, x, n_in, n_out, gain=1.0):
    """x W + b, in the order of operands that the exporter gives the sum."""
    return g.node(
        "Add", g.random((n_out,), 0.02), g.node("MatMul", x, g.kaiming((n_in, n_out), n_in, gain))
    )


class Sizes:
    """Batch and sequence of a graph: numbers, or taken from the shape of an input."""

    def __init__(self, g, source, batch, sequence):
        self.g, self.batch, self.sequence = g, batch, sequence
        self.fixed = isinstance(batch, int) and isinstance(sequence, int)
        if not self.fixed:
            shape = g.node("Shape", source)
            self.sizes = [self._one(shape, axis) for axis in (0, 1)]

    def _one(self, shape, axis):
        size = self.g.node("Gather", shape, self.g.const(axis, "int64"), axis=0)
        return self.g.node("Unsqueeze", size, self.g.ints(0))

    def reshape(self, x, *rest):
        """To [batch, sequence, *rest]."""
        if self.fixed:
            return self.g.node("Reshape", x, self.g.ints(self.batch, self.sequence, *rest))
        shape = self.g.node("Concat", *self.sizes, self.g.ints(*rest), axis=0)
        return self.g.node("Reshape", x, shape)

    def first(self, x, axes):
        """The first `sequence` entries of x along each of these axes."""
        end = self.g.ints(self.sequence) if self.fixed else self.sizes[1]
        for axis in axes:
            x = self.g.node("Slice", x, self.g.ints(0), end, self.g.ints(axis))
        return x


def heads(g, sizes, x, n_head, width, perm):
    return g.node("Transpose", sizes.reshape(x, n_head, width), perm=perm)


def attend(g, sizes, qkv, hidden, n_head, mask):
    """Attention of all heads; `mask` turns scores into masked scores."""
    q, k, v = qkv
    width = hidden // n_head
    q = heads(g, sizes, q, n_head, width, [0, 2, 1, 3])
    k = heads(g, sizes, k, n_head, width, [0, 2, 3, 1])
    v = heads(g, sizes, v, n_head, width, [0, 2, 1, 3])
    scores = g.node("Div", g.node("MatMul", q, k), g.const(math.sqrt(width)))
    y = g.node("MatMul", g.node("Softmax", mask(scores), axis=-1), v)
    return sizes.reshape(g.node("Transpose", y, perm=[0, 2, 1, 3]), hidden)


def bert_layer(g, sizes, x, hidden, n_head, mask):
    qkv = [linear(g, x, hidden, hidden) for _ in range(3)]
    y = attend(g, sizes, qkv, hidden, n_head, mask)
    x = layer_norm(g, g.node("Add", linear(g, y, hidden, hidden), x), hidden)
    y = gelu(g, linear(g, x, hidden, 4 * hidden))
    return layer_norm(g, g.node("Add", linear(g, y, 4 * hidden, hidden), x), hidden)


def bert_embedding(g, sizes, ids, types, hidden, vocabulary, positions):
    word = g.node("Gather", g.random((vocabulary, hidden)), ids)
    kind = g.node("Gather", g.random((2, hidden), 0.1), types)
    where = sizes.first(g.const(np.arange(positions)[None], "int64"), [1])
    place = g.node("Gather", g.random((positions, hidden), 0.1), where)
    return layer_norm(g, g.node("Add", g.node("Add", word, kind), place), hidden)


def bert_mask(g, mask):
    """0 where the mask is 1, the lowest number elsewhere: [batch, 1, 1, sequence]."""
    mask = g.node("Unsqueeze", g.node("Unsqueeze", mask, g.ints(1)), g.ints(2))
    mask = g.node("Sub", g.const(1.0), g.node("Cast", mask, to=1))
    return g.node("Mul", mask, g.const(LOWEST))


def bert(
    layers=12, hidden=768, n_head=12, vocabulary=30522, positions=512, batch=1, sequence=128, seed=3
):
    """BERT-base by default.  Symbols for batch and sequence are allowed."""
    g = Graph("bert", opset=14, seed=seed)
    ids, ones, types = (
        g.input(name, [batch, sequence], "int64")
        for name in ("input_ids", "attention_mask", "token_type_ids")
    )
    sizes = Sizes(g, ids, batch, sequence)
    bias = bert_mask(g, ones)
    x = bert_embedding(g, sizes, ids, types, hidden, vocabulary, positions)
    for _ in range(layers):
        x = bert_layer(g, sizes, x, hidden, n_head, lambda scores: g.node("Add", scores, bias))
    first = g.node("Gather", x, g.const(0, "int64"), axis=1)
    w, b = g.kaiming((hidden, hidden), hidden, 1.0), g.random((hidden,), 0.02)
    pooled = g.node("Tanh", g.node("Gemm", first, w, b, transB=1))
    g.output("last_hidden_state", x, [batch, sequence, hidden])
    g.output("pooler_output", pooled, [batch, hidden])
    return g.model()


def flat_linear(g, sizes, x, n_in, n_out):
    """GPT-2's Conv1D: all tokens as the rows of one Gemm."""
    w, b = g.kaiming((n_in, n_out), n_in, 1.0), g.random((n_out,), 0.02)
    y = g.node("Gemm", g.node("Reshape", x, g.ints(-1, n_in)), w, b)
    return sizes.reshape(y, n_out)


def gpt_layer(g, sizes, x, hidden, n_head, mask):
    y = flat_linear(g, sizes, layer_norm(g, x, hidden, 1e-5), hidden, 3 * hidden)
    qkv = g.node("Split", y, g.ints(hidden, hidden, hidden), outputs=3, axis=2)
    y = attend(g, sizes, qkv, hidden, n_head, mask)
    x = g.node("Add", flat_linear(g, sizes, y, hidden, hidden), x)
    y = gelu_tanh(g, flat_linear(g, sizes, layer_norm(g, x, hidden, 1e-5), hidden, 4 * hidden))
    return g.node("Add", x, flat_linear(g, sizes, y, 4 * hidden, hidden))


def gpt(
    layers=2, hidden=128, n_head=4, vocabulary=1000, positions=256, batch=1, sequence=32, seed=4
):
    """A causal decoder: each token sees itself and those before it."""
    g = Graph("gpt", opset=14, seed=seed)
    ids = g.input("input_ids", [batch, sequence], "int64")
    sizes = Sizes(g, ids, batch, sequence)
    words = g.random((vocabulary, hidden), 0.5)
    where = sizes.first(g.const(np.arange(positions)[None], "int64"), [1])
    place = g.node("Gather", g.random((positions, hidden), 0.1), where)
    x = g.node("Add", g.node("Gather", words, ids), place)
    seen = g.const(np.tril(np.ones((1, 1, positions, positions), bool)), "bool")
    seen, lowest = sizes.first(seen, [2, 3]), g.const(LOWEST)
    for _ in range(layers):
        x = gpt_layer(
            g, sizes, x, hidden, n_head, lambda scores: g.node("Where", seen, scores, lowest)
        )
    x = layer_norm(g, x, hidden, 1e-5)
    logits = g.node("MatMul", x, g.node("Transpose", words, perm=[1, 0]))
    g.output("logits", logits, [batch, sequence, vocabulary])
    return g.model()


def turning(g, positions, half):
    """Cosines and sines of rotary embeddings, [1, positions, half]."""
    angle = np.outer(np.arange(positions), 10000.0 ** (-np.arange(half) / half))[None]
    return g.const(np.cos(angle)), g.const(np.sin(angle))


def llama_layer(g, x, hidden, n_head, n_shared, angles):
    size = hidden // n_head

    def product(value, n_in, n_out):
        return g.node("MatMul", value, g.kaiming((n_in, n_out), n_in, 1.0))

    y = g.node("RMSNormalization", x, g.uniform((hidden,), 0.8, 1.2))
    q = product(y, hidden, hidden)
    k, v = (product(y, hidden, n_shared * size) for _ in range(2))
    q = g.node("RotaryEmbedding", q, *angles, num_heads=n_head)
    k = g.node("RotaryEmbedding", k, *angles, num_heads=n_shared)
    y = g.node("Attention", q, k, v, is_causal=1, q_num_heads=n_head, kv_num_heads=n_shared)
    x = g.node("Add", x, product(y, hidden, hidden))
    y = g.node("RMSNormalization", x, g.uniform((hidden,), 0.8, 1.2))
    gate, up = (product(y, hidden, 2 * hidden) for _ in range(2))
    y = g.node("Mul", g.node("Mul", gate, g.node("Sigmoid", gate)), up)
    return g.node("Add", x, product(y, 2 * hidden, hidden))


def llama(layers, hidden, n_head, n_shared, vocabulary, sequence):
    """Keys and values are shared by n_head / n_shared heads."""
    g = Graph("llama", opset=23)
    ids = g.input("input_ids", [1, sequence], "int64")
    x = g.node("Gather", g.random((vocabulary, hidden), 0.5), ids)
    angles = turning(g, sequence, hidden // n_head // 2)
    for _ in range(layers):
        x = llama_layer(g, x, hidden, n_head, n_shared, angles)
    x = g.node("RMSNormalization", x, g.uniform((hidden,), 0.8, 1.2))
    y = g.node("MatMul", x, g.kaiming((hidden, vocabulary), hidden, 1.0))
    g.output("logits", y, [1, sequence, vocabulary])
    return g.model()
