"""What other tuners keep in hone's folder: by its own interface, Helion's and Inductor's.

HONE_HOME is the caller's, for this alone.  What is not installed is skipped.
"""

import doctest
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest
from types import SimpleNamespace
from unittest import mock

import hone
import hone.foreign

try:
    import torch
    import torch._inductor.lookup_table
except ImportError:
    torch = None
try:
    import helion
    import helion.autotuner.remote_cache as remote
except ImportError:
    helion = None


class Case(unittest.TestCase):
    """A store of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.home = pathlib.Path(self._folder.name)
        patch = mock.patch.dict(os.environ, {"HONE_HOME": self._folder.name})
        patch.start()
        self.addCleanup(patch.stop)


class Foreign(Case):
    """Records of any tool."""

    def test_docstring(self):
        self.assertEqual(doctest.testmod(hone.foreign).failed, 0)

    def test_kept_apart(self):
        one, two = hone.foreign.Records("one", "1"), hone.foreign.Records("two", "2")
        one.put("key", "1")
        self.assertIsNone(two.get("key"))
        two.put("key", "2")
        self.assertEqual((one.get("key"), two.get("key")), ("1", "2"))
        self.assertEqual((two.about("key")["tool"], two.about("key")["version"]), ("two", "2"))
        # nor does hone's own store know of them
        with self.assertRaises(hone.NotFound):
            hone.Store()
        # a record that was moved to another tool's folder is not that tool's
        for path in one.folder.iterdir():
            (two.folder / path.name).write_bytes(path.read_bytes())
        self.assertIsNone(two.get("key"))

    def test_order(self):
        records = hone.foreign.Records("tool", "1")
        self.assertEqual(list(records.newest()), [])
        for n in range(5):
            records.put(f"key {n}", str(n))
            os.utime(records._path(f"key {n}"), ns=(n, n + 1))
        self.assertEqual([r["data"] for r in records.newest()], ["4", "3", "2", "1", "0"])

    def test_odd_keys(self):
        records = hone.foreign.Records("tool", "1")
        keys = ["", "../../etc", "a\nb", "\u2603" * 1000, "'\"\\", "x" * 100000]
        for key in keys:
            records.put(key, key)
        self.assertEqual([records.get(key) for key in keys], keys)
        self.assertEqual({p.parent for p in self.home.rglob("*.json")}, {records.folder})

    def test_damage_is_not_there(self):
        records = hone.foreign.Records("tool", "1")
        records.put("key", "text")
        path = records._path("key")
        good = path.read_text()
        bad = [b"", b"\xff\xfe", b"[" * 100000, b"7", b"{}", good[:-9].encode(), b" " * (2 << 20)]
        for member in ("format", "tool", "version", "key", "data", "machine"):
            bad += [json.dumps({**json.loads(good), member: 7}).encode()]
        for data in bad:
            path.write_bytes(data)
            self.assertIsNone(records.get("key"), data[:40])
            self.assertEqual(list(records.newest()), [])
        path.write_text(good)
        self.assertEqual(records.get("key"), "text")

    def test_refused(self):
        for name in ("", "../x", "A", "a" * 33, "a/b"):
            with self.assertRaisesRegex(hone.Invalid, "no name of a tool"):
                hone.foreign.Records(name, "1")
        with self.assertRaisesRegex(hone.Invalid, "1048576 at most"):
            hone.foreign.Records("tool", "1").put("key", "x" * (1 << 20))

    def test_many_write(self):
        records = hone.foreign.Records("tool", "1")
        texts, seen = [str(n) * 10000 for n in range(8)], []

        def write(text):
            for _ in range(20):
                records.put("key", text)
                seen.append(records.get("key"))
        threads = [threading.Thread(target=write, args=(t,)) for t in texts]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(seen), 160)
        self.assertLessEqual(set(seen), set(texts))
        self.assertEqual(len(list(records.folder.iterdir())), 1)


@unittest.skipIf(helion is None, "no helion")
class Helion(Case):
    """By the functions with which Helion finds and calls a backend."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, {"HELION_REMOTE_CACHE_BACKEND": "hone.helion.Backend"})
        patch.start()
        self.addCleanup(patch.stop)

    def test_backend(self):
        backend = remote._load_remote_backend_if_configured()
        self.assertEqual(type(backend).__module__, "hone.helion")
        self.assertIsNone(remote._remote_get(backend, "0" * 64))
        for n in range(4):
            remote._remote_put(backend, f"{n:064}", json.dumps({"config": {"block_sizes": [n]}}))
        again = remote._load_remote_backend()
        self.assertEqual(json.loads(remote._remote_get(again, f"{2:064}"))["config"],
                         {"block_sizes": [2]})
        self.assertEqual((len(list(again.list())), len(list(again.list(max_results=2)))), (4, 2))

    def test_entry(self):
        # what its warm start reads of what its cache writes
        from helion.autotuner.local_cache import parse_cache_entry
        entry = json.dumps({"config": json.dumps({"block_sizes": [16]}),
                            "flat_config": json.dumps([16]),
                            "key": {"fields": {"hardware": "H100", "specialization_key": "s",
                                               "config_spec_hash": "h"}}})
        backend = remote._load_remote_backend()
        backend.put("k", entry)
        parsed = [parse_cache_entry(raw) for raw in backend.list()]
        self.assertEqual([(p.hardware, p.flat_config) for p in parsed], [("H100", (16,))])


