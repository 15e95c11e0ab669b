"""Datasets of Python that are asked for items by index, as sources."""
import collections
import threading
import warnings

from ._calls import build
from ._dataset import Dataset
from ._errors import InvalidArgument
from ._sources import Processes, py_map
from ._structures import spec_of
from ._types import DTYPES, TensorSpec

_MOST_BATCHES = 64  # that wait for their elements; an iterator that is dropped leaves some


def from_map_style(dataset, spec=None, shuffle=False, seed=None, processes=0, num_parallel_calls=None, identity="", fetch_size=32):
    """The elements dataset[0], dataset[1], ... of an object with ``__len__`` and ``__getitem__``, as PyTorch has them.

    ``shuffle`` draws another order for each pass, from ``seed``: of the indices, before anything is loaded.
    ``processes``, ``spec`` and ``identity``: see ps.py_map.

    If the dataset has ``__getitems__``, it is called with a list of the next ``fetch_size`` indices, as PyTorch's loader does, and
    returns a list of their items. If it raises, each of them is asked for by ``__getitem__``, so that only those that fail are
    errors. ``global_shuffle`` comes directly after it then; with ``fetch_size=1``, which always calls ``__getitem__``, other
    stages may stand between.

    >>> import penstock as ps
    >>> class Squares:
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, i):
    ...         return {"x": i, "square": i * i}
    >>> [int(e["square"]) for e in ps.from_map_style(Squares()).skip(1)]
    [1, 4, 9]
    """
    if fetch_size < 1:
        raise InvalidArgument(f"from_map_style: fetch_size must be positive: {fetch_size}")
    count = len(dataset)
    indices = build("range", (count,), {})
    if shuffle:
        indices = indices.shuffle(max(count, 1), **({} if seed is None else {"seed": seed}))
    if spec is None and count:
        spec = spec_of(dataset[0])
    parallel = {} if num_parallel_calls is None else {"num_parallel_calls": num_parallel_calls}
    if fetch_size == 1 or not callable(getattr(dataset, "__getitems__", None)):
        return indices.map(py_map(_Item(dataset), spec=spec, processes=processes, identity=identity), **parallel)
    if processes:
        parallel.setdefault("num_parallel_calls", processes)
    item = Processes(_Item(dataset), processes) if processes else _Item(dataset)
    fetched = _Fetched(item, _MOST_BATCHES * fetch_size)
    fetch = py_map(fetched.fetch, spec=TensorSpec(DTYPES["int64"], (None,)), identity=identity)
    take = py_map(fetched.take, spec=spec, identity=identity)

    def elements(indices):
        return indices.batch(fetch_size).map(fetch, **parallel).unbatch().assert_cardinality(count).map(take, **parallel)

    return _FetchedDataset(indices, elements)


class _Item:
    """dataset[i], or the items of several indices; a class, so that processes can be sent it."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __call__(self, i):
        return self.dataset.__getitems__(i.tolist()) if i.ndim else self.dataset[int(i)]


class _Fetched:
    """Items between the stage that fetches them in batches and the one that makes elements of them.

    The elements between these stages are indices: an item that is not here (after ``restore``, or after an error) is asked for.
    Iterators share the items; one that is dropped leaves some, so the last that came for an index is taken first.
    """

    def __init__(self, item, most):
        self.item, self.most = item, most
        self.items = collections.OrderedDict()  # index: items, several when passes overlap; the last index fetched is last
        self.count = 0  # of items
        self.lock = threading.Lock()

    def fetch(self, indices):
        try:
            items = self.item(indices)
            if len(items) != len(indices):
                raise ValueError(f"{len(items)} items for {len(indices)} indices")
        except Exception as e:
            warnings.warn(f"__getitems__ failed, its items are asked for one by one: {e!r}", RuntimeWarning, stacklevel=1)
            return indices
        with self.lock:
            for i, item in zip(indices.tolist(), items):
                self.items.setdefault(i, []).append(item)
                self.items.move_to_end(i)
            self.count += len(items)
            while self.count > self.most:
                oldest = next(iter(self.items))
                self._removed(oldest, 0)
                if oldest in self.items:
                    self.items.move_to_end(oldest)
        return indices

    def take(self, i):
        with self.lock:
            if int(i) in self.items:
                return self._removed(int(i), -1)
        return self.item(i)

    def _removed(self, i, which):
        items = self.items[i]
        item = items.pop(which)
        self.count -= 1
        if not items:
            del self.items[i]
        return item


class _FetchedDataset(Dataset):
    """A dataset whose order can be drawn before its items are fetched."""

    __slots__ = ("_indices", "_elements")

    def __init__(self, indices, elements):
        made = elements(indices)
        super().__init__(made._core, made._codes)
        self._indices, self._elements = indices, elements

    def global_shuffle(self, *args, **named):
        return _FetchedDataset(self._indices.global_shuffle(*args, **named), self._elements)
