"""tf.data.Dataset's transformations of single elements and of their order. Batches and windows: _batches.py."""
import os

import numpy as np

from ..._sources import py_map
from ..._values import Value
from . import errors
from ._batches import Batches
from ._building import number, op_seed, parallel, stage
from ._functions import to_ps
from ._functions import like as like_of_result
from ._sources import text
from ._structures import fields
from ._tensors import constant


class Stages(Batches):
    """Those that are methods of tf.data.Dataset."""

    @errors.building
    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=False, name=None):
        """map_func of each element; the parts of a tuple are arguments of their own, a list it returns is a tuple.

        >>> from penstock.compat import tf_data as tf
        >>> [x.numpy() for x in tf.data.Dataset.range(3).map(lambda x: x * x)]
        [0, 1, 4]
        """
        f, body = self._plain_function(map_func, "Dataset.map()")
        ps = stage("map", self, body, num_parallel_calls=parallel(num_parallel_calls),
                   deterministic=None if num_parallel_calls is None else deterministic,
                   synchronous=synchronous or None)
        return self._made(ps, f and f.like)

    def _plain_function(self, f, name):
        """-> (Function, what Penstock is given); None for text of the pipe language and ps.py_map, which it takes itself."""
        if isinstance(f, (str, py_map)):
            return None, f
        function = self._function(f, name)
        return function, function.of_elements()

    def _made(self, ps, like, inputs=()):
        from ._dataset import Dataset
        return Dataset._of(ps, like, (self, *inputs))

    @errors.building
    def filter(self, predicate, name=None):
        """The elements for which the predicate is true."""
        return self._stage("filter", self._plain_function(predicate, "Dataset.filter()")[1])

    def filter_with_legacy_function(self, predicate):
        """filter."""
        return self.filter(predicate)

    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None):
        """map."""
        return self.map(map_func, num_parallel_calls, deterministic)

    @errors.building
    def flat_map(self, map_func, name=None):
        """The elements of the datasets that map_func gives, one dataset after the other."""
        f, nested = self._datasets_function(map_func, "Dataset.flat_map()")
        ps = stage("flat_map", self, f)
        return self._made(ps, nested())

    @errors.building
    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        """The elements of the datasets that map_func gives: block_length of each of cycle_length in turn.

        cycle_length is 16 if it is left out or AUTOTUNE, on every machine.
        """
        cycle_length = number(cycle_length, "cycle_length")
        if cycle_length is not None and not isinstance(cycle_length, Value) and cycle_length < 0:
            cycle_length = None
        f, nested = self._datasets_function(map_func, "Dataset.interleave()")
        ps = stage("interleave", self, f, cycle_length=cycle_length, block_length=number(block_length, "block_length"),
                   num_parallel_calls=parallel(num_parallel_calls), deterministic=deterministic)
        return self._made(ps, nested())

    def _datasets_function(self, map_func, name):
        """-> (the function, what gives the like of the elements of the datasets that it gave)."""
        f = self._function(map_func, name)
        body = f.of_elements()

        def checked(x):
            out = body(x)
            if not hasattr(type(f.gave), "element_spec"):
                raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(f.gave).__name__!r}.")
            return out
        return checked, lambda: f.gave._like if f.gave is not None else None

    @errors.building
    def take_while(self, predicate, name=None):
        """The elements before the first for which the predicate is false."""
        return self._stage("take_while", self._function(predicate, "Dataset.take_while()").of_elements())

    @errors.building
    def scan(self, initial_state, scan_func, name=None):
        """scan_func(state, element) gives (next state, output).

        >>> from penstock.compat import tf_data as tf
        >>> [x.numpy() for x in tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))]
        [0, 1, 3, 6]
        """
        state, f = self._state_function(initial_state, scan_func, "Dataset.scan()")
        body = f.of_state()

        def checked(s, x):
            out = body(s, x)
            if not (isinstance(f.gave, tuple) and fields(f.gave) is None and len(f.gave) == 2):
                raise TypeError("`scan_func` should return a pair consisting of new state and the output value but its "
                                f"return value is {f.gave!r}.")
            return out
        ps = stage("scan", self, to_ps(state), checked)
        return self._made(ps, None if f.gave is None else like_of_result(f.gave[1]))

    @errors.building
    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """Each element is drawn from a buffer of buffer_size. The order is Penstock's draw, not TensorFlow's."""
        buffer_size = number(buffer_size, "buffer_size")
        if isinstance(buffer_size, int) and buffer_size == -2:
            buffer_size = None
        elif isinstance(buffer_size, int) and buffer_size < 1:
            raise errors.wrong(f"`buffer_size` must be positive or tf.data.UNKNOWN_CARDINALITY: {buffer_size}", "shuffle")
        ps = stage("shuffle", self, buffer_size, seed=op_seed(seed),
                   reshuffle_each_iteration=None if reshuffle_each_iteration in (None, True) else False)
        return self._made(ps, self._like)

    @errors.building
    def repeat(self, count=None, name=None):
        """The elements again and again: ``count`` times, or without end."""
        return self._stage("repeat", count=number(count))

    @errors.building
    def take(self, count, name=None):
        """The first elements; all of them if count is negative."""
        return self._stage("take", number(count))

    @errors.building
    def skip(self, count, name=None):
        """All but the first elements; none if count is -1."""
        return self._stage("skip", number(count))

    @errors.building
    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from index on."""
        num_shards, index = number(num_shards, "num_shards"), number(index, "index")
        return self._stage("shard", num_shards, index)

    @errors.building
    def cache(self, filename="", name=None):
        """What the first whole pass gives is kept, in memory or in a folder, and read in later ones."""
        return self._stage("cache", text(filename) if not isinstance(filename, str) or filename else "")

    @errors.building
    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """What the first whole pass gives is kept in a folder, and read in later ones."""
        if reader_func is not None or shard_func is not None:
            raise errors.UnimplementedError(message="a snapshot keeps the order it was written in: leave reader_func and "
                                            "shard_func out, shuffle after it", node="snapshot")
        return self._stage("snapshot", text(path), compression=_compression(compression))

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes the elements to a folder for ``load``."""
        return self._save(path, compression, shard_func, checkpoint_args)

    @errors.building
    def _save(self, path, compression, shard_func, checkpoint_args):
        if checkpoint_args is not None:
            said = "files appear when all elements are written: leave checkpoint_args out"
            raise errors.UnimplementedError(message=said, node="save")
        folder = text(path)
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            if name.startswith("shard-"):
                os.remove(os.path.join(folder, name))
        if shard_func is None:
            stage("save", self, os.path.join(folder, "shard-00000"), compression=_compression(compression))
        else:
            f = self._function(shard_func, "Dataset.save()")
            stage("save", self, folder, compression=_compression(compression), shard_func=f.of_elements("int64"))

    @errors.building
    def prefetch(self, buffer_size, name=None):
        """buffer_size elements are made ahead of the consumer."""
        buffer_size = number(buffer_size, "buffer_size")
        if isinstance(buffer_size, int) and buffer_size < -1:
            raise errors.wrong(f"`buffer_size` must be tf.data.AUTOTUNE or at least 0: {buffer_size}", "prefetch")
        if isinstance(buffer_size, int) and buffer_size == 0:
            return self._made(self._ps, self._like)
        return self._stage("prefetch", buffer_size=None if buffer_size == -1 else buffer_size)

    @errors.building
    def enumerate(self, start=0, name=None):
        """(position, element), positions as int64."""
        ps = stage("enumerate", self, start=number(start, "start"))
        return self._made(ps, None if self._like is None else (None, self._like))

    @errors.building
    def concatenate(self, dataset, name=None):
        """These elements, then those of the other dataset."""
        self._same_structure(dataset, "concatenate")
        return self._stage("concatenate", dataset, inputs=(dataset,))

    def _same_structure(self, dataset, name):
        from ._dataset import Dataset
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`{name}` takes a tf.data.Dataset: {dataset!r:.60}")

    @errors.building
    def unique(self, name=None):
        """Each element once, at its first place."""
        return self._stage("unique")

    @errors.building
    def ignore_errors(self, log_warning=False, name=None):
        """The elements that do not fail."""
        return self._stage("ignore_errors", log_warning=log_warning or None)

    @errors.building
    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """(class, element) of elements left out until their classes are spread as target_dist says."""
        f = self._function(class_func, "Dataset.rejection_resample()")
        ps = stage("rejection_resample", self, f.of_elements(), _weights(target_dist),
                   initial_dist=None if initial_dist is None else _weights(initial_dist), seed=op_seed(seed))
        return self._made(ps, None if self._like is None else (None, self._like))

    @errors.building
    def assert_cardinality(self, expected_cardinality):
        """The elements, whose number is taken at its word, and checked. tf.data.experimental.assert_cardinality."""
        return self._stage("assert_cardinality", number(expected_cardinality))


def _weights(x):
    return x if isinstance(x, Value) else [float(w) for w in np.asarray(constant(x)).ravel()]


def _compression(name):
    """TensorFlow's name of a compression as Penstock writes it."""
    if name in (None, "", "NONE", "AUTO"):
        return None
    return {"GZIP": "GZIP", "SNAPPY": None, "ZLIB": "ZLIB"}.get(str(name).upper(), name)