@unittest.skipIf(torch is None, "no torch with Inductor's lookup table")
class Inductor(Case):
    """By the class that Inductor looks up with; its device is a stand-in for a GPU."""

    KEY = "GPU+((torch.float32, [64, 32], [32, 1]), (torch.float32, [32, 16], [16, 1]))+mm"
    TABLE = [{"template_id": "mm", "BLOCK_M": 64, "template_hash": "h"},
             {"template_id": "mm", "BLOCK_M": 32, "template_hash": "old"},
             {"template_id": "other", "BLOCK_M": 16}]

    def setUp(self):
        super().setUp()
        import hone.inductor
        self.choices = hone.inductor.Choices()
        patch = mock.patch.object(type(self.choices), "_get_device_key", staticmethod(
            lambda device: "GPU"))
        patch.start()
        self.addCleanup(patch.stop)
        self.inputs = SimpleNamespace(
            device=lambda: torch.device("cuda"), _scalars={},
            dtypes=lambda: (torch.float32, torch.float32),
            shapes_hinted=lambda: ((64, 32), (32, 16)), strides_hinted=lambda: ((32, 1), (16, 1)))

    def look_up(self):
        return self.choices.lookup_template_configs(self.inputs, "mm", ["mm", "bmm"], {"mm": "h"})

    def test_lookup(self):
        self.assertEqual(self.look_up(), {})
        hone.inductor.adopt({self.KEY: self.TABLE})
        self.assertEqual(self.look_up(), {"mm": [{"BLOCK_M": 64}]})
        hone.inductor.adopt({self.KEY: [{"template_id": "bmm", "BLOCK_M": 8}]})
        self.assertEqual(self.look_up(), {"bmm": [{"BLOCK_M": 8}]})

    def test_damage_is_not_there(self):
        for text in ("{", "7", "[7]", '[{"BLOCK_M": 1}]', '[{"template_id": 1}]', "[" * 100000):
            hone.inductor.records().put(self.KEY, text)
            self.assertEqual(self.look_up(), {}, text[:20])

    def test_refused(self):
        for bad in ({"k": 7}, {"k": [7]}, {"k": [{}]}, {7: self.TABLE}):
            with self.assertRaisesRegex(hone.Invalid, "no list of configurations"):
                hone.inductor.adopt({self.KEY: self.TABLE, **bad})
        self.assertEqual(self.look_up(), {})

    def test_install(self):
        from torch._inductor.virtualized import V
        before = V.choices
        try:
            hone.inductor.install()
            self.assertIsInstance(V.choices, hone.inductor.Choices)
        finally:
            V.set_choices_handler(before)


if __name__ == "__main__":
    for module in ("torch", "helion"):
        print(f"{module}: {'there' if globals()[module] else 'not there'}", file=sys.stderr)
    unittest.main()
