"""hone as an execution provider by regions, in the runtime itself: networks with a loop, a
non-maximum suppression or texts in them give the same answers, the regions that hone has are its, the rest is
the runtime's; and a list of regions that lies is left alone.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import check_ort as base
import numpy as np
import onnx
import onnxruntime as ort

make, value, kinds = onnx.helper, onnx.helper.make_tensor_value_info, onnx.TensorProto
OWN, RUNTIME = base.NAME, "CPUExecutionProvider"
NODE = make.make_node


def weights(seed=5, **shapes):
    rng = np.random.default_rng(seed)
    return [
        onnx.numpy_helper.from_array(
            (rng.standard_normal(s) / np.sqrt(np.prod(s[1:]) if len(s) > 2 else s[0])).astype(
                np.float32
            ),
            name,
        )
        for name, s in shapes.items()
    ]


def constant(name, dtype, data):
    return onnx.numpy_helper.from_array(np.array(data, dtype), name)


def save(path, nodes, ins, outs, initializers, said=()):
    graph = make.make_graph(nodes, "own", ins, outs, initializers, value_info=list(said))
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path)


def with_loop(path):
    """Two products, a loop that keeps their shape, two products; one skips the loop."""
    f = kinds.FLOAT
    body = make.make_graph(
        [
            NODE("Identity", ["go"], ["go_on"]),
            NODE("Mul", ["h", "half"], ["t"]),
            NODE("Add", ["t", "skip"], ["h_next"]),
        ],
        "body",
        [value("i", kinds.INT64, []), value("go", kinds.BOOL, []), value("h", f, [16, 64])],
        [value("go_on", kinds.BOOL, []), value("h_next", f, [16, 64])],
        [constant("half", np.float32, 0.5)],
    )
    nodes = [
        NODE("MatMul", ["x", "u1"], ["a"]),
        NODE("Relu", ["a"], ["b"]),
        NODE("MatMul", ["b", "u2"], ["c"]),
        NODE("Tanh", ["c"], ["skip"]),
        NODE("Loop", ["trip", "true", "c"], ["d"], body=body),
        NODE("MatMul", ["d", "u3"], ["e"]),
        NODE("Relu", ["e"], ["f"]),
        NODE("MatMul", ["f", "u4"], ["g"]),
        NODE("Add", ["g", "c"], ["y"]),
    ]
    data = weights(u1=(64, 128), u2=(128, 64), u3=(64, 128), u4=(128, 64))
    data += [constant("trip", np.int64, 3), constant("true", np.bool_, True)]
    shape = value("d", f, [16, 64])
    save(path, nodes, [value("x", f, [16, 64])], [value("y", f, [16, 64])], data, [shape])


def with_boxes(path):
    """A small detector: convolutions, boxes and scores, and what suppresses boxes."""
    f = kinds.FLOAT
    nodes = [
        NODE("Conv", ["x", "w1"], ["a"], pads=[1] * 4, strides=[2, 2]),
        NODE("Relu", ["a"], ["b"]),
        NODE("Conv", ["b", "wb"], ["g"]),
        NODE("Conv", ["b", "wc"], ["i"]),
        NODE("Reshape", ["g", "sb"], ["gb"]),
        NODE("Transpose", ["gb"], ["boxes"], perm=[0, 2, 1]),
        NODE("Reshape", ["i", "sc"], ["ic"]),
        NODE("Sigmoid", ["ic"], ["scores"]),
        NODE("NonMaxSuppression", ["boxes", "scores", "most", "iou", "least"], ["chosen"]),
    ]
    data = weights(w1=(16, 3, 3, 3), wb=(4, 16, 1, 1), wc=(2, 16, 1, 1))
    data += [
        constant("sb", np.int64, [1, 4, -1]),
        constant("sc", np.int64, [1, 2, -1]),
        constant("most", np.int64, [9]),
        constant("iou", np.float32, [0.5]),
        constant("least", np.float32, [0.3]),
    ]
    outs = [value("chosen", kinds.INT64, [None, 3]), value("boxes", f, [1, 256, 4])]
    save(path, nodes, [value("x", f, [1, 3, 32, 32])], outs, data)


def with_texts(path):
    """A product, and texts beside it."""
    f, s = kinds.FLOAT, kinds.STRING
    nodes = [
        NODE("MatMul", ["x", "u"], ["a"]),
        NODE("Relu", ["a"], ["y"]),
        NODE("StringNormalizer", ["s"], ["t"], case_change_action="UPPER", locale="C"),
    ]
    ins = [value("x", f, [64, 64]), value("s", s, [2])]
    save(path, nodes, ins, [value("y", f, [64, 64]), value("t", s, [2])], weights(u=(64, 64)))


def with_open_size(path):
    """The batch is open."""
    f = kinds.FLOAT
    nodes = [
        NODE("MatMul", ["x", "u"], ["a"]),
        NODE("Relu", ["a"], ["b"]),
        NODE("NonZero", ["b"], ["z"]),
    ]
    outs = [value("b", f, ["n", 128]), value("z", kinds.INT64, [2, None])]
    save(path, nodes, [value("x", f, ["n", 64])], outs, weights(u=(64, 128)))


def feed_of(session):
    rng = np.random.default_rng(3)
    return {
        i.name: np.array(["ab", "c"], object)
        if i.type == "tensor(string)"
        else rng.standard_normal([n if isinstance(n, int) else 16 for n in i.shape]).astype(
            np.float32
        )
        for i in session.get_inputs()
    }


def compiled(path, folder, *words):
    command = [base.BIN / "hone", "compile", path, "--auto", "--unchecked", "--regions", *words]
    return subprocess.run([*command, "-o", folder], capture_output=True, text=True)


class Regions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        os.environ["HONE_HOME"] = str(cls.folder / "home")
        ort.register_execution_provider_library("hone", str(base.PLUGIN))
        for write in (with_loop, with_boxes, with_texts):
            path = cls.folder / f"{write.__name__}.onnx"
            write(path)
            done = compiled(path, path.with_suffix(".hone"))
            assert done.returncode == 0, done.stderr
        cls.path = cls.folder / "with_loop.onnx"

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def same(self, path, n_own, dims=None, **settings):
        """So many nodes are hone's, and the answers are the runtime's."""
        settings = {"claim": "always", "threads": "1"} | settings
        mine = base.with_provider(path, self.folder, dims, **settings)
        plain = ort.InferenceSession(str(path), base.options(dims))
        feed = feed_of(plain)
        for got, want in zip(mine.run(None, feed), plain.run(None, feed)):
            self.assertEqual(got.shape, want.shape)
            if want.dtype == np.float32:
                np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 * np.abs(want).max())
            else:
                np.testing.assert_array_equal(got, want)
        events = json.loads(pathlib.Path(mine.end_profiling()).read_text())
        ran = [e["args"]["node_index"] for e in events if e.get("args", {}).get("provider") == OWN]
        self.assertEqual(len(set(ran)), n_own)
        return mine

    def copy(self, name, of="with_loop"):
        folder = self.folder / name
        shutil.copytree(self.folder / f"{of}.hone", folder)
        return folder

    def test_the_rest_is_the_runtimes(self):
        for name, n in (("with_loop", 2), ("with_boxes", 1), ("with_texts", 1)):
            with self.subTest(name):
                self.same(self.folder / f"{name}.onnx", n)
                self.same(self.folder / f"{name}.onnx", n, threads="2")
        self.same(self.path, 1, regions="region-2")
        self.same(self.path, 0, claim="never")

    def test_who_won_is_taken(self):
        folder = self.copy("won.hone")
        settings = {"claim": "faster", "library": str(folder), "threads": "1"}
        base.with_provider(self.path, self.folder, **settings)  # races
        own = [folder / f"region-{i}" / "race.json" for i in (1, 2)]
        kept = [json.loads(p.read_text()) for p in own]
        self.assertTrue(all(k["error"] < 1e-4 for k in kept))
        for gains, n in (((1.2, 1.2), 2), ((1.0, 1.2), 1), ((1.0, 1.0), 0)):
            for p, k, gain in zip(own, kept, gains):
                p.write_text(json.dumps(k | {"gain": gain}))
            base.with_provider(self.path, self.folder, **settings)  # races the session, once
            races = list(folder.glob("race-*.json"))
            self.assertEqual(len(races) > 0, n > 0)
            for gain, taken in ((1.1, n), (1.0, 0)):
                if taken != n:  # of several that lost together one is tried alone
                    for p in races:
                        p.write_text(json.dumps(json.loads(p.read_text()) | {"gain": gain}))
                    base.with_provider(self.path, self.folder, **settings)
                for p in folder.glob("race-*.json"):
                    p.write_text(json.dumps(json.loads(p.read_text()) | {"gain": gain}))
                before = {p: p.stat().st_mtime_ns for p in folder.rglob("race*.json")}
                self.same(self.path, taken, **settings)
                if taken == n:  # nothing is raced again
                    after = {p: p.stat().st_mtime_ns for p in folder.rglob("race*.json")}
                    self.assertEqual(before, after)
            for p in folder.glob("race-*.json"):
                p.unlink()

    def test_threads(self):
        sessions = [self.same(self.path, 2) for _ in range(2)]
        feed = feed_of(sessions[0])
        want = sessions[0].run(None, feed)[0]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for got in pool.map(lambda i: sessions[i % 2].run(None, feed)[0], range(60)):
                np.testing.assert_array_equal(got, want)

    def test_open_sizes(self):
        path = self.folder / "open.onnx"
        with_open_size(path)
        self.assertIn("--dim n=..", compiled(path, self.folder / "open.hone").stderr)
        done = compiled(path, self.folder / "open.hone", "--dim=n=16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.same(path, 1, {"n": 16})
        self.same(path, 0)  # any size is the runtime's
        self.same(path, 0, {"n": 16}, claim="never")
        mine = base.with_provider(path, self.folder, {"n": 16}, threads="1")  # races
        mine.run(None, feed_of(mine))

    def test_lists_that_lie(self):
        def edit(folder, change):
            file = folder / "regions.json"
            file.write_text(json.dumps(change(json.loads(file.read_text()))))

        def swap(v):
            a, b = v["regions"]
            return v | {"regions": [a | {"name": b["name"]}, b | {"name": a["name"]}]}

        outside = str(self.copy("outside.hone") / "region-1")
        for name, change, n in (
            ("newer", lambda v: v | {"format": "hone-regions/2"}, 0),
            ("of another file", lambda v: v | {"onnx": "0" * 64}, 0),
            ("no list", lambda v: [], 0),
            ("a number", lambda v: v | {"regions": 7}, 0),
            ("names", lambda v: v | {"regions": ["region-1"]}, 0),
            ("many", lambda v: v | {"regions": v["regions"] * 9}, 0),
            ("twice", lambda v: v | {"regions": v["regions"] * 2}, 2),
            ("one", lambda v: v | {"regions": v["regions"][:1]}, 1),
            ("swapped", swap, 0),
            ("above", lambda v: v | {"regions": [v["regions"][0] | {"name": "../region-1"}]}, 0),
            ("outside", lambda v: v | {"regions": [v["regions"][0] | {"name": outside}]}, 0),
            ("sizes", lambda v: v | {"dims": {"n": "many"}}, 0),
            ("a line", lambda v: v | {"regions": [v["regions"][0] | {"name": "a\nb"}]}, 0),
        ):
            with self.subTest(name):
                folder = self.copy(f"lie {name}.hone")
                edit(folder, change)
                said, _ = base.heard(lambda: self.same(self.path, n, library=str(folder)))
                self.assertEqual(name != "one", "is left to onnxruntime" in said, said)

    def test_of_another_network(self):
        """A library that fits by its hash, and computes something else."""
        folder = self.copy("foreign.hone")
        shutil.rmtree(folder / "region-1")
        shutil.copytree(self.folder / "with_boxes.hone" / "region-1", folder / "region-1")
        v = json.loads((folder / "regions.json").read_text())
        w = json.loads((self.folder / "with_boxes.hone" / "regions.json").read_text())
        v["regions"][0] = w["regions"][0]
        (folder / "regions.json").write_text(json.dumps(v))
        said, _ = base.heard(lambda: self.same(self.path, 1, library=str(folder)))
        self.assertIn("region-1", said)

    def test_that_waits_for_itself(self):
        """A library that fits, of what is before the loop and of what is behind it."""
        model = onnx.load(self.path)
        g = model.graph
        del g.node[4]
        g.input.append(value("d", kinds.FLOAT, [16, 64]))
        g.output.extend(value(v, kinds.FLOAT, [16, 64]) for v in ("c", "skip"))
        both = self.folder / "both.onnx"
        onnx.save(model, both)
        folder = self.copy("both.hone")
        shutil.rmtree(folder / "region-1")
        base.compiled(both, folder / "region-1")
        v = json.loads((folder / "regions.json").read_text())
        made = json.loads((folder / "region-1" / "model.json").read_text())
        v["regions"] = [v["regions"][0] | {"library": made["library"]}]
        (folder / "regions.json").write_text(json.dumps(v))
        said, _ = base.heard(lambda: self.same(self.path, 0, library=str(folder)))
        self.assertIn("it would wait for itself", said)

    def test_folders(self):
        done = compiled(self.path, self.folder / "with_loop.hone")  # again: it is ours
        self.assertEqual(done.returncode, 0, done.stderr)
        taken = self.folder / "taken.hone"
        taken.mkdir()
        (taken / "regions.json").write_text("mine")
        self.assertIn("not of hone", compiled(self.path, taken).stderr)
        self.assertEqual((taken / "regions.json").read_text(), "mine")
        whole = self.folder / "own.onnx"
        base.own(whole)
        base.compiled(whole, self.folder / "own.hone")
        self.assertIn("as a whole", compiled(whole, self.folder / "own.hone").stderr)
        done = compiled(whole, self.folder / "small.hone")
        self.assertIn("none that would be worth a call", done.stderr)
        self.assertFalse((self.folder / "small.hone").exists())


if __name__ == "__main__":
    if not hasattr(ort, "register_execution_provider_library"):
        print(f"skip: onnxruntime {ort.__version__} loads no providers; 1.23 does")
        sys.exit(77)
    if not base.PLUGIN.is_file():
        print("skip: libhone_ort.so is not built")
        sys.exit(77)
    unittest.main()
