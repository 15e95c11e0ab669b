"""Datasets of Hugging Face's library, where it is installed."""
import os
import tempfile
import unittest

import numpy as np
from source_case import SourceCase, plain

import penstock as ps

os.environ.setdefault("HF_HUB_OFFLINE", "1")
try:
    import datasets
except ImportError:
    datasets = None


@unittest.skipUnless(datasets, "datasets is not installed")
class HuggingFace(SourceCase):
    def setUp(self):
        datasets.disable_progress_bars()
        self.columns = {"text": ["a", "bb", "", "d", "e"], "label": [0, 1, 0, 1, 1], "ids": [[1], [], [2, 3], [4], [5, 6]]}
        self.ds = datasets.Dataset.from_dict(self.columns)
        self.rows = [{"text": t.encode(), "label": n, "ids": i} for t, n, i in zip(*self.columns.values())]

    def test_values_passes_ranks_and_states(self):
        self.check_source(lambda: ps.from_huggingface(self.ds), self.rows)

    def test_random_access(self):
        ds = ps.from_huggingface(self.ds)
        self.assertEqual((len(ds), plain(ds[3])), (5, self.rows[3]))
        self.assertEqual(sorted(e["text"] for e in ds.global_shuffle(seed=2)), sorted(r["text"] for r in self.rows))

    def test_chosen_rows(self):
        for chosen, rows in ((self.ds.select([4, 0, 2]), [4, 0, 2]), (self.ds.filter(lambda e: e["label"]), [1, 3, 4]),
                             (self.ds.select(range(1, 3)), [1, 2])):
            self.check_source(lambda chosen=chosen: ps.from_huggingface(chosen), [self.rows[i] for i in rows])
        shuffled = self.ds.shuffle(seed=3)
        self.assertEqual([plain(e)["text"].decode() for e in ps.from_huggingface(shuffled)], shuffled["text"][:])

    def test_a_dataset_on_disk_is_mapped(self):
        with tempfile.TemporaryDirectory() as folder:
            self.ds.save_to_disk(folder)
            self.check_source(lambda: ps.from_huggingface(datasets.load_from_disk(folder)), self.rows)

    def test_formats(self):
        self.assertEqual([plain(e) for e in ps.from_huggingface(self.ds.with_format("numpy", columns=["label"]))],
                         [{"label": r["label"]} for r in self.rows])
        self.assertEqual(list(ps.from_huggingface(self.ds, columns=["ids", "text"]).spec), ["ids", "text"])
        changed = self.ds.with_transform(lambda batch: {"twice": [2 * n for n in batch["label"]]})
        self.assertEqual([plain(e) for e in ps.from_huggingface(changed)], [{"twice": 2 * r["label"]} for r in self.rows])

    def test_images_are_their_files(self):
        features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["no", "yes"])})
        [png] = ps.from_tensor_slices(np.full((1, 4, 5, 3), 9, np.uint8)).map(ps.image.encode_png)
        ds = datasets.Dataset.from_dict({"image": [{"bytes": png, "path": None}] * 2, "label": [1, 0]}).cast(features)
        got = ps.from_huggingface(ds).map(lambda e: {"image": ps.image.decode_png(e["image"]), "label": e["label"]})
        self.assertEqual([(e["image"].shape, int(e["label"])) for e in got], [((4, 5, 3), 1), ((4, 5, 3), 0)])

    def test_iterable_datasets(self):
        stream = self.ds.remove_columns("ids").to_iterable_dataset()
        ds = ps.from_huggingface(stream)
        self.check_source(lambda: ds, [{k: r[k] for k in ("text", "label")} for r in self.rows])

    def test_empty_and_wrong(self):
        self.assertEqual(list(ps.from_huggingface(self.ds.select([]))), [])
        with self.assertRaisesRegex(ps.InvalidArgument, "no column 'no'"):
            ps.from_huggingface(self.ds, columns=["no"])
        with self.assertRaisesRegex(ps.InvalidArgument, "takes a datasets.Dataset"):
            ps.from_huggingface([1, 2])
        with self.assertRaisesRegex(ps.InvalidArgument, 'column "x": row 1 has a null'):
            ps.from_huggingface(datasets.Dataset.from_dict({"x": [1, None]}))


if __name__ == "__main__":
    unittest.main()
