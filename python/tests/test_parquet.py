"""Parquet files as sources, where pyarrow is installed."""
import os
import pathlib
import tempfile
import unittest

from source_case import SourceCase, plain
from test_arrow import all_kinds, pa, rows_of

import penstock as ps


@unittest.skipUnless(pa, "pyarrow is not installed")
class Parquet(SourceCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        table = all_kinds(20).drop_columns(["view", "half"])
        self.parts = [table.slice(0, 9), table.slice(9, 0), table.slice(9)]
        for i, part in enumerate(self.parts):
            pa.parquet.write_table(part, f"{self.folder}/{i}.parquet", row_group_size=4)
        self.rows = rows_of(table)

    def test_values_passes_ranks_and_states(self):
        self.check_source(lambda: ps.from_parquet(f"{self.folder}/*.parquet", columns=["i", "texts"]),
                          [{k: row[k] for k in ("i", "texts")} for row in self.rows])

    def test_all_kinds(self):
        ds = ps.from_parquet([f"{self.folder}/0.parquet", pathlib.Path(self.folder, "2.parquet")])
        self.assertEqual([plain(e) for e in ds], self.rows)
        self.assertEqual((len(ds), plain(ds[11])), (20, self.rows[11]))
        self.assertEqual([plain(e) for e in ps.from_parquet(self.folder, num_parallel_calls=3)], self.rows)

    def test_states_skip_row_groups(self):
        pa.parquet.write_table(pa.table({"i": range(400)}), f"{self.folder}/many.parquet", row_group_size=4)
        made = []

        def ds():
            return ps.from_parquet(f"{self.folder}/many.parquet").configure(checkpoints=True, threads=1)
        it = ds().iterate()
        for _ in range(300):
            next(it)
        from penstock import _parquet
        read = _parquet._Groups.__call__
        try:
            _parquet._Groups.__call__ = lambda self, i: (made.append(int(i)), read(self, i))[1]
            self.assertEqual([int(e["i"]) for e in ds().restore(it.save_state())], list(range(300, 400)))
        finally:
            _parquet._Groups.__call__ = read
        self.assertGreater(min(made), 50)  # an iterator fetches elements in blocks; the last began at element 255

    def test_shards_of_row_groups(self):
        shares = [[int(e["i"]) for e in ps.from_parquet(self.folder, num_shards=2, index=i)] for i in range(2)]
        self.assertEqual(shares, [[0, 1, 2, 3, 8, 13, 14, 15, 16], [4, 5, 6, 7, 9, 10, 11, 12, 17, 18, 19]])

    def test_shuffle(self):
        ds = ps.from_parquet(self.folder, columns=["i"], shuffle=True, seed=5)
        first, second = ([int(e["i"]) for e in ds.iterate(epoch=n)] for n in range(2))
        self.assertEqual((sorted(first), sorted(second)), (list(range(20)), list(range(20))))
        self.assertNotEqual(first, second)

    def test_empty(self):
        ds = ps.from_parquet(f"{self.folder}/1.parquet")
        self.assertEqual((list(ds), len(ds)), ([], 0))

    def test_damaged_files(self):
        path = f"{self.folder}/2.parquet"
        whole = pathlib.Path(path).read_bytes()
        pathlib.Path(path).write_bytes(whole[:-3])
        with self.assertRaises(ps.DataLoss) as caught:
            ps.from_parquet(self.folder)
        self.assertEqual(caught.exception.file, path)
        pathlib.Path(path).write_bytes(whole[:4] + bytes(60) + whole[64:])  # the pages of the first row group
        it = iter(ps.from_parquet(self.folder, columns=["i"]))
        got, failed = [], []
        while True:
            try:
                got.append(int(next(it)["i"]))
            except StopIteration:
                break
            except ps.Error as e:
                failed.append(e)
        self.assertEqual(got, [*range(9), *range(13, 20)])
        self.assertIsInstance(failed[0], ps.DataLoss)
        self.assertIn("contain 20 elements but contained only 16", str(failed[1]))
        self.assertIn(path, str(failed[0]))

    def test_errors(self):
        with self.assertRaisesRegex(ps.NotFound, "no file: .*none"):
            ps.from_parquet(f"{self.folder}/none*.parquet")
        with self.assertRaisesRegex(ps.InvalidArgument, "has no column 'no'; it has: i, text"):
            ps.from_parquet(self.folder, columns=["no"])
        pa.parquet.write_table(pa.table({"i": ["text"]}), f"{self.folder}/3.parquet")
        with self.assertRaisesRegex(ps.InvalidArgument, '"i" is string, and int64 there'):
            ps.from_parquet(self.folder, columns=["i"])
        pa.parquet.write_table(pa.table({"i": [1, None]}), f"{self.folder}/4.parquet")
        with self.assertRaisesRegex(ps.InvalidArgument, 'column "i": row 1 has a null.*4.parquet'):
            list(ps.from_parquet(f"{self.folder}/4.parquet"))
        self.assertEqual([int(e["i"]) for e in ps.from_parquet(f"{self.folder}/4.parquet", fill={"i": 5})], [1, 5])

    def test_a_state_is_of_the_files_as_they_were(self):
        state = iter(ps.from_parquet(self.folder)).save_state()
        os.utime(f"{self.folder}/0.parquet", ns=(1, 1))
        with self.assertRaises(ps.FailedPrecondition):
            ps.from_parquet(self.folder).restore(state)


if __name__ == "__main__":
    unittest.main()
