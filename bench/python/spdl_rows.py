"""SPDL: its pipeline of threads, images by its FFmpeg bindings, whose libraries are found when the first one is asked for."""
import glob
import random

import spdl.io
from spdl.pipeline import PipelineBuilder
from window import window


def piped(source, *stages, threads=2):
    builder = PipelineBuilder().add_source(source)
    for stage in stages:
        builder = stage(builder)
    pipeline = builder.add_sink(2).build(num_threads=threads)
    with pipeline.auto_stop():
        yield from pipeline


def one_by_one(count):
    return piped(range(count))


def batches(count):
    return piped(range(count), lambda b: b.aggregate(256))


def decoded(path, crop=True):
    packets = spdl.io.demux_image(path)
    if not crop:
        return spdl.io.decode_packets(packets, filter_desc="format=pix_fmts=rgb24")
    x, y, right, low = window(packets.width, packets.height)
    flip = ",hflip" if random.random() < 0.5 else ""
    filters = f"crop={right - x}:{low - y}:{x}:{y},scale=224:224:flags=bilinear{flip},format=pix_fmts=rgb24"
    return spdl.io.decode_packets(packets, filter_desc=filters)


def batch(frames):
    return spdl.io.to_numpy(spdl.io.convert_frames(frames))


def images_u8(folder, epochs):
    decoded(glob.glob(f"{folder}/small/*")[0], False)  # without FFmpeg the reason comes from here, not from a thread
    paths = sorted(glob.glob(f"{folder}/files/*/*.jpg")) * epochs
    random.shuffle(paths)
    return piped(paths, lambda b: b.pipe(decoded, concurrency=2), lambda b: b.aggregate(128, drop_last=True),
                 lambda b: b.pipe(batch))


def first(folder):
    paths = sorted(glob.glob(f"{folder}/small/*"))
    decoded(paths[0], False)
    return piped(paths, lambda b: b.pipe(lambda path: decoded(path, False), concurrency=2), lambda b: b.aggregate(32),
                 lambda b: b.pipe(batch))
