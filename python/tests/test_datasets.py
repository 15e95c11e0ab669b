"""Datasets: operators as methods, sources, nested datasets, text, options, reports."""
import gc
import html
import json
import os
import pathlib
import pickle
import tempfile
import unittest
import weakref

import numpy as np

import penstock as ps


class Methods(unittest.TestCase):
    def test_options_of_wrong_types_are_named(self):
        for option, message in (({"tune": "x"}, "tune must be True or False: 'x'"), ({"threads": True}, "threads must be an integer: True"),
                                ({"block_rows": 1.5}, "block_rows must be an integer: 1.5")):
            with self.assertRaisesRegex(TypeError, message):
                ps.range(3).configure(**option)
        self.assertEqual(list(ps.range(2).configure(threads=np.int64(1))), [0, 1])

    def test_a_chain(self):
        ds = ps.range(20).filter(lambda x: x % 2 == 0).skip(1).take(6).shard(2, 0).repeat(2).batch(4, drop_remainder=True)
        self.assertEqual([b.tolist() for b in ds], [[2, 6, 10, 2]])
        self.assertEqual(sorted(ps.range(5).shuffle(3, seed=1).prefetch(2).cache()), [0, 1, 2, 3, 4])

    def test_all_operators_are_there(self):
        for name, kind, _, doc, parameters in ps._core.calls():
            owner = ps.Dataset if kind != "op" and parameters and parameters[0][1] == "dataset" else ps
            self.assertTrue(callable(getattr(owner, name)), name)
            self.assertTrue(doc, name)
        self.assertIn("batch_size, drop_remainder=False", ps.Dataset.batch.__doc__)

    def test_several_datasets(self):
        a, b = ps.range(3), ps.range(10, 13)
        self.assertEqual(list(a.concatenate(b)), [0, 1, 2, 10, 11, 12])
        self.assertEqual(list(ps.zip({"a": a, "b": b}))[2], {"a": 2, "b": 12})
        self.assertEqual(list(ps.zip((a, ps.zip(a, b))))[1], (1, (1, 11)))
        choice = ps.from_list([0, 1, 1, 0])
        self.assertEqual(list(ps.choose_from_datasets([a, b], choice)), [0, 10, 11, 1])

    def test_datasets_in_functions(self):
        self.assertEqual(list(ps.range(4).flat_map(ps.range)), [0, 0, 1, 0, 1, 2])
        inner = ps.range(2)
        self.assertEqual(list(ps.range(2).flat_map(lambda x: inner.map(lambda y: 10 * x + y))), [0, 1, 10, 11])
        ds = ps.range(3).interleave(lambda x: ps.range(x, x + 2), cycle_length=2)
        self.assertEqual(list(ds), [0, 1, 1, 2, 2, 3])
        by_parity = ps.range(6).group_by_window(key_func=lambda x: x % 2, reduce_func=lambda k, d: d.batch(3), window_size=3)
        self.assertEqual([b.tolist() for b in by_parity], [[0, 2, 4], [1, 3, 5]])
        windows = list(ps.range(4).window(2))
        self.assertEqual([list(w) for w in windows], [[0, 1], [2, 3]])

    def test_values(self):
        self.assertEqual(ps.range(5).reduce(0, lambda s, x: s + x), 10)
        self.assertEqual(ps.range(3).take(1).get_single_element(), 0)
        self.assertEqual(ps.range(7)[3], 3)
        self.assertEqual(ps.range(7)[-1], 6)
        with self.assertRaises(IndexError):
            ps.range(7)[7]

    def test_slices_are_those_of_a_list(self):
        places = (None, 0, 1, 2, 5, 6, 9, -1, -2, -6, -9)
        for length in (0, 1, 6):
            ds, whole = ps.range(length), list(range(length))
            for start in places:
                for stop in places:
                    for step in (None, 1, 2, 3, 7):
                        part = slice(start, stop, step)
                        self.assertEqual(list(ds[part]), whole[part], (length, part))
        endless = ps.range(5).repeat()
        self.assertEqual(list(endless[2:9:3]), [2, 0, 3])
        self.assertEqual(list(endless[1::2].take(3)), [1, 3, 0])
        self.assertEqual(str(endless[1::4]), str(endless.shard(4, 1)))
        with self.assertRaisesRegex(TypeError, "no end"):
            endless[:-1]
        with self.assertRaisesRegex(ValueError, "must be positive: -1"):
            ps.range(3)[::-1]
        with self.assertRaisesRegex(TypeError, "an integer or a slice: 'a'"):
            ps.range(3)["a"]

    def test_in_a_notebook(self):
        ds = ps.range(3).map(lambda x: x < 2)
        self.assertIn("map(x -&gt; x &lt; 2)</pre>", ds._repr_html_())
        explanation = ds.explain()
        self.assertIn(f"<b>{html.escape(explanation.verdict, quote=False)}</b>", explanation._repr_html_())
        self.assertIn("predicted: ", ds.optimize(trace_seconds=0.1)._repr_html_())

    def test_len(self):
        self.assertEqual(len(ps.range(7).batch(2)), 4)
        for ds, said in ((ps.range(3).repeat(), "no end"), (ps.range(3).filter(lambda x: x > 1), "not known")):
            with self.assertRaisesRegex(TypeError, said):
                len(ds)


