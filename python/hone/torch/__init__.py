"""torch.compile with hone's kernels: torch.compile(model, backend="hone").

What hone has operators for and is faster at is claimed, all else is torch's.

>>> import torch, hone.torch
>>> layer = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
>>> fast = torch.compile(layer, backend=hone.torch.backend, options={"claim": "always"})
>>> x = torch.ones(2, 8)
>>> with torch.no_grad(): torch.allclose(fast(x), layer(x), atol=1e-4)
True
>>> hone.torch.explain()[-1].claims[0].state
'claimed'
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Optional, Sequence

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.aot_autograd import make_boxed_func

from .. import _lib
from .claims import Claim, Explanation, Graph, graphs, new_graph
from .cut import into_regions
from .region import Options

__all__ = ["Claim", "Explanation", "Graph", "Options", "backend", "explain", "reset"]


def explain() -> Explanation:
    """What was claimed of each graph so far, and why the rest was not."""
    return graphs


def reset() -> None:
    """Forget what was explained."""
    graphs.clear()


def _options(given: Optional[Mapping[str, Any]]) -> Options:
    for name, value in (given or {}).items():
        if name not in Options.__dataclass_fields__:
            raise _lib.Invalid(f"backend hone: no option {name}; it has "
                               f"{', '.join(Options.__dataclass_fields__)}")
        if name in Options.CHOICES and value not in Options.CHOICES[name]:
            raise _lib.Invalid(f"backend hone: {name} is {value!r}, not one of "
                               f"{', '.join(Options.CHOICES[name])}")
    return Options(**(given or {}))


def _why_not(example_inputs: Sequence[Any]) -> str:
    """Why nothing of a graph is looked at; "" if it is."""
    if any(not isinstance(t, torch.Tensor) for t in example_inputs) or any(
            not isinstance(n, int) for t in example_inputs for n in t.shape):
        return ("its sizes are not fixed; torch.compile(..., dynamic=False) compiles it for each "
                "size")
    if torch.is_grad_enabled() and any(t.requires_grad for t in example_inputs):
        return "it computes gradients; use torch.no_grad() or torch.inference_mode()"
    if any(t.device.type != "cpu" for t in example_inputs):
        return "its tensors are not in the processor's memory"
    return ""


def backend(gm: torch.fx.GraphModule, example_inputs: Sequence[Any],
            options: Optional[Mapping[str, Any]] = None, **_: Any) -> Callable[..., Any]:
    """What torch.compile calls with each graph.

    Options: claim ("faster", "always" or "never"), weights ("packed" or "arguments"), rest ("eager"
    or "inductor"), folder.
    """
    chosen, about = _options(options), new_graph()
    about.n_operators = sum(n.op in ("call_function", "call_method", "call_module")
                            for n in gm.graph.nodes)
    about.reason = _why_not(example_inputs)
    if about.reason:
        if chosen.rest == "inductor":
            from torch._inductor.compile_fx import compile_fx
            return compile_fx(gm, list(example_inputs))
        return gm.forward

    def for_inference(inner: torch.fx.GraphModule, _: Sequence[Any]) -> Any:
        return make_boxed_func(into_regions(inner, about, chosen).forward)

    def for_training(inner: torch.fx.GraphModule, _: Sequence[Any]) -> Any:
        about.reason = "it computes gradients"
        return make_boxed_func(inner.forward)

    whole = aot_autograd(fw_compiler=for_training, bw_compiler=for_training,
                         inference_compiler=for_inference)(gm, example_inputs)

    def run(*args: Any) -> Any:
        # where all is torch's, its own graph is run: in-place operators are in place there
        if about.claims and any(c.state != "left" for c in about.claims):
            return whole(*args)
        return gm.forward(*args)
    return run
