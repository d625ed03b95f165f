"""hone as an execution provider, in the runtime itself: real models give the same answers through it,
it takes what won its race and nothing else, and what is spoilt or of another kind is left alone.

Needs a runtime that loads providers (1.23 or newer).  HONE_MODELS has the real models; without them a
network of the tests' own does, and a line says so.
"""

import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
import onnxruntime as ort

BIN = pathlib.Path(os.environ["HONE_BIN"])
PLUGIN = BIN.parent / "lib" / "libhone_ort.so"
MODELS = pathlib.Path(os.environ.get("HONE_MODELS") or "/nonexistent")
NAME = "HoneExecutionProvider"
N_DAMAGED = int(os.environ.get("HONE_DAMAGED", "300"))
REAL = {
    "magika": {"unk__214": 1},
    "nmp": {"unk__749": 1},
    "minilm_l3": {"batch_size": 1, "sequence_length": 32},
}
TYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}


def own(path):
    """A network of two layers."""
    rng = np.random.default_rng(7)
    make = onnx.helper
    weights = [
        onnx.numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)
        for name, shape in (("w", (48, 64)), ("b", (64,)), ("v", (64, 10)))
    ]
    nodes = [
        make.make_node("MatMul", ["x", "w"], ["h"]),
        make.make_node("Add", ["h", "b"], ["i"]),
        make.make_node("Relu", ["i"], ["j"]),
        make.make_node("MatMul", ["j", "v"], ["k"]),
        make.make_node("Softmax", ["k"], ["y"], axis=1),
    ]
    value = make.make_tensor_value_info
    graph = make.make_graph(
        nodes, "own", [value("x", 1, [4, 48])], [value("y", 1, [4, 10])], weights
    )
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=9), path)


def options(dims=None):
    o = ort.SessionOptions()
    o.log_severity_level = 2
    for name, value in (dims or {}).items():
        o.add_free_dimension_override_by_name(name, value)
    return o


def with_provider(path, folder, dims=None, **settings):
    """A session with the provider, as a user opens it."""
    o = options(dims)
    o.enable_profiling = True
    o.profile_file_prefix = str(folder / "profile")
    devices = [d for d in ort.get_ep_devices() if d.ep_name == NAME]
    o.add_provider_for_devices(devices, settings)
    return ort.InferenceSession(path if isinstance(path, bytes) else str(path), o)


def nodes_of(session):
    """Who ran the nodes: the provider's name, or the runtime's own."""
    file = pathlib.Path(session.end_profiling())
    events = json.loads(file.read_text())
    file.unlink()
    return {e["args"]["provider"] for e in events if "provider" in e.get("args", {})}


def feed_of(session):
    rng = np.random.default_rng(3)
    feed = {}
    for i in session.get_inputs():
        kind = TYPES[i.type]
        feed[i.name] = (
            rng.random(i.shape, dtype=np.float32)
            if kind is np.float32
            else rng.integers(0, 2, i.shape).astype(kind)
        )
    return feed


