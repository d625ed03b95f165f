"""The torch.compile backend: answers as torch's, what is claimed, and what is left and why.

HONE_HOME is the caller's, for this alone.  The switch claim="always" is on, but where races are the
matter: no test hangs on times.
"""

import doctest
import importlib.metadata
import json
import os
import pathlib
import shutil
import sys
import threading
import unittest

import torch
import torch.nn.functional as F
from torch import nn

import hone
import hone.torch

ALWAYS = {"claim": "always"}
TOLERANCE = 1e-4


class Block(nn.Module):
    """Of a ResNet."""

    def __init__(self, n, m, stride):
        super().__init__()
        self.a, self.b = nn.Conv2d(n, m, 3, stride, 1, bias=False), nn.BatchNorm2d(m)
        self.c, self.d = nn.Conv2d(m, m, 3, 1, 1, bias=False), nn.BatchNorm2d(m)
        self.e = nn.Sequential(nn.Conv2d(n, m, 1, stride, bias=False), nn.BatchNorm2d(m))

    def forward(self, x):
        y = F.relu_(self.b(self.a(x)))
        return F.relu_(self.d(self.c(y)).add_(self.e(x)))


class Attention(nn.Module):
    """With a causal mask, or one that is given."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
        return self.out(y.transpose(1, 2).flatten(2))


def statistics(model):
    """Running statistics that are not 0 and 1."""
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.running_mean, -0.5, 0.5)
            nn.init.uniform_(m.running_var, 0.5, 2)
    return model


def picture(*shape):
    """Some numbers."""
    return torch.randn(*shape)


class Case(unittest.TestCase):
    """Compares with eager."""

    def setUp(self):
        torch.manual_seed(18)
        torch._dynamo.reset()
        hone.torch.reset()

    def compiled(self, model, **options):
        return torch.compile(model, backend="hone", dynamic=False, options={**ALWAYS, **options})

    def near(self, ours, theirs, tolerance=TOLERANCE):
        if isinstance(theirs, (tuple, list)):
            self.assertEqual(len(ours), len(theirs))
            for x, y in zip(ours, theirs):
                self.near(x, y, tolerance)
            return
        self.assertEqual((ours.shape, ours.dtype, ours.stride()),
                         (theirs.shape, theirs.dtype, theirs.stride()))
        if not theirs.dtype.is_floating_point:
            self.assertTrue(torch.equal(ours, theirs))
            return
        most = max(theirs[theirs.isfinite()].abs().max().item(), 1e-3)
        torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance * most, equal_nan=True)

    def same(self, model, *inputs, tolerance=TOLERANCE, whole=True, **options):
        """Twice, on inputs that are copies, which must be changed alike."""
        fast = self.compiled(model, **options)
        with torch.no_grad():
            for _ in range(2):
                ours, theirs = ([x.clone() for x in inputs] for _ in "ab")
                self.near(fast(*ours), model(*theirs), tolerance)
                self.near(ours, theirs, 0 if whole else tolerance)
        if whole:
            self.assertEqual([(g.n_operators, g.left) for g in hone.torch.explain()],
                             [(sum(len(c.operators) for c in g.claims), {})
                              for g in hone.torch.explain()], str(hone.torch.explain()))
        self.assertTrue(all(c.state == "claimed" for g in hone.torch.explain() for c in g.claims),
                        str(hone.torch.explain()))
        return fast


class Models(Case):
    """Networks as people write them."""

    def test_mlp(self):
        model = nn.Sequential(nn.Linear(20, 40), nn.GELU(), nn.Linear(40, 30), nn.SiLU(),
                              nn.LayerNorm(30), nn.Linear(30, 7, bias=False), nn.Softmax(-1))
        self.same(model.eval(), picture(5, 20))
        self.assertEqual(len(hone.torch.explain()[0].claims), 1)

    def test_residual(self):
        model = statistics(nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), nn.MaxPool2d(3, 2, 1),
                                         Block(8, 8, 1), Block(8, 16, 2),
                                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)))
        self.same(model.eval(), picture(2, 3, 32, 32))
        self.same(model.eval().to(memory_format=torch.channels_last),
                  picture(2, 3, 32, 32).to(memory_format=torch.channels_last))

    def test_mobile(self):
        model = statistics(nn.Sequential(
            nn.Conv2d(4, 8, 1), nn.BatchNorm2d(8), nn.Hardswish(inplace=True),
            nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.ReLU6(), nn.ZeroPad2d((0, 1, 2, 0)),
            nn.GroupNorm(2, 8), nn.ConvTranspose2d(8, 4, 2, 2), nn.AvgPool2d(2), nn.ELU(),
            nn.Upsample(scale_factor=2), nn.LeakyReLU(0.1), nn.Hardsigmoid()))
        self.same(model.eval(), picture(1, 4, 10, 11))

    def test_pools(self):
        for pool, taken in ((nn.MaxPool2d(3, 2, ceil_mode=True), True),
                            (nn.MaxPool2d(3, 3, 1, ceil_mode=True), True),
                            (nn.MaxPool2d(3, 2, 1, 2), True),
                            (nn.MaxPool2d(1, 4, ceil_mode=True), False),
                            (nn.MaxPool2d(2, 5, 1, ceil_mode=True), False),
                            (nn.AvgPool2d(3, 2, 1), True),
                            (nn.AvgPool2d(3, 2, 1, count_include_pad=False), True),
                            (nn.AvgPool2d(2, 2, ceil_mode=True), False)):
            with self.subTest(pool):
                self.setUp()
                self.same(nn.Sequential(nn.ReLU(), pool, nn.Tanh()), picture(1, 2, 9, 10),
                          whole=taken)
                self.assertEqual(bool(hone.torch.explain()[0].left), not taken)

    def test_encoders(self):
        for first in (False, True):
            layer = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, norm_first=first,
                                               activation="gelu")
            self.same(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval(),
                      picture(2, 9, 32))

    def test_attention(self):
        x, mask = picture(2, 6, 16), torch.rand(6, 6) > 0.3
        mask.fill_diagonal_(True)
        for how in ((), (mask,), (picture(6, 6),)):
            with self.subTest(how):
                self.setUp()
                self.same(Attention(16, 2).eval(), x, *how)

    def test_tokens(self):
        class Tokens(nn.Module):
            def __init__(self):
                super().__init__()
                self.words, self.places = nn.Embedding(50, 16), nn.Embedding(12, 16)
                self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

            def forward(self, ids):
                at = torch.arange(ids.shape[1])
                y = self.layer(self.words(ids) + self.places(at))
                keep = (ids != 0).unsqueeze(-1)
                return (y * keep).sum(1) / keep.sum(1).clamp(min=1)
        self.same(Tokens().eval(), torch.randint(0, 50, (3, 12)))

    def test_bfloat16(self):
        model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)).eval().bfloat16()
        self.same(model, picture(4, 16).bfloat16(), tolerance=2e-2)


class Odd(Case):
    """What other backends stumble over."""

    def test_elementwise(self):
        def f(x, y):
            a = torch.where(x > y, x * 2 - y, (x - 1).abs().sqrt()) / 3
            b = torch.maximum(x, y).clamp(-1, 1).pow(2) + torch.rsqrt(x * x + 1)
            return a, b, (1 - x).tanh(), x <= y, x != 0, torch.sub(x, y, alpha=3)
        self.same(f, picture(3, 5), picture(5))

    def test_reductions(self):
        def f(x):
            return (x.mean((1, 2)), x.sum(), x.amax(0), x.amin(-1, keepdim=True), x.var(1),
                    F.log_softmax(x, 1), x.softmax(0), x.mean(), x.var(unbiased=False))
        self.same(f, picture(3, 4, 5))

    def test_types(self):
        def f(x, n, d):
            return x + n, n * 2, n / 3, x.double() * d, d.float() + x, n.to(torch.int32) - 1
        self.same(f, picture(4), torch.arange(4), torch.rand(4, dtype=torch.float64))

    def test_views(self):
        def f(x):
            y = x * 2
            a, b = y.chunk(2, 1)
            return (torch.cat([b, a], 1), y.transpose(0, 1), y[1:, ::2], y[0], y.unbind(0)[1] + 1,
                    y.reshape(-1), y.unsqueeze(1), y.permute(1, 0).contiguous())
        self.same(f, picture(4, 6), whole=False)
        self.assertEqual(list(hone.torch.explain()[0].left), ["slice"])

    def test_view_of_an_input(self):
        self.same(lambda x: (x.view(-1), x.t(), x.t() + 1), picture(3, 4))

    def test_in_place(self):
        def f(x):
            x.add_(1)
            y = x * 2
            y[0] = 5
            y[:, 1].mul_(3)
            return y.relu_() + x
        self.same(f, picture(3, 4), whole=False)

    def test_gaps(self):
        wide = picture(4, 12)

        def f(x):
            y = x * 2 + 1
            return y, y.exp(), y[:, 1:3], y.sum(1, keepdim=True).expand(4, 7)
        fast = self.compiled(f)
        self.near(fast(wide[:, ::2]), f(wide[:, ::2]))
        said = hone.torch.explain()[0]
        self.assertEqual((said.left["mul"], said.left["slice"], said.left["expand"]),
                         ("an operand with gaps between its elements",
                          *["its result has gaps between its elements"] * 2))
        self.assertEqual([c.state for c in said.claims], ["claimed"], str(said))

    def test_permuted_input(self):
        def f(x):
            return (x * 2).sum(0), x + 1
        fast = self.compiled(f)
        x = picture(4, 5, 6).permute(2, 0, 1)
        self.near(fast(x), f(x))
        self.assertEqual(hone.torch.explain()[0].claims[0].state, "claimed")

    def test_control_flow(self):
        class Branch(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)

            def forward(self, x):
                y = self.a(x)
                if y.sum() > 0:
                    return self.b(y)
                return self.b(-y) - 1
        model = Branch().eval()
        fast = self.compiled(model)
        with torch.no_grad():
            for sign in (1, -1, 1):
                x = picture(2, 6) * sign
                self.near(fast(x), model(x))
        self.assertGreater(len(hone.torch.explain()), 1)

    def test_random_is_left(self):
        model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 8)).train()
        fast = self.compiled(model)
        with torch.no_grad():
            x = picture(2, 8)
            torch.manual_seed(1)
            want = model(x)
            torch.manual_seed(1)
            self.near(fast(x), want)
        self.assertIn("is random", str(hone.torch.explain()))

    def test_without_elements(self):
        fast = self.compiled(lambda x: x * 2 + 1)
        self.assertEqual(fast(torch.zeros(0, 3)).shape, (0, 3))

    def test_unknown_operator(self):
        def f(x):
            y = torch.cumsum(x * 2 + 1, 0)
            return y.sigmoid() * 3
        self.same(f, picture(4, 4), whole=False)
        said = hone.torch.explain()[0]
        self.assertEqual((len(said.claims), list(said.left)), (2, ["cumsum"]))

    def test_numbers_that_are_none(self):
        x = torch.tensor([1.0, float("nan"), float("inf"), -float("inf")])
        self.same(lambda x: (x.clamp(-1, 1), x * 0, x.sigmoid(), x + x, x.exp()), x)


class Rules(Case):
    """What is left to torch, and what follows a change."""

    def test_docstring(self):
        done = doctest.testmod(hone.torch)
        self.assertEqual((done.failed, done.attempted > 5), (0, True))

    def test_training(self):
        model = nn.Linear(4, 3)
        twin = nn.Linear(4, 3)
        twin.load_state_dict(model.state_dict())
        x = picture(2, 4)
        self.compiled(model)(x).sum().backward()
        twin(x).sum().backward()
        self.near(model.weight.grad, twin.weight.grad)
        self.assertIn("computes gradients", str(hone.torch.explain()))

    def test_weights_change(self):
        for change in (lambda w: w.mul_(2), lambda w: w.data.add_(1)):
            for weights in ("packed", "arguments"):
                with self.subTest(weights), torch.no_grad():
                    self.setUp()
                    model = nn.Sequential(nn.Linear(6, 6), nn.ReLU()).eval()
                    x = picture(3, 6)
                    fast = self.same(model, x, weights=weights)
                    change(model[0].weight)
                    self.near(fast(x), model(x))
                    said = hone.torch.explain()[0].claims[0]
                    self.assertEqual(said.state, "left" if weights == "packed" else "claimed")
                    if weights == "packed":
                        self.assertIn("weights were changed", said.reason)

    def test_sizes(self):
        model = nn.Linear(4, 3).eval()
        fast = self.compiled(model)
        with torch.no_grad():
            for n in (1, 2, 5, 2):
                x = picture(n, 4)
                self.near(fast(x), model(x))
        self.assertEqual(len(hone.torch.explain()), 3)
        self.setUp()
        fast = torch.compile(model, backend="hone", dynamic=True, options=ALWAYS)
        with torch.no_grad():
            for n in (3, 5):
                x = picture(n, 4)
                self.near(fast(x), model(x))
        self.assertIn("its sizes are not fixed", str(hone.torch.explain()))

    def test_inference_mode(self):
        model = nn.Linear(4, 3).eval()
        fast = self.compiled(model)
        with torch.inference_mode():
            x = picture(2, 4)
            self.near(fast(x), model(x))
        self.assertEqual(hone.torch.explain()[0].claims[0].state, "claimed")

    def test_threads_take_turns(self):
        model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 8)).eval()
        fast = self.compiled(model)
        inputs = [picture(4, 32) for _ in range(4)]
        wrong = []

        def call(x):
            with torch.no_grad():
                want = model(x)
                for _ in range(50):
                    if not torch.allclose(fast(x), want, atol=TOLERANCE):
                        wrong.append(x)
        with torch.no_grad():
            fast(inputs[0])
        threads = [threading.Thread(target=call, args=(x,)) for x in inputs]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_race_decides(self):
        # a race that was won or lost is believed later
        model = nn.Sequential(nn.Linear(6, 6), nn.ReLU()).eval()
        x = picture(3, 6)
        with torch.no_grad():
            self.near(self.compiled(model, claim="faster")(x), model(x))
        claim = hone.torch.explain()[0].claims[0]
        self.assertEqual(claim.state, "claimed" if claim.gain >= 1.05 else "left")
        kept = pathlib.Path(claim.path).parent / "race.json"
        for told, state in ((0.5, "left"), (1.06, "claimed")):
            kept.write_text(json.dumps({**json.loads(kept.read_text()), "gain": told}))
            self.setUp()
            with torch.no_grad():
                self.near(self.compiled(model, claim="faster")(x), model(x))
            claim = hone.torch.explain()[0].claims[0]
            self.assertEqual((claim.state, claim.gain), (state, told))
        for damaged in ("{", "[]", '{"format": 7}', '{"format": "hone-torch-race/1"}'):
            kept.write_text(damaged)
            self.setUp()
            with torch.no_grad():
                self.near(self.compiled(model, claim="faster")(x), model(x))
            self.assertNotEqual(kept.read_text(), damaged)

    def test_wrong_answers_are_left(self):
        model = nn.Sequential(nn.Linear(6, 6), nn.ReLU()).eval()
        x = picture(3, 6)
        fast, right = self.compiled(model), hone.torch.race.difference
        hone.torch.race.difference = lambda ours, theirs: right([t + 1 for t in ours], theirs)
        try:
            with torch.no_grad():
                self.near(fast(x), model(x))
        finally:
            hone.torch.race.difference = right
        self.assertIn("answers differ", hone.torch.explain()[0].claims[0].reason)

    def test_never(self):
        fast = self.compiled(nn.Linear(4, 3).eval(), claim="never")
        with torch.no_grad():
            fast(picture(2, 4))
        self.assertEqual(hone.torch.explain()[0].claims[0].reason, "claim is never")

    def test_damage_is_mended(self):
        model = nn.Sequential(nn.Linear(5, 5), nn.ReLU()).eval()
        x = picture(3, 5)
        self.same(model, x)
        folder = pathlib.Path(hone.torch.explain()[0].claims[0].path).parent
        for name, data in (("libmodel.so", b"no library"), ("model.weights", b""),
                           ("made-of", b"\xff")):
            with self.subTest(name):
                (folder / name).unlink()
                (folder / name).write_bytes(data)
                self.setUp()
                self.same(model, x)

    def test_another_region_is_refused(self):
        folders = []
        for model in (nn.Linear(5, 9).eval(), nn.Linear(5, 3).eval()):
            self.same(model, picture(3, 5))
            folders.append(pathlib.Path(hone.torch.explain()[-1].claims[0].path).parent)
        for name in ("libmodel.so", "model.weights", "model.h", "model.json"):
            (folders[1] / name).unlink()
            shutil.copy(folders[0] / name, folders[1] / name)
        self.setUp()
        with torch.no_grad():
            x = picture(3, 5)
            self.near(self.compiled(model)(x), model(x))
        self.assertIn("not of this region", hone.torch.explain()[0].claims[0].reason)

    def test_programs_are_missing(self):
        model, x, kept = nn.Linear(5, 4).eval(), picture(3, 5), dict(os.environ)
        os.environ["HONE_BIN"], os.environ["PATH"] = "/nowhere", "/nowhere"
        try:
            with torch.no_grad():
                self.near(self.compiled(model)(x), model(x))
        finally:
            os.environ.update(kept)
        self.assertIn("HONE_BIN names its folder", hone.torch.explain()[0].claims[0].reason)

    def test_options_are_refused(self):
        for bad, words in (({"claims": 1}, "no option claims"), ({"claim": "often"}, "not one of")):
            with self.assertRaisesRegex(Exception, words):
                torch.compile(nn.Linear(2, 2), backend="hone", options=bad)(picture(1, 2))

    @unittest.skipIf(shutil.which(os.environ.get("CXX", "g++")) is None, "inductor wants g++")
    def test_inductor_is_the_rest(self):
        def f(x):
            return torch.cumsum(x * 2, 0)
        fast = self.compiled(f, rest="inductor", claim="never")
        self.near(fast(picture(3, 3) * 0), f(picture(3, 3) * 0))

    def test_registered(self):
        names = [e.name for e in importlib.metadata.entry_points(group="torch_dynamo_backends")]
        self.assertIn("hone", names)
        self.assertIn("hone", torch._dynamo.list_backends())


if __name__ == "__main__":
    print(f"torch: {torch.__version__}", file=sys.stderr)
    torch.set_num_threads(1)
    unittest.main()
