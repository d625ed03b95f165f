"""The installed package: its examples, arrays without copies, and refusals with their reasons.

HONE_HOME and HONE_SOCKET are the caller's, for this alone.
"""

import array
import doctest
import importlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import hone

try:
    import numpy
except ImportError:
    numpy = None
try:
    import onnx
    import onnx.numpy_helper
except ImportError:
    onnx = None
try:
    import tvm_ffi
except ImportError:
    tvm_ffi = None
try:
    import torch
except ImportError:
    torch = None

CC = shutil.which(os.environ.get("CC", "cc"))
N_DAMAGED = 10000
MM = "mm(float32 A[4,8], float32 B[8,5]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"
OTHER = "mm(float32 A[4,8], float32 B[8,6]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"


def matrix(rows, columns, seed=0):
    """Whole numbers, so that sums are exact."""
    flat = hone.tensors._aligned(4 * rows * columns).cast("f")
    for at in range(rows * columns):
        flat[at] = (at * 7 + seed) % 11 - 5
    return flat.cast("B").cast("f", (rows, columns))


def product(a, b):
    """As lists."""
    n = a.shape[1]
    return [[float(sum(a[i, k] * b[k, j] for k in range(n))) for j in range(b.shape[1])]
            for i in range(a.shape[0])]


class Examples(unittest.TestCase):
    """Every docstring is run."""

    def test_docstrings(self):
        for name in ("curve", "expr", "kernel", "model", "store", "tensors", "tune"):
            module = importlib.import_module(f"hone.{name}")
            with self.subTest(name):
                self.assertEqual(doctest.testmod(module).failed, 0)
        done = doctest.testmod(hone)
        self.assertEqual(done.failed, 0)
        self.assertGreater(done.attempted, 5)


