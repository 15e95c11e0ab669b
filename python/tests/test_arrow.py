"""Arrow data as sources, where pyarrow is installed."""
import gc
import tempfile
import unittest

import numpy as np
from source_case import SourceCase, plain

import penstock as ps

try:
    import pyarrow as pa
    import pyarrow.dataset
    import pyarrow.parquet
except ImportError:
    pa = None
try:
    import polars
except ImportError:
    polars = None
try:
    import pandas
except ImportError:
    pandas = None


def as_bytes(x):
    """A row of Arrow's as elements have it."""
    if isinstance(x, dict):
        return {k: as_bytes(v) for k, v in x.items()}
    if isinstance(x, list):
        if x and isinstance(x[0], dict):
            return {k: as_bytes([i[k] for i in x]) for k in x[0]}
        return [as_bytes(v) for v in x]
    return x.encode() if isinstance(x, str) else x


def rows_of(table):
    return [as_bytes(row) for row in table.to_pylist()]


def numbers(n=7):
    return pa.table({"i": pa.array(range(n), pa.int32()), "f": pa.array([i / 2 for i in range(n)], pa.float32()),
                     "b": [i % 3 == 0 for i in range(n)], "u": pa.array(range(n), pa.uint8())})


def all_kinds(n=7):
    words = [f"w{i}" * (i % 3) for i in range(n)]
    return pa.table({
        "i": pa.array(range(n), pa.int64()), "text": pa.array(words, pa.string()), "large": pa.array(words, pa.large_string()),
        "view": pa.array(words, pa.string()).cast(pa.string_view()), "bin": pa.array([w.encode() for w in words], pa.binary()),
        "fixed_bin": pa.array([b"%03d" % i for i in range(n)], pa.binary(3)), "half": pa.array(np.arange(n, dtype=np.float16)),
        "list": pa.array([list(range(i % 4)) for i in range(n)], pa.list_(pa.int16())),
        "texts": pa.array([words[:i % 3] for i in range(n)], pa.large_list(pa.string())),
        "lists": pa.array([[[i], [], [i, 1]][:i % 4] for i in range(n)], pa.list_(pa.list_(pa.float64()))),
        "pair": pa.array([[i, i + 1] for i in range(n)], pa.list_(pa.int8(), 2)),
        "grid": pa.array([[[i, 1, 2], [3, 4, i]] for i in range(n)], pa.list_(pa.list_(pa.float32(), 3), 2)),
        "names": pa.array([["a", words[i]] for i in range(n)], pa.list_(pa.string(), 2)),
        "pairs": pa.array([[[i, 0]] * (i % 3) for i in range(n)], pa.list_(pa.list_(pa.int32(), 2))),
        "struct": pa.array([{"a": i, "in": {"t": words[i]}} for i in range(n)],
                           pa.struct({"a": pa.int64(), "in": pa.struct({"t": pa.string()})})),
        "coded": pa.array(words, pa.string()).dictionary_encode(),
        "flags": pa.array([[i > 1, True][:i % 3] for i in range(n)], pa.list_(pa.bool_()))})