def compiled(path, folder, dims=None):
    words = [f"--dim={k}={v}" for k, v in (dims or {}).items()]
    command = [BIN / "hone", "compile", path, "--auto", "--unchecked", *words, "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def heard(call):
    """What the runtime logs meanwhile, and the result."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            result = call()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read().decode(errors="replace"), result


class Provider(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        os.environ["HONE_HOME"] = str(cls.folder / "home")
        ort.register_execution_provider_library("hone", str(PLUGIN))
        cls.path = cls.folder / "own.onnx"
        own(cls.path)
        compiled(cls.path, cls.folder / "own.hone")

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def same(self, path, dims=None, **settings):
        """It runs all, and the answers are the runtime's."""
        mine = with_provider(path, self.folder, dims, claim="always", **settings)
        plain = ort.InferenceSession(str(path), options(dims))
        feed = feed_of(plain)
        for got, want in zip(mine.run(None, feed), plain.run(None, feed)):
            self.assertEqual(got.shape, want.shape)
            size = np.abs(want).max() if want.size else 0
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-3 * size)
        self.assertEqual(nodes_of(mine), {NAME})

    def left(self, why, path=None, folder=None, **settings):
        """The runtime's own providers run it, the log says why, and the answers are there."""
        path = path or self.path
        settings = {"claim": "always", "library": str(folder or "")} | settings
        said, session = heard(lambda: with_provider(path, self.folder, **settings))
        session.run(None, feed_of(session))
        self.assertEqual(nodes_of(session), {"CPUExecutionProvider"})
        self.assertIn(why, said)

    def copy(self, name):
        folder = self.folder / name
        shutil.copytree(self.folder / "own.hone", folder)
        return folder

    def test_own(self):
        self.same(self.path)
        self.same(self.path, threads="1")

    def test_real(self):
        there = [n for n in REAL if (MODELS / f"{n}.onnx").is_file()]
        if not there:
            self.skipTest("no real models (HONE_MODELS)")
        for name in there:
            with self.subTest(name):
                path = self.folder / f"{name}.onnx"
                shutil.copy(MODELS / path.name, path)
                compiled(path, self.folder / f"{name}.hone", REAL[name])
                self.same(path, REAL[name])

    def test_what_won_is_taken(self):
        for _ in range(2):  # raced; then from the file
            session = with_provider(self.path, self.folder)
            session.run(None, feed_of(session))
            race = json.loads((self.folder / "own.hone" / "race.json").read_text())
            took = nodes_of(session) == {NAME}
            self.assertEqual(took, race["gain"] >= 1.05)
            self.assertLess(race["error"], 1e-5)
        for gain in (1.2, 1.0):
            race["gain"] = gain
            (self.folder / "own.hone" / "race.json").write_text(json.dumps(race))
            session = with_provider(self.path, self.folder)
            session.run(None, feed_of(session))
            self.assertEqual(nodes_of(session), {NAME if gain > 1.05 else "CPUExecutionProvider"})
        (self.folder / "own.hone" / "race.json").unlink()

    def test_two_sessions_and_threads(self):
        a = with_provider(self.path, self.folder, claim="always")
        b = with_provider(self.path, self.folder, claim="always")
        feed = feed_of(a)
        want = a.run(None, feed)[0]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(4) as pool:
            for got in pool.map(lambda i: (a, b)[i % 2].run(None, feed)[0], range(40)):
                np.testing.assert_array_equal(got, want)

    def test_example(self):
        example = pathlib.Path(os.environ["HONE_SOURCE"]) / "examples" / "onnxruntime" / "run.py"
        command = [sys.executable, example, self.path, PLUGIN]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "y (4, 10) float32\n"), done.stderr)

    def test_not_there(self):
        self.left("is not there: `hone compile", folder=self.folder / "none.hone")
        session = with_provider(self.path, self.folder, claim="never")
        session.run(None, feed_of(session))
        self.assertEqual(nodes_of(session), {"CPUExecutionProvider"})

    def test_other_file(self):
        other = self.folder / "other.onnx"
        model = onnx.load(self.path)
        model.graph.name = "another"
        onnx.save(model, other)
        self.left("was made of another file", other, self.folder / "own.hone")

    def test_from_memory(self):
        self.left("a model from memory", self.path.read_bytes())

    def test_spoilt(self):
        for name, part, spoil, why in (
            ("t1", "model.json", lambda b: b[: len(b) // 2], "model.json"),
            ("t2", "model.json", lambda b: b"[" * 5000, "model.json"),
            ("t3", "model.json", lambda b: b.replace(b'"format":"hone-', b'"format":"'), "no manifest"),
            ("t4", "model.json", lambda b: b.replace(b"-isa=x86-64", b"-isa=pdp11"), "isa"),
            ("t5", "model.weights", lambda b: b[:-64], "not the network's weights"),
            ("t6", "model.weights", lambda b: bytes(len(b)), "refuses its weights"),
            ("t7", "libmodel.so", lambda b: b[: len(b) // 3], "libmodel.so"),
            ("t8", "libmodel.so", lambda b: b"no library", "libmodel.so"),
            ("t9", "model.json", lambda b: b.replace(b"hone-network/1", b"hone-network/2"), "no manifest"),
            ("t10", "model.json", lambda b: re.sub(rb'"target":"[^"]*"', b'"target":"cpu -isa=aarch64-neon"', b), "made for aarch64"),
            ("t11", "model.json", lambda b: b.replace(b'"name":"own"', b'"name":"a\\nb"'), "no network"),
            ("t12", "model.json", lambda b: b + b" " * (65 << 20), "model.json"),
        ):
            with self.subTest(name):
                folder = self.copy(name)
                file = folder / part
                file.write_bytes(spoil(file.read_bytes()))
                self.left(why, folder=folder)

    def test_what_is_no_file(self):
        for name, part, put in (
            ("p1", "model.json", os.mkfifo),
            ("p2", "libmodel.so", os.mkfifo),
            ("p3", "model.json", os.mkdir),
            ("p4", "model.json", lambda f: os.symlink("/dev/zero", f)),
            ("p5", "libmodel.so", lambda f: os.symlink("/nonexistent", f)),
            ("p6", "libmodel.so", lambda f: os.symlink("libmodel.so", f)),
            ("p7", "model.weights", lambda f: os.symlink("/dev/zero", f)),
            ("p8", "model.weights", os.mkfifo),
        ):
            with self.subTest(name):
                folder = self.copy(name)
                (folder / part).unlink()
                put(folder / part)
                self.left(part, folder=folder)
        folder = self.copy("p9")  # what was found before cannot be read: it is raced again
        (folder / "race.json").unlink(missing_ok=True)  # of another test
        os.mkfifo(folder / "race.json")
        with_provider(self.path, self.folder, library=str(folder))
        file = self.folder / "file.hone"
        file.write_bytes(b"")
        self.left("model.json", folder=file)

    def test_of_others(self):
        """A folder that nobody named, and that others could have put there."""
        place = self.folder / "shared"
        place.mkdir()
        path = place / "own.onnx"
        shutil.copy(self.path, path)
        shutil.copytree(self.folder / "own.hone", place / "own.hone")
        self.same(path)
        os.chmod(place / "own.hone", 0o777)
        self.left("others may write there", path)
        self.same(path, library=str(place / "own.hone"))
        os.chmod(place / "own.hone", 0o755)
        if os.geteuid() == 0:
            os.chown(place / "own.hone", 12345, 12345)
            self.left("another user's", path)

    def test_names(self):
        path = self.folder / "a\nb 'c\"%s.onnx"
        shutil.copy(self.path, path)
        said, _ = heard(lambda: with_provider(path, self.folder, claim="always"))
        line = [s for s in said.splitlines() if "is not there" in s]
        self.assertEqual(len(line), 1, said)
        self.assertIn("a b 'c\"%s.onnx is left to onnxruntime", line[0])
        shutil.copytree(self.folder / "own.hone", path.with_suffix(".hone"))
        self.same(path)

    def test_compiled_again(self):
        """While a session has the old library another gets the new one."""
        path = self.folder / "again.onnx"
        feed, want = None, []
        for factor in (1, 3):
            model = onnx.load(self.path)
            w = onnx.numpy_helper.to_array(model.graph.initializer[2]) * factor
            model.graph.initializer[2].CopyFrom(onnx.numpy_helper.from_array(w, "v"))
            onnx.save(model, path)
            compiled(path, self.folder / "again.hone")
            session = with_provider(path, self.folder, claim="always")
            feed = feed_of(session)
            want.append((session, ort.InferenceSession(str(path), options()).run(None, feed)[0]))
        for session, values in want + want:
            np.testing.assert_allclose(session.run(None, feed)[0], values, atol=1e-5)
            self.assertFalse(np.allclose(want[0][1], want[1][1], atol=1e-3))
        for session, _ in want:
            self.assertEqual(nodes_of(session), {NAME})

    def test_processes(self):
        """Several race at once and write what they found."""
        folder = self.copy("many.hone")
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import check_ort as c, pathlib\n"
            "c.ort.register_execution_provider_library('hone', str(c.PLUGIN))\n"
            "s = c.with_provider(sys.argv[2], pathlib.Path(sys.argv[3]), library=sys.argv[4])\n"
            "s.run(None, c.feed_of(s))\n"
        )
        words = [sys.executable, "-c", code, str(pathlib.Path(__file__).parent), self.path]
        runs = []
        for i in range(3):
            (self.folder / f"process{i}").mkdir()
            command = [*words, self.folder / f"process{i}", folder]
            runs.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        for run in runs:
            self.assertEqual((run.wait(), "Traceback" in run.stderr.read()), (0, False))
            run.stderr.close()
        self.assertLess(json.loads((folder / "race.json").read_text())["error"], 1e-4)
        self.assertEqual([f.name for f in folder.iterdir() if "tmp" in f.name], [])

    def test_misaligned(self):
        session = with_provider(self.path, self.folder, claim="always")
        feed = feed_of(session)["x"]
        want = session.run(None, {"x": feed})[0]
        for shift in (1, 2, 4, 32):
            bytes_ = np.zeros(feed.nbytes + 128, np.uint8)
            at = (-bytes_.ctypes.data) % 64 + shift
            view = bytes_[at : at + feed.nbytes].view(np.float32).reshape(feed.shape)
            view[:] = feed
            np.testing.assert_allclose(session.run(None, {"x": view})[0], want, atol=1e-6)
        for bad in (feed.astype(np.float64), feed[:2], feed[None], feed.T):
            with self.assertRaises(Exception):
                session.run(None, {"x": bad})
        strided = np.zeros((4, 96), np.float32)[:, ::2]
        strided[:] = feed
        np.testing.assert_allclose(session.run(None, {"x": strided})[0], want, atol=1e-6)

    def test_damage(self):
        """Cut, or some bits are others: refused, or the answers are right.  The middle of weights has no seal."""
        folder = self.copy("damaged.hone")
        good = {n: (folder / n).read_bytes() for n in ("model.json", "libmodel.so", "model.weights")}
        want = with_provider(self.path, self.folder, claim="never")
        feed = feed_of(want)
        want = want.run(None, feed)[0]
        draw = random.Random(18)
        for turn in range(N_DAMAGED):
            name = draw.choice(list(good))
            data = bytearray(good[name])
            at = draw.randrange(16 if name == "model.weights" else len(data))
            if turn % 4 == 0:
                del data[at:]
            else:
                data[at] ^= 1 << draw.randrange(8)
            (folder / name).unlink()
            (folder / name).write_bytes(data)
            o = options()
            o.log_severity_level = 4
            settings = {"claim": "always", "library": str(folder), "threads": "1"}
            devices = [d for d in ort.get_ep_devices() if d.ep_name == NAME]
            o.add_provider_for_devices(devices, settings)
            session = ort.InferenceSession(str(self.path), o)
            np.testing.assert_allclose(session.run(None, feed)[0], want, atol=1e-5)
            (folder / name).unlink()
            (folder / name).write_bytes(good[name])

    def test_other_shape(self):
        model = onnx.load(self.path)
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 5
        model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 5
        other = self.folder / "shape.onnx"
        onnx.save(model, other)
        compiled(other, self.folder / "shape.hone")
        onnx_of = json.loads((self.folder / "shape.hone" / "model.json").read_text())["onnx"]
        folder = self.copy("other_shape")
        manifest = json.loads((folder / "model.json").read_text())
        manifest["onnx"] = onnx_of
        (folder / "model.json").write_text(json.dumps(manifest))
        self.left("other names, types or shapes", other, folder)

    def test_no_such_claim(self):
        with self.assertRaisesRegex(Exception, "none of faster, always, never"):
            with_provider(self.path, self.folder, claim="perhaps")


if __name__ == "__main__":
    if not hasattr(ort, "register_execution_provider_library"):
        print(f"skip: onnxruntime {ort.__version__} loads no providers; 1.23 does")
        sys.exit(77)
    if not PLUGIN.is_file():
        print("skip: libhone_ort.so is not built")
        sys.exit(77)
    if not MODELS.is_dir():
        print("no real models (HONE_MODELS): a network of the tests' own alone")
    unittest.main()