class Sources(unittest.TestCase):
    def test_arrays_are_not_copied(self):
        a = np.arange(12, dtype=np.float32).reshape(4, 3)
        [whole] = ps.from_tensor_slices(a).batch(4)
        self.assertTrue(np.shares_memory(whole, a))
        np.testing.assert_array_equal(whole, a)

    def test_an_array_is_released(self):
        class Watched(bytearray):
            pass

        memory = Watched(np.arange(100).tobytes())
        gone = weakref.ref(memory)
        ds = ps.from_tensor_slices(np.frombuffer(memory, np.int64))
        del memory
        self.assertIsNotNone(gone())
        [batch] = ds.batch(100)
        del ds
        gc.collect()
        self.assertEqual(batch[99], 99)
        del batch
        gc.collect()
        for _ in range(10):  # the interpreter drops it between two steps
            pass
        self.assertIsNone(gone())

    def test_structures_of_arrays(self):
        x, y = np.eye(3, dtype=np.float32), np.array([5, 6, 7], dtype=np.uint8)
        self.assertEqual([e["y"] for e in ps.from_tensor_slices({"x": x, "y": y})], [5, 6, 7])
        self.assertEqual([e[0].tolist() for e in ps.from_tensor_slices((x, y))][2], [0, 0, 1])
        with self.assertRaisesRegex(ValueError, "first|sizes|rows"):
            ps.from_tensor_slices((x, y[:2]))

    def test_arrays_that_are_not_fit(self):
        a = np.arange(12).reshape(3, 4)
        for odd in (a.T, a[:, ::2], a.astype(">i4"), np.frombuffer(b"\0" + a.tobytes(), dtype=np.uint8)[1:].view(np.int64)):
            np.testing.assert_array_equal(np.stack(list(ps.from_tensor_slices(odd))), odd)
        with self.assertRaisesRegex(ValueError, "complex64"):
            ps.from_tensor_slices(np.zeros(3, np.complex64))

    def test_strings(self):
        for a in (np.array(["a", "bc"]), np.array([b"a", b"bc"]), np.array(["a", b"bc"], dtype=object)):
            self.assertEqual(list(ps.from_tensor_slices(a)), [b"a", b"bc"])
        [batch] = ps.from_tensor_slices(["a", "bc"]).batch(2)
        self.assertEqual((batch.dtype, batch.tolist()), (np.dtype(object), [b"a", b"bc"]))

    def test_every_dtype(self):
        for name in ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
                     "float64"):
            a = np.array([[0, 1], [1, 1]], dtype=name)
            [batch] = ps.from_tensor_slices(a).batch(2)
            self.assertEqual(batch.dtype, a.dtype)
            self.assertEqual(repr(batch), repr(a))
            np.testing.assert_array_equal(batch, a)
            [scalar, _] = ps.from_tensor_slices(a[1])
            self.assertIs(type(scalar), type(a[1, 0]))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(3):
                pathlib.Path(folder, f"{i}.txt").write_text(f"line {i}\nlast {i}\n", encoding="utf-8")
            ds = ps.files(os.path.join(folder, "*.txt")).interleave(ps.text_line, cycle_length=2)
            self.assertEqual(sorted(ds)[0], b"last 0")
            self.assertEqual(len(list(ds)), 6)
            pathlib.Path(folder, "p.pipe").write_text("param n = 2\nrange(n)\n", encoding="utf-8")
            self.assertEqual(list(ps.read(pathlib.Path(folder, "p.pipe"), n=3)), [0, 1, 2])


class Text(unittest.TestCase):
    def test_text_and_back(self):
        ds = ps.range(10).map(lambda x: {"a": x + 1, "b": (x, "s")}).shuffle(4, seed=3).batch(3)
        again = ps.parse(str(ds))
        self.assertEqual(str(again), str(ds))
        for x, y in zip(ds, again):
            np.testing.assert_array_equal(x["a"], y["a"])
        self.assertEqual(str(pickle.loads(pickle.dumps(ds))), str(ds))

    def test_options_survive_pickling(self):
        ds = pickle.loads(pickle.dumps(ps.range(3).configure(threads=1, memory_bytes=1 << 26)))
        self.assertEqual(ds._core.options()[:2], (1, 1 << 26))
        with self.assertRaisesRegex(TypeError, "no option 'thread'.*threads"):
            ds.configure(thread=1)

    def test_spec(self):
        spec = ps.range(4).map(lambda x: {"a": x, "b": (ps.float32(x), "s")}).batch(2, drop_remainder=True).spec
        self.assertEqual(spec["a"], ps.TensorSpec(ps.int64, (2,)))
        self.assertEqual(spec["b"][1].dtype, ps.bytes)
        self.assertEqual(ps.range(4).batch(2).spec.shape, (None,))
        self.assertEqual(ps.range(4).window(2).spec, ps.DatasetSpec(ps.TensorSpec(ps.int64, ())))
        self.assertIn("int64", repr(ps.range(3)))


class Reports(unittest.TestCase):
    def test_run(self):
        counted = ps.range(1000).map(lambda x: x + 1).run()
        self.assertEqual(counted["elements"], 1000)
        self.assertEqual([s["op"] for s in counted["stages"]][-1], "range")

    def test_explain_optimize_trace(self):
        ds = ps.range(2000).map(lambda x: x + 1).batch(10)
        self.assertIn("range", ds.explain(elements=100).text)
        best = ds.optimize(trace_seconds=0.05)
        self.assertEqual([b.tolist() for b in best.dataset], [b.tolist() for b in ds])
        self.assertGreater(best.rate, 0)
        self.assertIn("range(2000)", json.loads(ds.trace(elements=10))["program"])


if __name__ == "__main__":
    unittest.main()
