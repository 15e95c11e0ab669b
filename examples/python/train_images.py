"""Trains a two-layer network to tell drawn shapes apart, with NumPy and Penstock only.

    python examples/python/train_images.py

JPEGs in TFRecord files are read, decoded, scaled, shuffled and batched by the engine; the network is forty lines. The same
seeds give the same files, batches and losses.
"""
import pathlib
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

import penstock as ps
from shapes import SHAPES, write_shapes

EPOCHS = 6
PIXELS = 16 * 16


def shapes(pattern: str) -> ps.Dataset:
    """The images of TFRecord files as rows of floats, with their labels."""
    def example(record: Any) -> Any:
        e = ps.parse_example(record, {"image": ps.bytes, "label": ps.int64})
        gray = ps.image.resize(ps.image.decode_jpeg(e["image"], channels=1), [16, 16])
        return {"x": ps.reshape(gray / 128.0 - 1.0, [PIXELS]), "label": e["label"]}
    return ps.files(pattern, shuffle=True, seed=7).interleave(ps.tfrecord, cycle_length=4).map(example)


class Network:
    """One hidden layer, softmax, trained by gradient descent with momentum."""

    def __init__(self, hidden: int, rng: np.random.Generator) -> None:
        sizes = [(PIXELS, hidden), (hidden, len(SHAPES))]
        self.weights = [rng.normal(0, np.sqrt(2 / n), (n, m)) for n, m in sizes]
        self.biases = [np.zeros(m) for _, m in sizes]
        self.speed = [np.zeros_like(p) for p in (*self.weights, *self.biases)]

    def probabilities(self, x: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
        """Outputs of both layers."""
        hidden = np.maximum(x @ self.weights[0] + self.biases[0], 0)
        scores = hidden @ self.weights[1] + self.biases[1]
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return hidden, powers / powers.sum(axis=1, keepdims=True)

    def step(self, x: "NDArray[Any]", label: "NDArray[Any]", rate: float) -> float:
        """One step of training; returns the loss before it."""
        hidden, p = self.probabilities(x)
        rows = np.arange(len(label))
        loss = -np.log(p[rows, label]).mean()
        p[rows, label] -= 1
        p /= len(label)
        back = (p @ self.weights[1].T) * (hidden > 0)
        gradients = [x.T @ back, hidden.T @ p, back.sum(axis=0), p.sum(axis=0)]
        for parameter, speed, gradient in zip((*self.weights, *self.biases), self.speed, gradients):
            speed *= 0.9
            speed -= rate * gradient
            parameter += speed
        return float(loss)


def main(folder: pathlib.Path, images: int = 1600) -> "tuple[list[float], float]":
    """Returns the mean loss of each epoch, and the share of unseen images that the network knows."""
    write_shapes(folder, "train", images, files=4, seed=1)
    write_shapes(folder, "test", images // 4, files=2, seed=2)
    train = shapes(str(folder / "train-*.tfrecord")).cache().shuffle(images, seed=7).repeat(EPOCHS).batch(32)
    network, losses = Network(64, np.random.default_rng(0)), []
    with ps.watch(train):  # says at the end how long the training waited for data
        steps = [network.step(batch["x"], batch["label"], 0.02) for batch in train]
    for epoch, part in enumerate(np.array_split(steps, EPOCHS), 1):
        losses.append(float(part.mean()))
        print(f"epoch {epoch}: loss {losses[-1]:.3f}")
    guesses = [(network.probabilities(batch["x"])[1].argmax(axis=1) == batch["label"]).mean()
               for batch in shapes(str(folder / "test-*.tfrecord")).batch(100)]
    print(f"accuracy on unseen images: {100 * np.mean(guesses):.1f} %")
    return losses, float(np.mean(guesses))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(made))
