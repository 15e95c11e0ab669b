"""tf.data.Dataset's sources."""
import os

import numpy as np

from ... import _core
from ... import _types as ps_types
from ..._arrays import to_core as array_to_core
from ..._dataset import Dataset as PsDataset
from ..._values import Value, is_tracing
from . import errors
from ._building import number, op_seed, stage
from ._functions import like, normalized, to_ps
from ._ops import MOST_ENTRIES
from ._structures import Nested, leaves, like_of, mapped, plain
from ._symbols import Symbol
from ._tensors import RaggedTensor, SparseTensor, constant, pack
from ._types import as_dtype


def _of(*args, **named):
    from ._dataset import Dataset
    return Dataset._of(*args, **named)


class Sources:
    """Those that are static methods of tf.data.Dataset."""

    @staticmethod
    @errors.building
    def from_tensors(tensors, name=None):
        """One element.

        >>> from penstock.compat import tf_data as tf
        >>> [x.numpy().tolist() for x in tf.data.Dataset.from_tensors([1, 2])]
        [[1, 2]]
        """
        if _is_list_of_datasets(tensors):  # one element, a tensor of datasets
            return _of_datasets(tensors).batch(len(tensors), drop_remainder=True)
        x = normalized(tensors)
        if any(isinstance(v, np.ndarray) and v.size > MOST_ENTRIES for v in leaves(x)) and not is_tracing() and \
                all(isinstance(v, np.ndarray) for v in leaves(x)):
            return _of(_of_arrays(x, [v[None] for v in leaves(x)]), like(x))
        return _of(stage("from_tensors", to_ps(x)), like(x), _inside(x))

    @staticmethod
    @errors.building
    def from_tensor_slices(tensors, name=None):
        """The items of tensors along their first axis.

        >>> from penstock.compat import tf_data as tf
        >>> [(a.numpy(), b.numpy()) for a, b in tf.data.Dataset.from_tensor_slices(([1, 2], ["x", "y"]))]
        [(1, b'x'), (2, b'y')]
        """
        if _is_list_of_datasets(tensors):
            return _of_datasets(tensors)
        if hasattr(type(tensors), "element_spec") and isinstance(tensors._ps, Value):  # an element that is such a tensor
            return _of(stage("from_tensor_slices", tensors), None if tensors._like is None else Nested(tensors._like))
        x = normalized(tensors)
        arrays = leaves(x)
        if not arrays:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        for v in arrays:
            if isinstance(v, np.ndarray) and not v.ndim:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
            if v is None or hasattr(type(v), "element_spec"):
                raise TypeError(f"from_tensor_slices takes tensors: {v!r:.60}")
        sizes = {int(v.shape[0]) for v in arrays if isinstance(v, (np.ndarray, RaggedTensor, SparseTensor))}
        if len(sizes) > 1:
            raise ValueError(f"Dimension {min(sizes)} in both shapes must be equal: sizes of axis 0 are {sorted(sizes)}")
        if all(isinstance(v, np.ndarray) for v in arrays) and not is_tracing():
            return _of(_of_arrays(x, arrays), like(x))
        return _of(stage("from_tensor_slices", to_ps(x)), like(x))

    @staticmethod
    @errors.building
    def range(*args, **kwargs):
        """range(stop), range(start, stop), range(start, stop, step); output_type=tf.int64.

        >>> from penstock.compat import tf_data as tf
        >>> [x.numpy() for x in tf.data.Dataset.range(5, 1, -2)]
        [5, 3]
        """
        dtype = as_dtype(kwargs.pop("output_type", "int64"))
        kwargs.pop("name", None)
        if kwargs:
            raise TypeError(f"range() got an unexpected keyword argument {next(iter(kwargs))!r}")
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        return _of(stage("range", *(number(a, "range") for a in args),
                         dtype=None if dtype == "int64" else dtype.ps))

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        """start, start + step, ... without end."""
        return _of(stage("counter", start, step, dtype=as_dtype(dtype).ps))

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Uniform numbers of 32 bits without end; the stream is Penstock's, not TensorFlow's."""
        return _of(stage("random", seed=op_seed(seed), rerandomize_each_iteration=rerandomize_each_iteration or None))

    @staticmethod
    @errors.building
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """Names of the files that match; shuffled, unless shuffle=False."""
        pattern = names(file_pattern)
        shuffle = True if shuffle is None else bool(shuffle)
        try:
            ps = stage("list_files", pattern, shuffle=shuffle or None, seed=op_seed(seed) if shuffle else None)
            if isinstance(ps, PsDataset):
                iter(ps)  # patterns are looked up now, as TensorFlow does
            return _of(ps)
        except errors._errors.NotFound as e:
            said = f"No files matched pattern: {e.message}"
            raise errors.InvalidArgumentError(message=said, node="list_files") from None

    @staticmethod
    @errors.building
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side: zip(a, b), zip((a, b)), zip({"a": a}).

        >>> from penstock.compat import tf_data as tf
        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip(a, b)]
        [(0, 10), (1, 11)]
        """
        from ._dataset import Dataset
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = datasets if not args else args[0] if len(args) == 1 else args
        for d in leaves(given):
            if not isinstance(d, Dataset):
                raise TypeError(f"The argument to `zip` must be a (nested) structure of `Dataset` objects: {d!r:.60}"
                                + (" Nested structures do not support Python lists; please use a tuple instead."
                                   if isinstance(d, list) else ""))
        if isinstance(given, Dataset):
            return _of(given._ps, given._like, inputs=(given,))
        return _of(stage("zip", plain(given, lambda d: d._ps)), like_of(given, lambda d: d._like), inputs=leaves(given))

    @staticmethod
    @errors.building
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Each element comes from a dataset drawn by its weight; which, is Penstock's draw, not TensorFlow's."""
        from ._dataset import Dataset
        datasets = list(datasets)
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if weights is not None and not isinstance(weights, (Dataset, Value)):
            if isinstance(weights, list) and any(isinstance(w, Value) for w in weights):
                raise TypeError("`weights` must be numbers, or a dataset of them")
            weights = constant(weights)
            if weights.dtype.kind != "f":
                raise TypeError(f"`weights` type must be either `tf.float32` or `tf.float64` but is {weights.dtype}.")
            weights = [float(w) for w in weights.numpy().ravel()]
            if len(weights) != len(datasets):
                raise ValueError(f"`weights` must have the length of `datasets`: {len(weights)}, {len(datasets)}")
        return _of(stage("sample_from_datasets", datasets, weights=weights, seed=op_seed(seed),
                         stop_on_empty_dataset=stop_on_empty_dataset or None,
                         rerandomize_each_iteration=rerandomize_each_iteration or None), datasets[0]._like, datasets)

    @staticmethod
    @errors.building
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Each element comes from the dataset whose index choice_dataset gives."""
        from ._dataset import Dataset
        datasets = list(datasets)
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if not isinstance(choice_dataset, Dataset):
            raise TypeError(f"`choice_dataset` should be a `tf.data.Dataset`: {choice_dataset!r:.60}")
        return _of(stage("choose_from_datasets", datasets, choice_dataset,
                         stop_on_empty_dataset=bool(stop_on_empty_dataset)), datasets[0]._like,
                   [*datasets, choice_dataset])

    @staticmethod
    @errors.building
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """The elements that ``save`` wrote."""
        from ._dataset import Dataset
        folder = text(path)
        if not os.path.isdir(folder):
            raise errors.NotFoundError(message=f"Could not find metadata file. {folder}", node="load")
        files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith("shard-"))
        if not files:
            raise errors.NotFoundError(message=f"there are no elements in {folder}", node="load")
        like = None if element_spec is None else like_of(element_spec)
        whole = stage("load", files)
        if reader_func is None:
            return _of(whole, like)
        spec = ps_types.DatasetSpec(ps_types.DatasetSpec(whole.spec))

        def of_files(shards):
            symbol = Symbol(shards._core)
            symbol._known = (spec,)
            return reader_func(Dataset._of(symbol, None if like is None else Nested(like)))._ps
        return _of(stage("load", files, reader_func=of_files), like)

    @staticmethod
    @errors.building
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """The elements that generator(*args) gives, called anew for each pass.

        >>> from penstock.compat import tf_data as tf
        >>> def count(n):
        ...     yield from range(n)
        >>> [x.numpy() for x in tf.data.Dataset.from_generator(count, tf.int64, args=(3,))]
        [0, 1, 2]
        """
        from ._generators import from_generator
        return from_generator(generator, output_types, output_shapes, args, output_signature)