class Kernels(unittest.TestCase):
    """One kernel, called and refused."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.kernel = hone.build(hone.Program(MM), cls.folder.name, auto=True)
        cls.object = pathlib.Path(cls.folder.name, "mm.o")
        cls.manifest = pathlib.Path(cls.folder.name, "mm.json")

    @classmethod
    def tearDownClass(cls):
        cls.kernel.close()
        cls.folder.cleanup()

    def refused(self, error, words, *arguments):
        with self.assertRaisesRegex(error, words):
            self.kernel(*arguments)

    def test_buffers(self):
        a, b, c = matrix(4, 8), matrix(8, 5, 3), matrix(4, 5)
        self.assertEqual([list(row) for row in self.kernel(a, b).tolist()], product(a, b))
        self.assertIsNone(self.kernel(a, b, c))
        self.assertEqual(c.tolist(), product(a, b))

    def test_arguments_are_refused(self):
        a, b = matrix(4, 8), matrix(8, 5)
        self.refused(hone.Invalid, "1 tensors, and it takes 3", a)
        self.refused(hone.Invalid, r"argument 0 \(A\): dimension 0 is 8, not 4", b, b)
        self.refused(hone.Invalid, "it has 1 dimensions, not 2", array.array("f", range(32)), b)
        self.refused(hone.Invalid, "elements are float64, not float32",
                     memoryview(array.array("d", range(32))).cast("B").cast("d", (4, 8)), b)
        self.refused(hone.Invalid, "is no array", "text", b)
        self.refused(hone.Invalid, "may only be read", a, b,
                     memoryview(bytes(80)).cast("f", (4, 5)))
        self.refused(hone.Invalid, r"argument 2 \(C\): it lies over argument 0", a, b,
                     memoryview(a).cast("B")[:80].cast("f", (4, 5)))

    def test_prepared(self):
        text = "mm(float32 A[64,48], const float32 B[48,80]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"
        kernel = hone.build(hone.Program(text), auto=True)
        a, b, c = matrix(64, 48), matrix(48, 80, 3), matrix(64, 80)
        fast = kernel.prepare(b)
        want = product(a, b)
        self.assertEqual(fast(a).tolist(), want)
        self.assertIsNone(fast(a, c))
        self.assertEqual(c.tolist(), want)
        for words, bad in (("dimension 0 is 48, not 64", (b,)), ("0 arrays", ()),
                           ("3 arrays", (a, b, c))):
            with self.assertRaisesRegex(hone.Invalid, words):
                fast(*bad)
        for words, bad in ((r"argument 1 \(B\): dimension 0 is 64", (a,)), ("0 are given", ()),
                           ("2 are given", (b, b)), ("is no array", ("text",))):
            with self.assertRaisesRegex(hone.Invalid, words):
                kernel.prepare(*bad)
        with self.assertRaisesRegex(hone.Invalid, "its constant inputs are"):
            self.kernel.prepare(matrix(8, 5))
        fast.close()
        with self.assertRaisesRegex(hone.Invalid, "closed"):
            fast(a)

    @unittest.skipIf(numpy is None, "no numpy")
    def test_numpy(self):
        a = numpy.arange(32, dtype="f").reshape(4, 8)
        b = numpy.arange(40, dtype="f").reshape(8, 5) - 20
        c = numpy.zeros((4, 5), "f")
        self.assertTrue((self.kernel(a, b) == a @ b).all())
        self.assertIsNone(self.kernel(a, b, c))
        self.assertTrue((c == a @ b).all())
        a.flags.writeable = False
        self.assertTrue((self.kernel(a, b) == a @ b).all())
        self.refused(hone.Invalid, "dimension 1 has stride 4, not 1: .* copy it",
                     numpy.zeros((8, 4), "f").T, b)
        self.refused(hone.Invalid, "dimension 0 has stride 16, not 8",
                     numpy.zeros((4, 16), "f")[:, :8], b)
        self.refused(hone.Invalid, "elements are int32, not float32", numpy.zeros((4, 8), "i"), b)
        odd = numpy.zeros(4 * 8 * 4 + 1, "B")[1:].view("f").reshape(4, 8)
        self.refused(hone.Invalid, "not aligned to the 4 bytes", odd, b)

    @unittest.skipIf(torch is None, "no torch")
    def test_torch(self):
        a = torch.arange(32, dtype=torch.float32).reshape(4, 8)
        b = torch.arange(40, dtype=torch.float32).reshape(8, 5)
        c = self.kernel(a, b)
        self.assertIsInstance(c, torch.Tensor)
        self.assertTrue(torch.equal(c, a @ b))
        # into memory that is there, and a part of a larger tensor's
        whole = torch.zeros(3, 4, 5)
        self.assertIsNone(self.kernel(a, b, whole[1]))
        self.assertTrue(torch.equal(whole[1], a @ b))
        self.assertEqual(whole[0].abs().sum() + whole[2].abs().sum(), 0)
        for words, bad in (
                ("argument 0 .A.: dimension 1 has stride 4, not 1: .* copy it",
                 a.t().contiguous().t()),
                ("dimension 0 has stride 16, not 8", torch.zeros(4, 16)[:, :8]),
                ("dimension 1 has stride 0", torch.zeros(1).expand(4, 8)),
                ("it has 3 dimensions, not 2", a[None]),
                ("elements are float64, not float32", a.double()),
                ("elements are bfloat16", a.bfloat16()),
                ("argument 0 .A.: Tensor gives no memory: .*layout", a.to_sparse()),
                ("argument 0 .A.: Tensor gives no memory: .*meta", a.to("meta")),
                ("argument 0 .A.: Parameter gives no memory: .*use tensor.detach",
                 torch.nn.Parameter(a))):
            self.refused(hone.Invalid, words, bad, b)
        self.refused(hone.Invalid, "argument 1 .B.: Parameter gives no memory", a,
                     torch.nn.Parameter(b))
        self.refused(hone.Invalid, "it lies over argument 0", a, b, a.view(-1)[:20].view(4, 5))

    @unittest.skipIf(torch is None, "no torch")
    def test_torch_bfloat16(self):
        program = hone.Program("f(bfloat16 A[4]) -> B { B(i) = A(i) + bfloat16(1) }")
        kernel = hone.build(program, auto=True)
        got = kernel(torch.arange(4).bfloat16())
        kernel.close()
        self.assertTrue(torch.equal(got, torch.arange(1, 5).bfloat16()))

    @unittest.skipIf(torch is None or not torch.cuda.is_available(), "no torch with a GPU")
    def test_torch_device(self):
        self.refused(hone.Invalid, "argument 0 .A.: .*device", torch.zeros(4, 8).cuda(),
                     torch.zeros(8, 5))

    @unittest.skipIf(tvm_ffi is None or numpy is None or CC is None, "no tvm_ffi, numpy or cc")
    def test_tvm_ffi(self):
        library = pathlib.Path(self.folder.name, "mm.so")
        subprocess.run([CC, "-shared", "-o", library, self.object, "-lm"], check=True)
        call = tvm_ffi.load_module(str(library)).mm
        a = numpy.arange(32, dtype="f").reshape(4, 8)
        b = numpy.arange(40, dtype="f").reshape(8, 5) - 20
        c = numpy.zeros((4, 5), "f")
        a_, b_, c_ = (tvm_ffi.from_dlpack(x) for x in (a, b, c))
        self.assertIsNone(call(a_, b_, c_))
        self.assertTrue((c == a @ b).all())
        for words, bad in (("it takes 3 tensors", (a_, b_)),
                           ("argument 0 .A.: no tensor", (1, b_, c_)),
                           ("dimension 0 is not 4", (b_, b_, c_)),
                           ("not in rows without gaps: copy it",
                            (tvm_ffi.from_dlpack(numpy.zeros((8, 4), "f").T), b_, c_)),
                           ("elements are not float32",
                            (tvm_ffi.from_dlpack(a.astype("d")), b_, c_))):
            with self.assertRaisesRegex(ValueError, words):
                call(*bad)

    def test_manifest(self):
        hone.Kernel(self.manifest).close()
        said = json.loads(self.manifest.read_text())
        for member, value in (("symbol", "nn"), ("key", "0" * 64), ("target", "cpu")):
            edited = pathlib.Path(self.folder.name, "edited.json")
            edited.write_text(json.dumps({**said, member: value}))
            with self.assertRaisesRegex(hone.Invalid, f"its {member} is not what the object"):
                hone.Kernel(edited)
        edited.write_text(json.dumps({**said, "dag": {}}))
        with self.assertRaisesRegex(hone.Invalid, "edited.json"):
            hone.Kernel(edited)

    def test_other_workload(self):
        with self.assertRaisesRegex(hone.Invalid, "of workload "):
            hone.Kernel(self.object, hone.Program(OTHER).key)

    def test_other_processor(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(hone.Unsupported, "machine"):
                hone.build(hone.Program(MM), folder, auto=True,
                           target="cpu -isa=aarch64-neon -num_cores=2")

    def test_damage_is_refused(self):
        good, bad = self.object.read_bytes(), pathlib.Path(self.folder.name, "bad.o")
        draw = random.Random(18)
        for turn in range(N_DAMAGED):
            data = bytearray(good[:draw.randrange(len(good))] if turn % 4 == 0 else good)
            for _ in range(turn % 3 + (turn % 4 != 0)):
                if data:
                    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            if bytes(data) == good:
                continue
            bad.unlink(missing_ok=True)
            bad.write_bytes(data)
            with self.assertRaisesRegex(hone.Corrupt, "bad.o"):
                hone.Kernel(bad)


class Networks(unittest.TestCase):
    """A small network, compiled and run."""

    @unittest.skipIf(numpy is None or onnx is None, "no numpy or no onnx")
    def test_compile(self):
        helper = onnx.helper
        weights = numpy.arange(24, dtype="f").reshape(6, 4) - 12
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Relu", ["y"], ["z"])],
            "net", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [3, 6])],
            [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, [3, 4])],
            [onnx.numpy_helper.from_array(weights, "w")])
        with tempfile.TemporaryDirectory() as folder:
            path, out = pathlib.Path(folder, "net.onnx"), pathlib.Path(folder, "out")
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
            net = hone.compile(path, out, auto=True)
            x = numpy.arange(18, dtype="f").reshape(3, 6) - 9
            want = numpy.maximum(x @ weights, 0)
            self.assertTrue((net(x)[0] == want).all())
            self.assertTrue((net(x=x)[0] == want).all())
            for words, bad in (("its shape is", x[:2]), ("rows without gaps", x.T.copy().T),
                               ("elements are not float32", x.astype("d"))):
                with self.assertRaisesRegex(hone.Invalid, f"input x: .*{words}"):
                    net(bad)
            # another network into the same folder, in this process
            weights += 1
            graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "w"))
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
            other = hone.compile(path, out, auto=True)
            self.assertTrue((other(x)[0] == numpy.maximum(x @ weights, 0)).all())
            self.assertTrue((net(x)[0] == want).all())
            other.close()
            net.close()
            for name, n in (("libmodel.so", 5000), ("model.weights", 100)):
                file = out / name
                good = file.read_bytes()
                file.unlink()
                file.write_bytes(good[:n])
                with self.assertRaisesRegex(hone.Corrupt, name):
                    hone.Model(out)
                file.write_bytes(good)
            manifest = out / "model.json"
            said = json.loads(manifest.read_text())
            for error, words, change in (
                    (hone.VersionMismatch, "network/2", {"format": "hone-network/2"}),
                    (hone.Unsupported, "aarch64", {"target": "cpu -isa=aarch64-neon"}),
                    (hone.Unsupported, "made for", {"target": "a line\nof another kind"}),
                    (hone.Invalid, "no target", {"target": 7}),
                    (hone.Corrupt, "not the file", {"library": "0" * 64}),
                    (hone.Invalid, "no manifest", {"format": None, "library": [], "target": {}})):
                manifest.write_text(json.dumps({**said, **change} if words != "no manifest" else []))
                with self.assertRaisesRegex(error, words):
                    hone.Model(out)
            manifest.write_text("[" * 100000)
            with self.assertRaisesRegex(hone.Invalid, "no manifest"):
                hone.Model(out)
            manifest.write_text(json.dumps(said))
            hone.Model(out).close()


class Stores(unittest.TestCase):
    """What is found, what is not, and why."""

    def test_query(self):
        program = hone.Program(MM)
        tuned = hone.tune(program, trials=8)
        self.assertTrue(tuned.curve and tuned.svg().startswith("<svg "))
        with hone.Store() as store:
            answer = store.query(program)
            self.assertEqual((answer.match, answer.workload), ("exact", program.key))
            self.assertGreater(answer.median_ns, 0)
            self.assertEqual(store.query(program.key[:10]), answer)
            near = store.query(program, "cpu -num_cores=77")
            self.assertEqual(near.match, "class")
            self.assertIn("num_cores", near.near)
            # the same number, one way through a ratio: rounded once more
            self.assertAlmostEqual(answer.expected_ns / answer.median_ns, 1, delta=1e-14)
            self.assertGreater(near.expected_ns, 0)
            with self.assertRaisesRegex(hone.NotFound, "not tuned yet; `hone ls`"):
                store.query(hone.Program(OTHER))
            with self.assertRaisesRegex(hone.NotFound, "tuned for .*, not for"):
                store.query(program, "cuda")
        with self.assertRaisesRegex(hone.Invalid, "closed"):
            store.query(program)

    def test_snapshots_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "best.snapshot")
            path.write_bytes(b"HONEBEST" + bytes([99, 0, 0, 0]) + bytes(200))
            with self.assertRaisesRegex(hone.VersionMismatch, "snapshot version 99"):
                hone.Store(folder)
            path.write_bytes(b"nothing of the kind")
            with self.assertRaisesRegex(hone.Corrupt, "damaged"):
                hone.Store(folder)

    def test_tune_refuses(self):
        with self.assertRaisesRegex(hone.Invalid, "bound by nothing"):
            hone.tune(hone.Program("f(float32 A[8]) -> B { B(i) = A(j) }"))


if __name__ == "__main__":
    for module in ("numpy", "onnx", "torch", "tvm_ffi"):
        there = globals()[module]
        print(f"{module}: {there.__version__ if there else 'not there'}", file=sys.stderr)
    unittest.main()
