"""tf.data.experimental: functions for Dataset.apply, and what has no better place."""
from ..._calls import build
from . import errors
from ._building import number, stage
from ._dataset import Dataset
from ._functions import Function, normalized, to_ps
from ._functions import like as like_of_result
from ._optional import Optional
from ._options import (AutoShardPolicy, AutotuneAlgorithm, AutotuneOptions, DistributeOptions, ExternalStatePolicy,
                       OptimizationOptions, ServiceOptions, ThreadingOptions)
from ._ops import wrapped
from ._readers import CsvDataset
from ._ready_made import make_batched_features_dataset, make_csv_dataset, parse_example_dataset
from ._structures import dressed, leaves, like_of

AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, SHARD_HINT = -1, -1, -2, -1


def _applied(name):
    method = getattr(Dataset, name)

    def function(*args, **named):
        return lambda dataset: method(dataset, *args, **named)
    function.__name__, function.__doc__ = name, f"For apply: Dataset.{name}."
    return function


assert_cardinality = _applied("assert_cardinality")
bucket_by_sequence_length = _applied("bucket_by_sequence_length")
dense_to_ragged_batch = _applied("ragged_batch")
dense_to_sparse_batch = _applied("sparse_batch")
enumerate_dataset = _applied("enumerate")
group_by_window = _applied("group_by_window")
ignore_errors = _applied("ignore_errors")
rejection_resample = _applied("rejection_resample")
scan = _applied("scan")
snapshot = _applied("snapshot")
take_while = _applied("take_while")
unbatch = _applied("unbatch")
unique = _applied("unique")


def cardinality(dataset):
    """Dataset.cardinality."""
    return dataset.cardinality()


def get_single_element(dataset):
    """Dataset.get_single_element."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator):
    """Its element_spec."""
    return dataset_or_iterator.element_spec


def get_next_as_optional(iterator):
    """Iterator.get_next_as_optional."""
    return iterator.get_next_as_optional()


def Counter(start=0, step=1, dtype="int64"):  # noqa: N802
    """Dataset.counter."""
    return Dataset.counter(start, step, dtype)


def RandomDataset(seed=None, rerandomize_each_iteration=None, name=None):  # noqa: N802
    """Dataset.random."""
    return Dataset.random(seed, rerandomize_each_iteration)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Dataset.sample_from_datasets."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Dataset.choose_from_datasets, which stops with the last dataset here."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Dataset.save."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


def load(path, element_spec=None, compression=None, reader_func=None):
    """Dataset.load."""
    return Dataset.load(path, element_spec, compression, reader_func)


@errors.building
def at(dataset, index):
    """The element at an index.

    >>> at(Dataset.range(5), 3).numpy()
    3
    """
    out = build("at", (dataset._ps, number(index, "index")), {})
    return dressed(dataset._like, out, lambda v, _: wrapped(v))


@errors.building
def from_list(elements, name=None):
    """One element for each entry, which may differ in shape."""
    if not isinstance(elements, list):
        raise TypeError(f"`elements` must be a list: {elements!r:.60}")
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    made = [normalized(e) for e in elements]
    wanted = [getattr(v, "dtype", None) for v in leaves(made[0])]
    for e in made[1:]:
        if [getattr(v, "dtype", None) for v in leaves(e)] != wanted:
            raise TypeError("the entries of `elements` must have one structure and the same dtypes")
    return Dataset._of(stage("from_list", [to_ps(e) for e in made]), like_of_result(made[0]))


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """map, then batch."""
    return lambda ds: ds.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """shuffle, then repeat."""
    return lambda ds: ds.shuffle(buffer_size, seed).repeat(count)


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """interleave."""
    return lambda ds: ds.interleave(map_func, cycle_length, block_length, num_parallel_calls=cycle_length,
                                    deterministic=not sloppy)


def prefetch_to_device(device, buffer_size=None):
    """prefetch; ps.torch and ps.jax copy to devices."""
    return lambda ds: ds.prefetch(-1 if buffer_size is None else buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    """The dataset as it is."""
    return lambda ds: ds


def pad_to_cardinality(cardinality, mask_key="valid"):
    """Zeros after the last element, up to a number of them; the mask says which are real."""
    return lambda ds: Dataset._of(errors.building(stage)("pad_to_cardinality", ds, number(cardinality), mask_key=mask_key),
                                  None, (ds,))


class Reducer:
    """The functions of group_by_reducer."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def group_by_reducer(key_func, reducer):
    """For each key finalize_func of what reduce_func made of its elements."""
    @errors.building
    def apply(ds):
        from ... import _types as ps_types
        from ._functions import key_function
        from ._symbols import Frame
        from ._types import as_dtype
        key = ds._function(key_func, "group_by_reducer")
        keys, int64 = Frame(lambda: build("range", (1,), {})), ps_types.TensorSpec(as_dtype("int64").ps, ())
        init = key_function(reducer.init_func, keys, int64)
        begun = build("range", (1,), {}).map(init)
        state_like = like_of_result(normalized(reducer.init_func(normalized(0)))) if _plain_init(reducer) else None
        state = (Frame(lambda: begun), begun.spec, state_like)
        reduce = Function(reducer.reduce_func, ds, "group_by_reducer", state=state)
        final = Function(reducer.finalize_func, Dataset._of(begun, state_like), "group_by_reducer")
        ps = stage("group_by_reducer", ds, key.of_elements("int64"), init=init, reduce=reduce.of_state(),
                   finalize=final.of_elements())
        return Dataset._of(ps, final.like, (ds,))
    return apply


def _plain_init(reducer):
    try:
        reducer.init_func(normalized(0))
    except (TypeError, ValueError):
        return False
    return True


class TFRecordWriter:
    """Writes the records of a dataset of strings to a TFRecord file."""

    def __init__(self, filename, compression_type=None):
        self.filename, self.compression_type = filename, compression_type

    def write(self, dataset):
        """All of them."""
        from ._record_writer import TFRecordWriter as Writer
        with Writer(self.filename, self.compression_type) as out:
            for record in dataset.as_numpy_iterator():
                out.write(record)


__all__ = ["AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "CsvDataset", "DistributeOptions",
           "ExternalStatePolicy", "OptimizationOptions", "Optional", "ServiceOptions", "ThreadingOptions", "like_of",
           "make_batched_features_dataset", "make_csv_dataset", "parse_example_dataset"]
