"""Tar files of samples; compared with the webdataset package where it is installed."""
import io
import pathlib
import tarfile
import tempfile
import unittest

from source_case import SourceCase, plain

import penstock as ps
from penstock._webdataset import expanded

try:
    import webdataset
except ImportError:
    webdataset = None


def write(path, samples):
    with tarfile.open(path, "w") as archive:
        for name, data in samples:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


class WebDataset(SourceCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.expected = []
        for shard in range(3):
            members = []
            for i in range(shard, 4):
                key = f"{shard}/{i:03d}"
                self.expected.append({"__key__": key.encode(), "txt": b"x" * i, "seg.png": bytes([shard, i]), "cls": b"%d" % i})
                members += [(f"{key}.txt", b"x" * i), (f"{key}.seg.png", bytes([shard, i])), (f"{key}.cls", b"%d" % i)]
            write(f"{self.folder}/s-{shard:02d}.tar", members)
        self.urls = f"{self.folder}/s-{{00..02}}.tar"

    def test_values_passes_ranks_and_states(self):
        self.check_source(lambda: ps.webdataset(self.urls), self.expected)

    def test_text(self):
        ds = ps.webdataset(self.urls)
        self.assertEqual([plain(e) for e in ps.parse(str(ds))], self.expected)

    def test_fields(self):
        fields = {"cls": ps.int64, "txt": ps.bytes}
        self.assertEqual([plain(e) for e in ps.webdataset(self.urls, fields=fields)],
                         [{"cls": int(e["cls"]), "txt": e["txt"]} for e in self.expected])

    def test_files(self):
        both = [f"{self.folder}/s-{{00,02}}.tar", pathlib.Path(self.folder, "s-01.tar")]
        self.assertEqual(len(list(ps.webdataset(both))), 9)
        self.assertEqual(len(list(ps.webdataset(f"{self.folder}/*.tar"))), 9)
        shares = [[e["__key__"] for e in ps.webdataset(self.urls, num_shards=2, index=i)] for i in range(2)]
        self.assertEqual([{k[:1] for k in share} for share in shares], [{b"0", b"2"}, {b"1"}])
        with self.assertRaisesRegex(ps.NotFound, "none-0.tar"):
            list(ps.webdataset(f"{self.folder}/none-{{0..1}}.tar", fields={"txt": ps.bytes}))

    def test_shuffle(self):
        ds = ps.webdataset(self.urls, shuffle=True, seed=3, cycle_length=2)
        orders = [[e["__key__"] for e in ds.iterate(epoch=n)] for n in range(4)]
        for order in orders:
            self.assertEqual(sorted(order), [e["__key__"] for e in self.expected])
        self.assertGreater(len(set(map(tuple, orders))), 1)

    def test_empty(self):
        write(f"{self.folder}/empty.tar", [])
        self.assertEqual(list(ps.webdataset(f"{self.folder}/empty.tar", fields={"txt": ps.bytes})), [])
        with self.assertRaisesRegex(ps.NotFound, "no sample to see the extensions in"):
            ps.webdataset(f"{self.folder}/empty.tar")

    def test_a_cut_file(self):
        path = pathlib.Path(self.folder, "s-00.tar")
        path.write_bytes(path.read_bytes()[:3 * 1024 + 700])
        it = iter(ps.webdataset(self.urls))
        got, failed = [], []
        while len(got) < 6:
            try:
                got.append(plain(next(it)))
            except ps.Error as e:
                failed.append(e)
        self.assertEqual(got, [self.expected[0], *self.expected[4:]])
        self.assertIn("sample `0/001` has no member .seg.png", str(failed[0]))
        self.assertIsInstance(failed[1], ps.DataLoss)
        self.assertEqual((failed[1].file, failed[1].offset), (str(path), 3 * 1024 + 512))

    def test_braces(self):
        self.assertEqual(expanded("a-{0..2}"), ["a-0", "a-1", "a-2"])
        self.assertEqual(expanded("{000..002}{x,y}"), ["000x", "000y", "001x", "001y", "002x", "002y"])
        self.assertEqual(expanded("{8..10}"), ["8", "9", "10"])
        self.assertEqual(expanded("no {braces}"), ["no {braces}"])
        with self.assertRaisesRegex(ps.InvalidArgument, "ends before it begins"):
            expanded("{5..2}")
        with self.assertRaisesRegex(ps.InvalidArgument, "must be numbers"):
            expanded("{a..c}")

    @unittest.skipUnless(webdataset, "webdataset is not installed")
    def test_as_the_peer_reads_them(self):
        peers = [{k: v.encode() if isinstance(v, str) else v for k, v in sample.items() if k in self.expected[0]}
                 for sample in webdataset.WebDataset(self.urls, shardshuffle=False, nodesplitter=None)]
        self.assertEqual([plain(e) for e in ps.webdataset(self.urls)], peers)


if __name__ == "__main__":
    unittest.main()
