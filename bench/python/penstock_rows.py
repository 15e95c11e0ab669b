"""Penstock, as docs/python.md writes it."""
import penstock as ps

BATCH = 128
MEAN, DEVIATION = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def one_by_one(count):
    return ps.range(count)


def batches(count):
    return ps.range(count).batch(256)


def arrays(names):
    """Rows of so many arrays of 16 floats each, which are there: handing them over is all the work."""
    import numpy as np
    return ps.from_tensor_slices({f"a{i}": np.zeros((1024, 16), np.float32) for i in range(names)})


def one_array(count):
    return arrays(1).repeat(max(count // 1024, 1))


def many_arrays(count):
    return arrays(39).repeat(max(count // 1024, 1))


def cropped(jpeg):
    return ps.image.random_resized_crop(ps.image.decode_jpeg(jpeg, channels=3), 224, 224)


def training(folder, epochs, finish):
    return (ps.files(f"{folder}/records/train-*")
            .interleave(ps.tfrecord, cycle_length=4)
            .map(lambda r: ps.parse_example(r, {"image/encoded": ps.bytes, "image/class/label": ps.int64}))
            .map(lambda x: {"image": finish(cropped(x["image/encoded"])), "label": x["image/class/label"]})
            .repeat(epochs).batch(BATCH, drop_remainder=True))


def u8(folder, epochs):
    return training(folder, epochs, ps.image.random_flip_left_right)


def floats(folder, epochs):
    return training(folder, epochs, lambda x: (ps.float32(ps.image.random_flip_left_right(x)) - MEAN) / DEVIATION)


def images_u8(folder, epochs):
    return (batch["image"] for batch in u8(folder, epochs))


def images_float(folder, epochs):
    return (batch["image"] for batch in floats(folder, epochs))


def first(folder):
    return ps.files(f"{folder}/small/*").map(lambda f: ps.image.decode_jpeg(ps.read_file(f), channels=3)).batch(32)
