"""The Python of README.md and of the guides in docs, run on real data: JPEGs in TFRecord files."""
import contextlib
import io
import linecache
import os
import pathlib
import re
import shutil
import struct
import tarfile
import tempfile
import unittest
import unittest.mock

import numpy as np

import penstock as ps
from penstock import _command

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def example(features):
    """A tf.train.Example: bytes and ints."""
    entries = b""
    for key, value in features.items():
        kind = field(1, field(1, value)) if isinstance(value, bytes) else field(3, field(1, varint(value)))
        entries += field(1, field(1, key.encode()) + field(2, kind))
    return field(1, entries)


def records(payloads):
    def masked(data):
        [crc] = ps.from_tensor_slices(np.array([data], dtype=object)).map(lambda s: ps.crc32c(s, masked=True))
        return struct.pack("<I", int(crc))
    for data in payloads:
        length = struct.pack("<Q", len(data))
        yield length + masked(length) + data + masked(data)


def write_images(folder, files=2, each=8):
    pixels = np.arange(96 * 80 * 3, dtype=np.uint8).reshape(96, 80, 3)
    [jpeg] = ps.from_tensor_slices(pixels[None, :16, :16]).map(ps.image.encode_jpeg)
    for i in range(files):
        data = (example({"image": jpeg, "label": i * each + k}) for k in range(each))
        pathlib.Path(folder, f"train-{i}.tfrecord").write_bytes(b"".join(records(data)))


def write_shards():
    [jpeg] = ps.from_tensor_slices(np.zeros((1, 4, 4, 3), np.uint8)).map(ps.image.encode_jpeg)
    for i in range(2):
        with tarfile.open(f"shards-{i:03d}.tar", "w") as archive:
            for name, data in ((f"{i}.jpg", jpeg), (f"{i}.cls", b"1")):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def has_command():
    try:
        return bool(_command.program())
    except ps.NotFound:
        return False


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        write_images(folder.name)
        write_shards()
        np.save("tokens.npy", np.arange(600_000).reshape(60, 10_000))
        shutil.copy(ROOT / "tests/cluster/chain.json", "profile.json")
        kept = unittest.mock.patch.dict(os.environ, PENSTOCK_CACHE_DIR=folder.name)
        kept.start()
        self.addCleanup(kept.stop)
        self.seen = []

    def walk(self):
        for n in range(4):
            yield {"image": np.full((2, 2), n, np.uint8), "label": n}

    def given(self):
        """The names that the documents take as known."""
        def take(image, label):
            self.seen.append((image.shape, image.dtype, np.ravel(label).tolist()))
        return {"ps": ps, "np": np, "train": take, "use": take, "walk": self.walk, "dataset": list(self.walk()),
                "augment": lambda x: x, "is_good": lambda x: True, "step": lambda batch: None}

    def run_blocks(self, document):
        names = self.given()
        blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)
        self.assertTrue(blocks)
        for i, block in enumerate(blocks):
            if re.search(r"ps\.(predict|compare|stall|provision)\(", block) and not has_command():
                continue
            file = f"<{document}, block {i + 1}>"  # whose text a function that is converted is found in
            linecache.cache[file] = (len(block), None, block.splitlines(True), file)
            with self.subTest(block), contextlib.redirect_stdout(io.StringIO()):
                try:
                    exec(compile(block, file, "exec"), names)  # noqa: S102
                except ModuleNotFoundError as e:
                    if e.name not in ("pyarrow", "torch", "jax"):  # which need not be there
                        raise
        return names

    def test_readme(self):
        self.run_blocks("README.md")
        self.assertEqual(sorted(label for _, _, labels in self.seen for label in labels), list(range(16)))
        self.assertEqual({shape for shape, _, _ in self.seen}, {(16, 16, 3)})

    def test_guide(self):
        names = self.run_blocks("docs/python.md")
        self.assertEqual({shape for shape, _, _ in self.seen}, {(16, 224, 224, 3)})
        self.assertEqual(sum(1 for _ in names["ds"]), 4)

    def test_from_tfdata(self):
        self.run_blocks("docs/from-tfdata.md")
        self.assertEqual([shape for shape, _, _ in self.seen], [(4, 8, 8, 3)] * 8)

    def test_from_torch(self):
        self.run_blocks("docs/from-torch.md")
        self.assertEqual([shape for shape, _, _ in self.seen], [(4, 3), (4, 3), (2, 3), (5, 3), (5, 3)])


if __name__ == "__main__":
    unittest.main()