@unittest.skipUnless(pa, "pyarrow is not installed")
class Tables(SourceCase):
    def test_numbers(self):
        table = numbers()
        self.check_source(lambda: ps.from_arrow(table), table.to_pylist())
        ds = ps.from_arrow(table)
        self.assertEqual([ds.spec[k].dtype for k in "ifbu"], [ps.int32, ps.float32, ps.bool, ps.uint8])
        self.assertEqual((len(ds), plain(ds[-1])), (7, table.to_pylist()[-1]))

    def test_numbers_are_not_copied(self):
        table = pa.table({"x": np.arange(300_000.0)})
        [batch] = ps.from_arrow(table).take(1).map(lambda e: e["x"]).batch(1)
        self.assertEqual(batch.tolist(), [0.0])
        matrix = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(300_000.0)), 1000)
        first = next(iter(ps.from_arrow(pa.table({"m": matrix}))))["m"]
        self.assertEqual(first.__array_interface__["data"][0], matrix.values.to_numpy().__array_interface__["data"][0])
        held = first[5:]
        del matrix, first
        gc.collect()
        self.assertEqual(held[0], 5.0)

    def test_all_kinds(self):
        table = all_kinds()
        expected = rows_of(table)
        self.check_source(lambda: ps.from_arrow(table), expected)
        ds = ps.from_arrow(table)
        self.assertEqual([plain(ds[i]) for i in (3, 0, -1)], [expected[3], expected[0], expected[-1]])
        self.assertEqual(sorted((plain(e) for e in ds.global_shuffle(seed=1)), key=lambda e: e["i"]), expected)
        self.assertEqual((ds.spec["grid"].shape, ds.spec["list"].shape), ((2, 3), (None,)))

    def test_each_kind_alone(self):
        table = all_kinds()
        for name in table.column_names:
            with self.subTest(name):
                one = table.select([name])
                expected = rows_of(one)
                for source in (one, lambda one=one: one.to_reader(3)):
                    self.assertEqual([plain(e) for e in ps.from_arrow(source)], expected)

    def test_slices_and_chunks(self):
        table = all_kinds(20)
        chunked = pa.concat_tables([table.slice(3, 4), table.slice(0, 0), table.slice(9, 1), table.slice(11)])
        expected = rows_of(chunked)
        self.check_source(lambda: ps.from_arrow(chunked), expected)
        self.assertEqual([plain(ps.from_arrow(chunked)[i]) for i in range(len(expected))], expected)

    def test_times(self):
        table = pa.table({"t": pa.array([1, 2], pa.timestamp("us")), "d": pa.array([3, 4], pa.date32()),
                          "s": pa.array([5, 6], pa.duration("s"))})
        self.assertEqual([plain(e) for e in ps.from_arrow(table)], [{"t": 1, "d": 3, "s": 5}, {"t": 2, "d": 4, "s": 6}])
        self.assertEqual(ps.from_arrow(table).spec["d"].dtype, ps.int32)

    def test_tensors(self):
        storage = pa.array([[1, 2, 3, 4, 5, 6]] * 2, pa.list_(pa.int32(), 6))
        array = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), (2, 3)), storage)
        self.assertEqual([plain(x) for x in ps.from_arrow(array)], [[[1, 2, 3], [4, 5, 6]]] * 2)

    def test_arrays(self):
        self.assertEqual(list(ps.from_arrow(pa.array(["a", "b"]))), [b"a", b"b"])
        self.assertEqual([plain(x) for x in ps.from_arrow(pa.chunked_array([[[1]], [[], [2, 3]]]))], [[1], [], [2, 3]])
        self.assertEqual(list(ps.from_arrow(pa.array([1, 2]))), [1, 2])
        self.assertEqual([plain(x) for x in ps.from_arrow(pa.array([{"a": 1}, {"a": 2}]))], [{"a": 1}, {"a": 2}])

    def test_columns(self):
        self.assertEqual(list(ps.from_arrow(all_kinds(), columns=["coded", "i"]).spec), ["coded", "i"])
        with self.assertRaises(KeyError):
            ps.from_arrow(numbers(), columns=["no"])

    def test_empty(self):
        for table in (all_kinds(0), all_kinds().slice(0, 0), all_kinds().schema.empty_table()):
            ds = ps.from_arrow(table)
            self.assertEqual((list(ds), len(ds)), ([], 0))
        self.assertEqual(list(ps.from_arrow(lambda: all_kinds(0).to_reader())), [])

    def test_nulls(self):
        def said(column, **more):
            with self.assertRaises(ps.InvalidArgument) as caught:
                list(ps.from_arrow(pa.table({"c": column}), **more))
            return str(caught.exception)
        self.assertIn('column "c": row 1 has a null', said([1, None]))
        self.assertIn('fill={"c": 0}', said([1, None]))
        self.assertIn('row 2 has a null', said(pa.chunked_array([["a"], ["b", None]])))
        self.assertIn("fill={\"c\": ''}", said(pa.array(["a", None])))
        self.assertIn('row 3 has a null', said([[], [1, 2], [], [3, None]]))
        self.assertIn('column "c": row 1 has a null', said([[1], None]))
        self.assertIn('fill={"c": []}', said([[1], None]))
        self.assertIn('column "c.b": row 1', said([{"b": 1}, None]))
        self.assertIn("row 1 has a null", said(pa.array([[1, 2], [3, None]], pa.list_(pa.int8(), 2))))
        self.assertIn("cannot be filled with 'x'", said([1, None], fill="x"))

    def test_fill(self):
        table = pa.table({"a": [1, None], "t": ["x", None], "l": [[1, None], None], "s": [{"q": 1}, None]})
        self.assertEqual([plain(e) for e in ps.from_arrow(table.select(["a", "t"]), fill={"a": 7, "t": "?"})],
                         [{"a": 1, "t": b"x"}, {"a": 7, "t": b"?"}])
        self.assertEqual([plain(e) for e in ps.from_arrow(table.select(["s"]), fill={"s.q": 9})], [{"s": {"q": 1}}, {"s": {"q": 9}}])
        self.assertEqual([plain(e) for e in ps.from_arrow(pa.table({"l": [[1], None]}), fill={"l": []})], [{"l": [1]}, {"l": []}])
        self.assertEqual([plain(e) for e in ps.from_arrow(lambda: table.select(["a"]).to_reader(), fill=0)], [{"a": 1}, {"a": 0}])

    def test_what_elements_do_not_hold(self):
        def said(data, **more):
            with self.assertRaises(ps.InvalidArgument) as caught:
                ps.from_arrow(data, **more)
            return str(caught.exception)
        import decimal
        self.assertIn('column "d" is of type decimal128', said(pa.table({"d": [decimal.Decimal("1.5")]})))
        self.assertIn('column "n" is of type null', said(pa.table({"n": [None]})))
        self.assertIn("two levels", said(pa.table({"l": [[[[1]]]]})))
        self.assertIn("there is no column", said(pa.table({})))
        self.assertIn("two columns have one name", said(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])))
        self.assertIn("from_arrow takes", said([1, 2]))

    def test_states_in_other_processes_need_the_same_data(self):
        state = iter(ps.from_arrow(all_kinds())).save_state()
        with self.assertRaises(ps.FailedPrecondition):
            ps.from_arrow(all_kinds(8)).restore(state)

    def test_other_libraries(self):
        rows = [{"a": 1, "t": b"x"}, {"a": 2, "t": b"y"}]
        made = [library.DataFrame({"a": [1, 2], "t": ["x", "y"]}) for library in (polars, pandas) if library]
        for frame in made:
            with self.subTest(type(frame).__module__):
                self.assertEqual([plain(e) for e in ps.from_arrow(frame)], rows)
        if polars:
            self.assertEqual(list(ps.from_arrow(polars.Series([1, 2]))), [1, 2])

        class Batch:
            def __arrow_c_array__(self, requested_schema=None):
                return pa.record_batch({"a": [1, 2], "t": ["x", "y"]}).__arrow_c_array__(requested_schema)

        class Query:
            def __arrow_c_stream__(self, requested_schema=None):
                return pa.table({"a": [1, 2], "t": ["x", "y"]}).__arrow_c_stream__(requested_schema)
        self.check_source(lambda: ps.from_arrow(Batch()), rows)
        query = ps.from_arrow(Query())
        self.check_source(lambda: query, rows)


