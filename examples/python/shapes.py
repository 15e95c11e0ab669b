"""Drawn shapes as JPEGs in TFRecord files: a small task that is to be learned, made by a seed.

Each record is a tf.train.Example with "image", a JPEG of 32 x 32 pixels, and "label", its shape.
"""
import pathlib
import struct
from typing import Any, Iterator

import numpy as np
from numpy.typing import NDArray

import penstock as ps

SHAPES = ("disc", "square", "triangle", "cross")
SIZE = 32


def draw(label: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A shape of random place, size and colour on a noisy background."""
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE / 2 + rng.uniform(-3, 3, (2, 1, 1))
    r = rng.uniform(7, 12)
    inside = {
        "disc": x**2 + y**2 < r**2,
        "square": np.maximum(abs(x), abs(y)) < 0.85 * r,
        "triangle": (abs(y) < 0.9 * r) & (abs(x) < (y + 0.9 * r) / 1.8),
        "cross": (np.minimum(abs(x), abs(y)) < 0.3 * r) & (np.maximum(abs(x), abs(y)) < r),
    }[SHAPES[label]]
    dark, light = rng.uniform(0, 90, 3), rng.uniform(150, 255, 3)
    image: NDArray[Any] = np.where(inside[..., None], light, dark) + rng.normal(0, 12, (SIZE, SIZE, 3))
    return np.asarray(image.clip(0, 255), np.uint8)


def write_shapes(folder: pathlib.Path, name: str, images: int, files: int, seed: int) -> None:
    """Writes NAME-0.tfrecord and so on into the folder, with the images dealt to them."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(SHAPES), images)
    pixels = ps.from_tensor_slices(np.stack([draw(label, rng) for label in labels]))
    examples = [_example(jpeg, int(label)) for jpeg, label in zip(pixels.map(ps.image.encode_jpeg), labels)]
    for i in range(files):
        (folder / f"{name}-{i}.tfrecord").write_bytes(b"".join(_records(examples[i::files])))


def _records(payloads: "list[bytes]") -> Iterator[bytes]:
    """TFRecord's framing: the length and the payload, each with its masked CRC."""
    lengths = [struct.pack("<Q", len(payload)) for payload in payloads]
    parts = ps.from_tensor_slices(np.array([*lengths, *payloads], dtype=object))
    crcs: "list[Any]" = list(parts.map(lambda part: ps.crc32c(part, masked=True)))
    for i, (length, payload) in enumerate(zip(lengths, payloads)):
        yield length + struct.pack("<I", int(crcs[i])) + payload + struct.pack("<I", int(crcs[len(payloads) + i]))


def _example(jpeg: bytes, label: int) -> bytes:
    """A tf.train.Example in the wire format of protobuf."""
    image = _field(1, _field(1, jpeg))           # Feature.bytes_list
    number = _field(3, _field(1, bytes([label])))  # Feature.int64_list, packed
    entries = (_field(1, key) + _field(2, value) for key, value in ((b"image", image), (b"label", number)))
    return _field(1, b"".join(_field(1, entry) for entry in entries))


def _field(number: int, payload: bytes) -> bytes:
    length, n = b"", len(payload)
    while n > 127:
        length, n = length + bytes([n & 127 | 128]), n >> 7
    return bytes([number << 3 | 2]) + length + bytes([n]) + payload
