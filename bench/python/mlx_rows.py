"""mlx-data. Labels and images in files: it reads no TFRecord."""
import glob

import mlx.data as dx


def one_by_one(count):
    return dx.buffer_from_vector([{"x": i} for i in range(count)]).to_stream()


def batches(count):
    return dx.buffer_from_vector([{"x": i} for i in range(count)]).to_stream().batch(256)


def named(paths):
    return dx.buffer_from_vector([{"image": path.encode(), "label": i} for i, path in enumerate(sorted(paths))])


def images_u8(folder, epochs):
    stream = (named(glob.glob(f"{folder}/files/*/*.jpg") * epochs).shuffle().to_stream()
              .load_image("image")
              .image_random_area_crop("image", (0.08, 1.0), (3 / 4, 4 / 3))
              .image_resize("image", 224, 224)
              .image_random_h_flip("image", 0.5)
              .batch(128).prefetch(2, 2))
    return (batch["image"] for batch in stream)


def first(folder):
    stream = named(glob.glob(f"{folder}/small/*")).to_stream().load_image("image").batch(32).prefetch(2, 2)
    return (batch["image"] for batch in stream)