@unittest.skipUnless(pa, "pyarrow is not installed")
class Streams(SourceCase):
    def test_a_function_that_opens_a_reader(self):
        table = all_kinds(9)
        ds = ps.from_arrow(lambda: table.to_reader(max_chunksize=4))
        self.check_source(lambda: ds, rows_of(table))

    def test_a_reader_gives_one_pass(self):
        ds = ps.from_arrow(numbers().to_reader(3))
        it = iter(ds)
        self.assertEqual(plain(next(it)), numbers().to_pylist()[0])
        with self.assertRaisesRegex(ps.FailedPrecondition, "the reader has been read"):
            list(ds)
        self.assertEqual([plain(e) for e in it], numbers().to_pylist()[1:])

    def test_nulls_are_errors_where_they_are(self):
        batches = [pa.record_batch({"a": pa.array(x, pa.int64())}) for x in ([1, 2], [3, None])]
        it = iter(ps.from_arrow(lambda: pa.RecordBatchReader.from_batches(batches[0].schema, batches)))
        self.assertEqual([plain(next(it)), plain(next(it))], [{"a": 1}, {"a": 2}])
        with self.assertRaisesRegex(ps.InvalidArgument, 'column "a": row 3 has a null'):
            next(it)

    def test_a_dataset_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for i in range(3):
                pa.parquet.write_table(all_kinds().slice(i * 2, 2), f"{folder}/{i}.parquet")
            expected = rows_of(all_kinds().slice(0, 6).select(["text", "list"]))
            self.check_source(lambda: ps.from_arrow(pa.dataset.dataset(folder), columns=["text", "list"]), expected)


if __name__ == "__main__":
    unittest.main()
