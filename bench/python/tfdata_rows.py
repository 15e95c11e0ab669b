"""tf.data as an expert tunes it for two cores: a pool of two, two calls, order given up, no threads inside of ops."""
import os

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf  # noqa: E402

BATCH = 128
MEAN, DEVIATION = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def one_by_one(count):
    return tf.data.Dataset.range(count).as_numpy_iterator()


def batches(count):
    return tf.data.Dataset.range(count).batch(256).as_numpy_iterator()


def parsed(record):
    x = tf.io.parse_single_example(record, {"image/encoded": tf.io.FixedLenFeature([], tf.string),
                                            "image/class/label": tf.io.FixedLenFeature([], tf.int64)})
    jpeg = x["image/encoded"]
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(jpeg), tf.zeros([1, 0, 4]), area_range=(0.08, 1.0), aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10, use_image_if_no_bounding_boxes=True, min_object_covered=0.0)
    image = tf.image.decode_and_crop_jpeg(jpeg, tf.concat([begin[:2], size[:2]], 0), channels=3)
    image = tf.image.random_flip_left_right(tf.image.resize(image, [224, 224]))
    return (image - MEAN) / DEVIATION, x["image/class/label"]


def images_float(folder, epochs):
    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    options.threading.max_intra_op_parallelism = 1
    options.deterministic = False
    files = tf.data.Dataset.list_files(f"{folder}/records/train-*", shuffle=False)
    ds = files.interleave(tf.data.TFRecordDataset, cycle_length=4).map(parsed, num_parallel_calls=2)
    ds = ds.repeat(epochs).batch(BATCH, drop_remainder=True).prefetch(2).with_options(options)
    return (image for image, _ in ds.as_numpy_iterator())


def first(folder):
    files = tf.data.Dataset.list_files(f"{folder}/small/*", shuffle=False)
    ds = files.map(lambda f: tf.image.decode_jpeg(tf.io.read_file(f), channels=3), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(32).prefetch(tf.data.AUTOTUNE).as_numpy_iterator()
