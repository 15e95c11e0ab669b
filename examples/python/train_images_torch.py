"""Trains a small convolutional network of PyTorch to tell drawn shapes apart.

    python examples/python/train_images_torch.py

The same data as train_images.py; ps.torch hands the batches over as tensors without a copy, and to a GPU where there is one.
"""
import pathlib
import tempfile
from typing import Any

import torch

import penstock as ps
from shapes import SHAPES, write_shapes

EPOCHS = 4


def shapes(pattern: str) -> ps.Dataset:
    """The images of TFRecord files, channels first, with their labels."""
    def example(record: Any) -> Any:
        e = ps.parse_example(record, {"image": ps.bytes, "label": ps.int64})
        image = ps.float32(ps.image.decode_jpeg(e["image"], channels=3)) / 128.0 - 1.0
        return {"image": ps.transpose(image, [2, 0, 1]), "label": e["label"]}
    return ps.files(pattern, shuffle=True, seed=7).interleave(ps.tfrecord, cycle_length=4).map(example)


def network() -> torch.nn.Module:
    """Two convolutions and a linear layer."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=2), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 3, stride=2), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(16 * 6 * 6, len(SHAPES)))


def main(folder: pathlib.Path, images: int = 1600) -> "tuple[list[float], float]":
    """Returns the mean loss of each epoch, and the share of unseen images that the network knows."""
    write_shapes(folder, "train", images, files=4, seed=1)
    write_shapes(folder, "test", images // 4, files=2, seed=2)
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, losses = network().to(device), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    train = shapes(str(folder / "train-*.tfrecord")).cache().shuffle(images, seed=7).batch(32)
    for epoch in range(1, EPOCHS + 1):
        total = 0.0
        for batch in ps.torch(train, device=device):
            loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / (images // 32))
        print(f"epoch {epoch}: loss {losses[-1]:.3f}")
    right = 0
    with torch.no_grad():
        for batch in ps.torch(shapes(str(folder / "test-*.tfrecord")).batch(100), device=device):
            right += int((model(batch["image"]).argmax(dim=1) == batch["label"]).sum())
    print(f"accuracy on unseen images: {400 * right / images:.1f} %")
    return losses, 4 * right / images


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(pathlib.Path(made))