def _is_list_of_datasets(x):
    return isinstance(x, list) and bool(x) and all(hasattr(type(d), "element_spec") for d in x)


def _of_datasets(datasets):
    inner = datasets[0]._like
    return _of(stage("from_tensor_slices", list(datasets)), None if inner is None else Nested(inner), datasets)


def _inside(x):
    return [v for v in leaves(x) if hasattr(type(v), "element_spec")]


def _of_arrays(x, arrays):
    """A ps.Dataset over arrays, without a copy, in the structure of x."""
    arrays = [array_to_core(np.asarray(a)) for a in arrays]
    shape = plain(x)
    if not isinstance(shape, (dict, tuple)):
        return PsDataset(_core.slices(arrays[0]))
    if isinstance(shape, dict) and all(not isinstance(v, (dict, tuple)) for v in shape.values()):
        return PsDataset(_core.slices_of_dict(list(zip(shape, arrays))))
    ds = PsDataset(_core.slices_of_tuple(arrays))
    if isinstance(shape, tuple) and all(not isinstance(v, (dict, tuple)) for v in shape):
        return ds
    one = len(arrays) == 1

    def restored(v):
        at = iter(range(len(arrays)))
        return plain(mapped(lambda _: v if one else v[next(at)], x))
    return ds.map(restored)


def text(path):
    """A path as text, of what stands for one."""
    if isinstance(path, np.ndarray):
        path = path.item()
    return os.fsdecode(path.encode() if isinstance(path, str) else path)


def names(filenames):
    """Names of files, of one or several, of tensors and paths; datasets and values stay what they are."""
    if isinstance(filenames, Value) or hasattr(type(filenames), "element_spec"):
        return filenames
    if isinstance(filenames, (str, bytes, os.PathLike)):
        return text(filenames)
    if isinstance(filenames, (list, tuple)):
        filenames = [pack(f) if isinstance(f, Value) else text(f) for f in filenames]
        return filenames if filenames else np.empty(0, object)
    array = np.asarray(filenames)
    if array.dtype.kind not in "SUO":
        raise TypeError(f"The `filenames` argument must contain `tf.string` elements. Got {array.dtype} elements.")
    return [text(f) for f in array.ravel()] if array.ndim else text(array)


