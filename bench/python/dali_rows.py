"""DALI on the CPU, two threads."""
from nvidia.dali import fn, pipeline_def, types

MEAN, DEVIATION = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


@pipeline_def(num_threads=2, device_id=None, prefetch_queue_depth=2)
def training(folder, as_floats):
    jpegs, labels = fn.readers.file(file_root=f"{folder}/files", random_shuffle=True, name="reader")
    images = fn.decoders.image_random_crop(jpegs, device="cpu", output_type=types.RGB, random_area=[0.08, 1.0],
                                           random_aspect_ratio=[3 / 4, 4 / 3])
    images = fn.resize(images, resize_x=224, resize_y=224, interp_type=types.INTERP_LINEAR, antialias=False)
    kind = {"dtype": types.FLOAT, "mean": MEAN, "std": DEVIATION} if as_floats else {"dtype": types.UINT8}
    return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip(), output_layout="HWC", **kind), labels


@pipeline_def(num_threads=2, device_id=None, batch_size=32)
def small(folder):
    jpegs, labels = fn.readers.file(file_root=folder, file_filters=["*.jpg"], dir_filters=["small"])
    return fn.decoders.image(jpegs, device="cpu", output_type=types.RGB), labels


def drawn(pipe, epochs, batch):
    pipe.build()
    for _ in range(epochs * (pipe.epoch_size("reader") // batch)):
        images, _ = pipe.run()
        yield images.as_array()


def images_float(folder, epochs):
    return drawn(training(folder, True, batch_size=128), epochs, 128)


def images_u8(folder, epochs):
    return drawn(training(folder, False, batch_size=128), epochs, 128)


def first(folder):
    pipe = small(folder)
    pipe.build()
    yield pipe.run()[0].as_array()
