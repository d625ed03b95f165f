"""Cuts torch's graph into regions that hone has operators for, as large as they get."""

from __future__ import annotations

from typing import Any, Mapping

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.utils._python_dispatch import _disable_current_modes

from . import ops
from .claims import Claim, Graph
from .onnx_file import File
from .region import Options, Region, is_item, order_of
from .writer import Refused, Writer, type_name


def _name(node: torch.fx.Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return schema.name.removeprefix("aten::") if schema is not None else str(node.target)


def _is_pure(node: torch.fx.Node) -> bool:
    """Whether it gives the same each time, and changes nothing."""
    if is_item(node):
        return True
    schema = getattr(node.target, "_schema", None)
    return (schema is not None and not schema.is_mutable
            and torch.Tag.nondeterministic_seeded not in node.target.tags)


def constants(gm: torch.fx.GraphModule) -> set[torch.fx.Node]:
    """Weights, and what hangs on them alone."""
    context = torch._guards.TracingContext.try_get()
    meta = context.fw_metadata if context is not None else None
    static = set(meta.static_input_indices or []) if meta is not None else set()
    found, place = set(), 0
    for node in gm.graph.nodes:
        if node.op == "placeholder":
            if place in static:
                found.add(node)
            place += 1
        elif node.op == "call_function" and _is_pure(node) and all(
                x in found for x in node.all_input_nodes):
            found.add(node)
    return found


def why_not(node: torch.fx.Node, constant: set[torch.fx.Node]) -> str:
    """Why an operator is not hone's; "" if it is."""
    if node in constant:
        return ""
    if is_item(node):
        return why_not(node.args[0], constant)
    if not _is_pure(node) and _name(node) not in ops.SEEDED:
        return "it changes its operand, or is random"
    try:
        w = Writer(File())
        for x in [*node.all_input_nodes, node]:
            val = x.meta.get("val")
            _look_at(val[0] if isinstance(val, (list, tuple)) else val)
        for x in node.all_input_nodes:
            w.names[x] = "x"
        ops.write(w, node)
    except Refused as e:
        return str(e)
    except Exception as e:  # arguments that the row did not expect are torch's
        return f"{type(e).__name__}: {e}"
    return ""


def _look_at(t: Any) -> None:
    if not isinstance(t, torch.Tensor):
        raise Refused("an operand that is no tensor")
    if t.layout != torch.strided or t.device.type != "cpu" or t.is_complex() or t.is_quantized:
        raise Refused("a tensor that is not dense, real and on the processor")
    if any(not isinstance(n, int) for n in t.shape):
        raise Refused("a size that is not fixed")
    if 0 in t.shape:
        raise Refused("a tensor without elements")
    if t.dim() > 8:
        raise Refused("more than 8 dimensions")
    type_name(t.dtype)


class _Support(OperatorSupportBase):
    def __init__(self, reasons: Mapping[torch.fx.Node, str]) -> None:
        self._reasons = reasons

    def is_node_supported(self, submodules: Any, node: torch.fx.Node) -> bool:
        """Of an operator only."""
        return node.op == "call_function" and self._reasons[node] == ""


def _has_gaps(node: torch.fx.Node) -> bool:
    try:
        order_of(node.meta["val"])
    except Refused:
        return True
    return False


def _without_gaps(partitions: Any, constant: set[torch.fx.Node],
                  reasons: dict[torch.fx.Node, str]) -> bool:
    """Take out of the partitions what would read or give tensors with gaps; whether there was any.
    Inside of a region there are none: a part of a tensor is whole there."""
    found = False
    for nodes in (set(p.nodes) for p in partitions):
        for node in nodes - constant:
            outside = [x for x in node.all_input_nodes if x not in nodes and x not in constant]
            is_result = any(user not in nodes for user in node.users) and not isinstance(
                node.meta["val"], (list, tuple))
            if any(_has_gaps(x) for x in outside if not isinstance(x.meta["val"], (list, tuple))):
                reasons[node], found = "an operand with gaps between its elements", True
            elif is_result and _has_gaps(node):
                reasons[node], found = "its result has gaps between its elements", True
            if reasons[node] and is_item(node):
                reasons[node.args[0]] = reasons[node]
            elif reasons[node]:
                reasons.update((user, reasons[node]) for user in node.users if is_item(user))
    return found


def into_regions(gm: torch.fx.GraphModule, about: Graph, options: Options) -> torch.fx.GraphModule:
    """The graph with its regions; what was left is written down."""
    constant = constants(gm)
    with _disable_current_modes():  # constants that rows make are real
        reasons = {n: why_not(n, constant) for n in gm.graph.nodes if n.op == "call_function"}
    counted = {n.name for n in reasons if not is_item(n) and n not in constant}
    about.n_operators = len(counted)
    fixed = {n.name for n in constant}  # the partitioner makes other nodes of the same names
    while True:
        partitioner = CapabilityBasedPartitioner(gm, _Support(reasons),
                                                 allows_single_node_partition=True)
        partitions = partitioner.propose_partitions()
        if not _without_gaps(partitions, constant, reasons):
            break
    worth = [p for p in partitions if any(n.name in counted and _name(n) not in ops.IDLE
                                          for n in p.nodes)]
    about.left = {_name(n): why for n, why in reasons.items() if why and not is_item(n)}
    whole = partitioner.fuse_partitions(worth)
    for node in list(whole.graph.nodes):
        if node.op != "call_module":
            continue
        inner = whole.get_submodule(node.target)
        claim = Claim([_name(n) for n in inner.graph.nodes
                       if n.op == "call_function" and n.name in counted])
        about.claims.append(claim)
        setattr(whole, node.target, Region(inner, [x.name in fixed for x in node.args], claim,
                                           options))
    whole.recompile()
    return whole
