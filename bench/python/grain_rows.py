"""Grain with Pillow; two threads read and decode, none where they only cost."""
import glob
import random

import grain
import numpy as np
from PIL import Image
from window import window

INLINE = grain.ReadOptions(num_threads=0, prefetch_buffer_size=0)


def one_by_one(count):
    return grain.MapDataset.range(count).to_iter_dataset(INLINE)


def batches(count):
    return grain.MapDataset.range(count).batch(256).to_iter_dataset(INLINE)


def cropped(path):
    with Image.open(path) as image:
        image = image.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR, box=window(*image.size))
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return np.asarray(image)


def whole(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def images_u8(folder, epochs):
    paths = sorted(glob.glob(f"{folder}/files/*/*.jpg"))
    ds = grain.MapDataset.source(paths).shuffle(seed=1).repeat(epochs).map(cropped).batch(128, drop_remainder=True)
    return ds.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=2))


def first(folder):
    return grain.MapDataset.source(sorted(glob.glob(f"{folder}/small/*"))).map(whole).batch(32)
