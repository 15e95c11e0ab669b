# Made by tools/stubs.py of python/own.pyi and the engine's table.
# Everything in the package that is not from the engine's table. tools/stubs.py adds what is, at the two marks.
import builtins
import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeAlias, Union, overload

import numpy

_P = ParamSpec("_P")
# Elements are arrays and numbers of NumPy, bytes, and dicts and tuples of these: they are only known at run time.
_Element: TypeAlias = Any
# A function of an element's parts that is traced, or the text of one.
_Function: TypeAlias = Union[Callable[..., Any], builtins.str, "py_map"]
_State: TypeAlias = Union[builtins.bytes, Mapping[builtins.str, Any], Sequence[builtins.bytes]]
# Numbers that a traced function may compute.
_Int: TypeAlias = Union[builtins.int, "Value"]
_Float: TypeAlias = Union[builtins.float, "Value"]
_Bool: TypeAlias = Union[builtins.bool, "Value"]
_Str: TypeAlias = Union[builtins.str, builtins.bytes, "Value"]

# penstock.compat: the interfaces of other libraries, loaded when they are asked for.
compat: types.ModuleType

class Error(Exception):
    code: ClassVar[builtins.str]
    message: builtins.str
    node: builtins.str
    def __init__(self, message: builtins.str = "", node: builtins.str = "") -> None: ...

class InvalidArgument(Error, ValueError): ...
class NotFound(Error, FileNotFoundError, LookupError): ...
class AlreadyExists(Error, FileExistsError): ...
class PermissionDenied(Error, PermissionError): ...
class ResourceExhausted(Error, MemoryError): ...
class FailedPrecondition(Error, RuntimeError): ...
class OutOfRange(Error, IndexError): ...
class Unimplemented(Error, NotImplementedError): ...
class Internal(Error, RuntimeError): ...
class Unavailable(Error, OSError): ...
class DataLoss(Error, OSError): ...
class Cancelled(Error): ...
class TraceError(Error, TypeError): ...

KINDS: dict[builtins.str, type[Error]]

class DType:
    name: builtins.str
    def __init__(self, name: builtins.str) -> None: ...
    def __call__(self, x: Any) -> Any: ...
    @property
    def numpy(self) -> numpy.dtype[Any]: ...

DTYPES: dict[builtins.str, DType]

class TensorSpec(NamedTuple):
    dtype: DType
    shape: tuple[builtins.int | None, ...] | None
    kind: builtins.str = "tensor"
    ragged_rank: builtins.int = 0

class DatasetSpec(NamedTuple):
    element: Any

class Ragged(NamedTuple):
    values: Any
    splits: Any

class Sparse(NamedTuple):
    indices: Any
    values: Any
    shape: Any

class Value:
    def __getitem__(self, key: Any) -> Value: ...
    def __getattr__(self, name: builtins.str) -> Any: ...
    def __neg__(self) -> Value: ...
    def __pos__(self) -> Value: ...
    def __abs__(self) -> Value: ...
    def __invert__(self) -> Value: ...
    # Python's control flow over values is converted: see docs/python.md.
    def __bool__(self) -> builtins.bool: ...
    def __iter__(self) -> Any: ...
    def __len__(self) -> builtins.int: ...
    def __contains__(self, item: Any) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __index__(self) -> builtins.int: ...
    def __divmod__(self, other: Any) -> tuple[Value, Value]: ...
    def __rdivmod__(self, other: Any) -> tuple[Value, Value]: ...
    def __add__(self, other: Any) -> Value: ...
    def __radd__(self, other: Any) -> Value: ...
    def __sub__(self, other: Any) -> Value: ...
    def __rsub__(self, other: Any) -> Value: ...
    def __mul__(self, other: Any) -> Value: ...
    def __rmul__(self, other: Any) -> Value: ...
    def __truediv__(self, other: Any) -> Value: ...
    def __rtruediv__(self, other: Any) -> Value: ...
    def __floordiv__(self, other: Any) -> Value: ...
    def __rfloordiv__(self, other: Any) -> Value: ...
    def __mod__(self, other: Any) -> Value: ...
    def __rmod__(self, other: Any) -> Value: ...
    def __pow__(self, other: Any) -> Value: ...
    def __rpow__(self, other: Any) -> Value: ...
    def __matmul__(self, other: Any) -> Value: ...
    def __rmatmul__(self, other: Any) -> Value: ...
    def __and__(self, other: Any) -> Value: ...
    def __rand__(self, other: Any) -> Value: ...
    def __or__(self, other: Any) -> Value: ...
    def __ror__(self, other: Any) -> Value: ...
    def __lt__(self, other: Any) -> Value: ...
    def __le__(self, other: Any) -> Value: ...
    def __gt__(self, other: Any) -> Value: ...
    def __ge__(self, other: Any) -> Value: ...
    def __eq__(self, other: Any) -> Value: ...  # type: ignore[override]
    def __ne__(self, other: Any) -> Value: ...  # type: ignore[override]

auto: Any

class Explanation:
    text: builtins.str
    verdict: builtins.str
    data: dict[builtins.str, Any]
    def __init__(self, text: builtins.str, verdict: builtins.str, data: builtins.str) -> None: ...
    def plot(self, ax: Any = None) -> Any: ...

class Trace(builtins.str):
    @property
    def data(self) -> dict[builtins.str, Any]: ...
    @property
    def program(self) -> builtins.str: ...
    def explain(self, **options: builtins.float) -> Explanation: ...

class Optimization:
    dataset: Dataset
    rate: builtins.float
    interval: tuple[builtins.float, builtins.float]
    first_pass_rate: builtins.float
    later_passes_rate: builtins.float
    changes: list[tuple[builtins.str, builtins.float]]
    notes: list[builtins.str]
    measured: tuple[builtins.float, builtins.float] | None

class Candidate(NamedTuple):
    arguments: dict[builtins.str, Any]
    plan: builtins.str
    rate: builtins.float | None
    note: builtins.str
    @property
    def name(self) -> builtins.str: ...

class Choice:
    candidates: list[Candidate]
    index: builtins.int
    reason: builtins.str
    changes: list[tuple[builtins.str, builtins.float]]
    notes: list[builtins.str]
    file: builtins.str | None
    remembered: builtins.bool
    @property
    def chosen(self) -> Candidate: ...

class Comparison:
    data: dict[builtins.str, Any]
    ratio: builtins.float
    interval: tuple[builtins.float, builtins.float] | None
    rates: tuple[builtins.float, builtins.float]
    same_elements: builtins.bool | None
    stages: list[tuple[builtins.str, builtins.float | None, builtins.float | None]]
    @property
    def verdict(self) -> builtins.str: ...

class StepPart(NamedTuple):
    value: builtins.float
    low: builtins.float
    high: builtins.float

class Stall:
    data: dict[builtins.str, Any]
    verdict: builtins.str
    step_seconds: builtins.float
    storage: StepPart
    work: StepPart
    consumer: StepPart
    @property
    def waiting_share(self) -> builtins.float: ...
    @property
    def text(self) -> builtins.str: ...

class ProvisionOption(NamedTuple):
    cached: tuple[builtins.str, ...]
    cores: builtins.float
    cores_low: builtins.float | None
    cores_high: builtins.float | None
    disk_bytes_per_second: builtins.float
    memory_bytes: builtins.int
    @property
    def way(self) -> builtins.str: ...

class Provision:
    data: dict[builtins.str, Any]
    rate: builtins.float
    reached: builtins.bool
    options: list[ProvisionOption]
    best: ProvisionOption | None
    limit: builtins.str | None
    cheapest: dict[builtins.str, Any] | None
    @property
    def verdict(self) -> builtins.str: ...
    @property
    def text(self) -> builtins.str: ...

class PredictionPoint(NamedTuple):
    workers: builtins.int
    servers: builtins.int
    steps_per_second: builtins.float
    low: builtins.float
    high: builtins.float
    binds: builtins.str
    use: dict[builtins.str, builtins.float]
    examples_per_second: builtins.float | None = None
    price_per_hour: builtins.float | None = None
    @property
    def has_interval(self) -> builtins.bool: ...

class Prediction:
    data: dict[builtins.str, Any]
    points: list[PredictionPoint]
    best: PredictionPoint
    advice: list[builtins.str]
    notes: list[builtins.str]
    @property
    def text(self) -> builtins.str: ...
    def plot(self, ax: Any = None) -> Any: ...

class Iterator:
    copies: tuple[builtins.str, builtins.int, builtins.float] | None
    def __init__(self, dataset: Dataset, state: _State | None = None, epoch: builtins.int | None = None) -> None: ...
    def __iter__(self) -> Iterator: ...
    def __next__(self) -> _Element: ...
    def save_state(self) -> builtins.bytes: ...
    def state_dict(self) -> dict[builtins.str, Any]: ...
    def load_state_dict(self, state: _State) -> None: ...
    def get_state(self) -> dict[builtins.str, Any]: ...
    def set_state(self, state: _State) -> None: ...
    def stats(self) -> dict[builtins.str, Any]: ...
    def explain(self) -> Explanation: ...
    def trace(self) -> Trace: ...

class watch:
    steps: builtins.int
    seconds: builtins.float
    waited_seconds: builtins.float
    copy_seconds: builtins.float
    explanation: Explanation | None
    def __init__(self, dataset: Dataset | None = None, file: Any = None, quiet: builtins.bool = False) -> None: ...
    def __enter__(self) -> watch: ...
    def __exit__(self, *_: Any) -> None: ...
    def add(self, dataset: Dataset, iterator: Iterator) -> None: ...

class py_map:
    def __init__(self, f: Callable[..., Any], spec: Any = None, processes: builtins.int = 0, identity: builtins.str = "") -> None: ...
    def __call__(self, *values: Any) -> Any: ...
    def over(self, dataset: Dataset) -> Callable[..., Any]: ...

def from_generator(make: Callable[[], Iterable[Any]], spec: Any = None, identity: builtins.str = "") -> Dataset: ...
def from_map_style(
    dataset: Any,
    spec: Any = None,
    shuffle: builtins.bool = False,
    seed: builtins.int | None = None,
    processes: builtins.int = 0,
    num_parallel_calls: builtins.int | None = None,
    identity: builtins.str = "",
    fetch_size: builtins.int = 32,
) -> Dataset: ...
def from_tensor_slices(tensors: Any) -> Dataset: ...
def from_arrow(
    data: Any, columns: Sequence[builtins.str] | None = None, fill: Any = None, identity: builtins.str = ""
) -> Dataset: ...
def from_parquet(
    paths: builtins.str | os.PathLike[builtins.str] | Sequence[builtins.str | os.PathLike[builtins.str]],
    columns: Sequence[builtins.str] | None = None,
    fill: Any = None,
    shuffle: builtins.bool = False,
    seed: builtins.int | None = None,
    num_shards: builtins.int = 1,
    index: builtins.int = 0,
    num_parallel_calls: builtins.int | None = None,
) -> Dataset: ...
def from_huggingface(
    dataset: Any, columns: Sequence[builtins.str] | None = None, fill: Any = None, identity: builtins.str = ""
) -> Dataset: ...
def webdataset(
    urls: builtins.str | os.PathLike[builtins.str] | Sequence[builtins.str | os.PathLike[builtins.str]],
    fields: Mapping[builtins.str, Any] | None = None,
    shuffle: builtins.bool = False,
    seed: builtins.int | None = None,
    cycle_length: builtins.int = 1,
    num_shards: builtins.int = 1,
    index: builtins.int = 0,
) -> Dataset: ...
def to_dlpack(x: Any) -> Any: ...
def parse(text: builtins.str, **settings: Any) -> Dataset: ...
def read(path: builtins.str | os.PathLike[builtins.str], **settings: Any) -> Dataset: ...
def torch(dataset: Dataset, device: Any = None, ahead: builtins.int = 2, shard: builtins.bool = True) -> Any: ...
def jax(
    dataset: Dataset, device: Any = None, sharding: Any = None, ahead: builtins.int = 2, shard: builtins.bool = True
) -> Any: ...
def cond(condition: Any, then: Any, otherwise: Any) -> Any: ...
def expr(text: builtins.str) -> Any: ...

class Dataset:
    def __iter__(self) -> Iterator: ...
    def iterate(self, epoch: builtins.int | None = None, progress: builtins.bool = False) -> Iterator: ...
    def restore(self, state: _State) -> Iterator: ...
    def __len__(self) -> builtins.int: ...
    def __bool__(self) -> builtins.bool: ...
    @overload
    def __getitem__(self, index: builtins.int) -> Any: ...
    @overload
    def __getitem__(self, index: builtins.slice[Any, Any, Any]) -> Dataset: ...
    @property
    def spec(self) -> Any: ...
    def apply(self, stages: builtins.str | Callable[[Dataset], Dataset]) -> Dataset: ...
    def configure(self, **options: Any) -> Dataset: ...
    def run(self, progress: builtins.bool = False) -> dict[builtins.str, Any]: ...
    def explain(self, seconds: builtins.float = 3.0, elements: builtins.int = 0, **options: builtins.float) -> Explanation: ...
    def trace(self, seconds: builtins.float = 3.0, elements: builtins.int = 0) -> Trace: ...
    def optimize(
        self,
        trace_seconds: builtins.float = 1.5,
        measure_seconds: builtins.float = 0.0,
        epochs: builtins.int = 0,
        **options: builtins.float,
    ) -> Optimization: ...
    def optimized(self) -> Dataset: ...
    def assert_cardinality(self, expected_cardinality: Any) -> Dataset:
        """The elements as they are; another number of them than expected is an error."""
    def at(self, index: Any) -> Any:
        """The element at an index, straight where every stage can give it."""
    def batch(self, batch_size: Any, drop_remainder: _Bool = False, *, num_parallel_calls: Any = ..., deterministic: Any = None, max_wait: Any = None) -> Dataset:
        """Consecutive elements stacked: batch(batch_size, drop_remainder=false)."""
    def bucket_by_sequence_length(self, element_length_func: _Function, boundaries: Any, batch_sizes: Any = None, padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: _Bool = False, no_padding: _Bool = False, drop_remainder: _Bool = False, *, max_tokens: Any = None) -> Dataset:
        """Elements of like length batched together, padded to the longest of their batch."""
    def cache(self, filename: _Str = '', *, compression: _Str = '', size_limit: Any = None) -> Dataset:
        """Keeps what the first whole pass gives, in memory or in a folder; later passes read it."""
    def cardinality(self) -> Any:
        """The number of elements: -1 endless, -2 not known."""
    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of the input, then those of `dataset`."""
    def echo(self, count: Any) -> Dataset:
        """Each element `count` times in a row; changes the data."""
    def element_spec(self) -> Any:
        """The type of an element as text: dtypes, shapes (? where not known), structure."""
    def enumerate(self, start: _Int = 0) -> Dataset:
        """(position, element), positions from `start` on."""
    def filter(self, predicate: _Function) -> Dataset:
        """The elements for which predicate(element) is true."""
    def fingerprint(self) -> Any:
        """Hashes of the pipeline: all that decides its data, and the same without seeds and files."""
    def flat_map(self, f: _Function) -> Dataset:
        """The elements of the datasets that f gives, one dataset after the other."""
    def get_single_element(self) -> Any:
        """The one element of a dataset; an error when there is none, or more."""
    def global_shuffle(self, seed: Any = None, reshuffle_each_iteration: _Bool = True) -> Dataset:
        """All elements in random order, without a buffer; for inputs that have random access."""
    def group_by_reducer(self, key: _Function, init: _Function, reduce: _Function, finalize: _Function) -> Dataset:
        """For each key(element) the elements folded: reduce(state, element), from init(key)."""
    def group_by_window(self, key_func: _Function, reduce_func: _Function, window_size: Any = None, window_size_func: _Function | None = None) -> Dataset:
        """What reduce_func(key, window) makes of windows of elements that share key_func(element)."""
    def ignore_errors(self, log_warning: _Bool = False, *, max_count: Any = None, max_rate: Any = None) -> Dataset:
        """Leaves out elements that fail, up to max_count of them and a part of max_rate."""
    def interleave(self, f: _Function, cycle_length: _Int = 16, block_length: _Int = 1, *, num_parallel_calls: Any = ..., deterministic: Any = None) -> Dataset:
        """The elements of the datasets that f gives, cycle_length of them in turn."""
    def map(self, f: _Function, *, num_parallel_calls: Any = ..., deterministic: Any = None, synchronous: _Bool = False) -> Dataset:
        """Each element becomes f(element)."""
    def pack_sequences(self, length: Any, window: _Int = 16, padding_values: Any = None) -> Dataset:
        """Several short sequences in one row of `length`, with segment_ids and positions."""
    def pad_to_cardinality(self, cardinality: Any, mask_key: _Str = 'valid') -> Dataset:
        """The elements, then zeros up to their number; the entry `mask_key` tells them apart."""
    def padded_batch(self, batch_size: Any = None, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: _Bool = False, *, max_tokens: Any = None) -> Dataset:
        """Consecutive elements, padded to one shape and stacked."""
    def prefetch(self, buffer_size: Any = ...) -> Dataset:
        """Makes so many elements ahead of the consumer; 0: none, -1 or auto: as it fits."""
    def ragged_batch(self, batch_size: Any, drop_remainder: _Bool = False, row_splits_dtype: _Str = 'int64') -> Dataset:
        """Consecutive elements, those of unknown sizes as ragged tensors."""
    def rebatch(self, batch_size: Any, drop_remainder: _Bool = False) -> Dataset:
        """Batches cut anew to batch_size, a number or a list of sizes that are used in turn."""
    def reduce(self, initial_state: Any, reduce_func: _Function) -> Any:
        """Folds the elements into one value: reduce_func(state, element) gives the next state."""
    def rejection_resample(self, class_func: _Function, target_dist: Any, initial_dist: Any = None, seed: Any = None) -> Dataset:
        """(class, element), leaving elements out until the classes are spread as target_dist says."""
    def repeat(self, count: Any = None) -> Dataset:
        """The input `count` times over; none or -1: for ever."""
    def replace_errors(self, value: Any, *, max_count: Any = None, max_rate: Any = None) -> Dataset:
        """Puts `value` where an element failed, up to max_count and a part of max_rate."""
    def save(self, path: Any, *, compression: _Str = '', shard_func: _Function | None = None) -> Any:
        """Writes the elements to a file that load() reads; gives their number."""
    def scan(self, initial_state: Any, scan_func: _Function) -> Dataset:
        """Element by element with a state: scan_func(state, element) gives (state, output)."""
    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every num_shards-th element, from `index` on."""
    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: _Bool = True) -> Dataset:
        """Elements in random order, drawn from a window of buffer_size (none: all)."""
    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements; -1: none."""
    def snapshot(self, path: Any, *, compression: _Str = '', size_limit: Any = None) -> Dataset:
        """Keeps the elements in a folder; later passes and runs of the same plan read them."""
    def sparse_batch(self, batch_size: Any, row_shape: Any, drop_remainder: _Bool = False) -> Dataset:
        """Consecutive tensors as one sparse tensor of shape [batch, row_shape]."""
    def take(self, count: Any) -> Dataset:
        """The first `count` elements; -1: all."""
    def take_while(self, predicate: _Function) -> Dataset:
        """The elements before the first for which predicate(element) is false."""
    def unbatch(self) -> Dataset:
        """The items of each element along its first axis, one by one."""
    def unique(self) -> Dataset:
        """Each element once, at its first place; for int32, int64 and bytes."""
    def window(self, size: Any, shift: Any = None, stride: _Int = 1, drop_remainder: _Bool = False) -> Dataset:
        """Datasets of `size` elements, `stride` apart, one every `shift` (size) elements."""
    def with_options(self, *, deterministic: Any = None, throttle: Any = None) -> Dataset:
        """Options for all stages before it: deterministic=false lets parallel maps reorder; throttle slows the files they read."""

class OptimizedDataset(Dataset):
    report: Choice
    def __init__(self, dataset: Dataset, report: Choice) -> None: ...

@overload
def optimize(
    loader: Dataset,
    *,
    pick_best: None = None,
    epochs: builtins.int = 10,
    seconds: builtins.float = 2.0,
    trace_seconds: builtins.float = 1.5,
    remember: builtins.bool = True,
    **options: builtins.float,
) -> OptimizedDataset: ...
@overload
def optimize(
    loader: Callable[_P, Dataset],
    *,
    pick_best: Mapping[builtins.str, Iterable[Any]] | None = None,
    epochs: builtins.int = 10,
    seconds: builtins.float = 2.0,
    trace_seconds: builtins.float = 1.5,
    remember: builtins.bool = True,
    **options: builtins.float,
) -> Callable[_P, OptimizedDataset]: ...
# The result's arguments are not those of the loader: pick_best gives some of them.
@overload
def optimize(
    loader: None = None,
    *,
    pick_best: Mapping[builtins.str, Iterable[Any]] | None = None,
    epochs: builtins.int = 10,
    seconds: builtins.float = 2.0,
    trace_seconds: builtins.float = 1.5,
    remember: builtins.bool = True,
    **options: builtins.float,
) -> Callable[[Callable[..., Dataset]], Callable[..., OptimizedDataset]]: ...
def compare(a: Dataset, b: Dataset, seconds: builtins.float = 20.0, **options: Any) -> Comparison: ...
def stall(dataset: Dataset, consumer: builtins.float = 0.0, seconds: builtins.float = 20.0, **options: Any) -> Stall: ...
def provision(
    dataset: Dataset,
    target: builtins.float,
    prices: builtins.str | os.PathLike[builtins.str] | Mapping[builtins.str, Any] | None = None,
    **options: Any,
) -> Provision: ...
def predict(
    profile: builtins.str | os.PathLike[builtins.str] | Sequence[builtins.str | os.PathLike[builtins.str]],
    workers: builtins.int | Iterable[builtins.int] | builtins.str = ...,
    servers: builtins.int | Iterable[builtins.int] | builtins.str | None = None,
    **options: Any,
) -> Prediction: ...
def progress(data: Dataset | Iterator, total: builtins.int | None = None, file: Any = None) -> Iterator: ...

__version__: builtins.str
__all__: list[builtins.str]
def choose_from_datasets(*datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: _Bool = True) -> Dataset:
    """Elements of several datasets, in the order that choice_dataset says."""

def counter(start: _Int = 0, step: _Int = 1, dtype: _Str = 'int64') -> Dataset:
    """start, start + step, ... without end."""

def csv(filenames: Any, columns: Any = None, compression: _Str = '', *, header: _Bool = False, field_delim: _Str = ',', use_quote_delim: _Bool = True, na_value: _Str = '', select_cols: Any = None, exclude_cols: Any = None, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """Rows of delimited text as typed columns: tuples, or dicts by name."""

def files(file_pattern: Any, shuffle: _Bool = False, seed: Any = None) -> Dataset:
    """Names of the files that match the pattern, or one of a list of patterns, in order."""

def fixed_length_record(filenames: Any, record_bytes: Any, header_bytes: _Int = 0, footer_bytes: _Int = 0, compression: _Str = '', *, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """Records of one length, between a header and a footer that are left out."""

def from_list(elements: Any) -> Dataset:
    """An element for each entry of a list; shapes may differ."""

def from_tensors(tensors: Any) -> Dataset:
    """One element: the tensors as they are."""

def image_folder(folder: Any, shuffle: _Bool = False, seed: Any = None) -> Dataset:
    """The image files of FOLDER/CLASS/..., as bytes, with the index of their class."""

def jsonl(filenames: Any, fields: Any, compression: _Str = '', *, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """Lines of JSON objects, as a dict of typed fields."""

def list_files(file_pattern: Any, shuffle: _Bool = False, seed: Any = None) -> Dataset:
    """Names of the files that match the pattern, or one of a list of patterns, in order."""

def load(filenames: Any, *, like: Any = None, reader_func: _Function | None = None) -> Dataset:
    """The elements of files that save() wrote."""

def npy(filenames: Any, compression: _Str = '', *, dtype: Any = None, shape: _Str = '...', buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """The rows of .npy array files."""

def npz(filenames: Any, *, fields: Any = None, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """The rows of .npz archives of arrays, as dicts."""

def random(seed: Any = None, rerandomize_each_iteration: _Bool = False) -> Dataset:
    """Uniform numbers from 0 to 2**32 - 1, without end."""

def range(start: Any, stop: Any = None, step: _Int = 1, *, dtype: _Str = 'int64') -> Dataset:
    """Numbers from start (0) to before stop: range(stop), range(start, stop, step=1, dtype=int64)."""

def sample_from_datasets(*datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: _Bool = False, rerandomize_each_iteration: _Bool = False, weights_dataset: Dataset | None = None) -> Dataset:
    """Elements of several datasets, each from one drawn by its weight."""

def tar(filenames: Any, fields: Any, compression: _Str = '', *, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """Samples of tar archives: members that share a name, as a dict by extension."""

def text_line(filenames: Any, compression: _Str = '', *, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """The lines of text files, without their line ends."""

def tfrecord(filenames: Any, compression: _Str = '', *, buffer_size: Any = ..., num_parallel_reads: Any = None, max_decompressed_bytes: Any = None) -> Dataset:
    """The records of TFRecord files."""

def zip(*datasets: Any) -> Dataset:
    """Elements of several datasets side by side, until one ends: zip(a, b), zip((a, b)), zip({k: a})."""

def abs(x: Any) -> Any:
    """the absolute value"""

def acos(x: Any) -> Any:
    """the angle in radians whose cosine is x"""

def acosh(x: Any) -> Any:
    """the positive number whose hyperbolic cosine is x"""

def add(a: Any, b: Any) -> Any:
    """a + b; joins bytes"""

def adjust_brightness(image: Any, delta: Any) -> Any:
    """The image with delta added (of full scale 1)."""

def adjust_contrast(image: Any, factor: Any) -> Any:
    """Each channel's distance from its mean times factor."""

def adjust_gamma(image: Any, gamma: Any = 1.0, gain: Any = 1.0) -> Any:
    """gain * image ** gamma, the image in [0, 1]."""

def adjust_hue(image: Any, delta: Any) -> Any:
    """The RGB image with its hue turned by delta (1: once around)."""

def adjust_jpeg_quality(image: Any, jpeg_quality: Any) -> Any:
    """The image, encoded as JPEG of this quality (1 to 100) and decoded again."""

def adjust_saturation(image: Any, factor: Any) -> Any:
    """The RGB image with its saturation times factor."""

def affine(image: Any, matrix: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
    """Output pixel (x, y) is source pixel (a x + b y + c, d x + e y + f), matrix [a, b, c, d, e, f]; outside: fill."""

def affine_boxes(boxes: Any, size: Any, matrix: Any) -> Any:
    """The boxes around boxes in [0, 1] of an image of this size [height, width] after affine, cut at its border."""

def aligned_values(x: Any, like: Any) -> Any:
    """the values of x, whose rows must be as long as those of like"""

def all(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """whether all entries are true along the axes named, or of all"""

def amplitude_to_db(amplitude: Any, *, ref: _Float = 1.0, amin: _Float = 1e-05, top_db: _Float = 80.0) -> Any:
    """20 log10(amplitude / ref), at most top_db below the largest."""

def any(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """whether an entry is true along the axes named, or of all"""

def arange(start: Any, stop: Any = None, step: Any = 1) -> Any:
    """0, 1, ... below start; with stop: start, start + step, ... before it"""

def argmax(x: Any, axis: _Int = 0) -> Any:
    """where the largest entry stands along an axis, the first of equal ones; NaN is passed over"""

def argmin(x: Any, axis: _Int = 0) -> Any:
    """where the smallest entry stands along an axis, the first of equal ones; NaN is passed over"""

def argsort(x: Any, axis: _Int = -1, descending: _Bool = False) -> Any:
    """where the entries of sort(x) stand in x; equal ones keep their order"""

def as_string(x: Any, *, precision: _Int = -1, scientific: _Bool = False, shortest: _Bool = False, width: _Int = -1, fill: _Str = '') -> Any:
    """x as text: floats with six decimals (%f), integers, true and false; fill is a flag of printf"""

def asin(x: Any) -> Any:
    """the angle in radians whose sine is x"""

def asinh(x: Any) -> Any:
    """the number whose hyperbolic sine is x"""

def atan(x: Any) -> Any:
    """the angle in radians whose tangent is x"""

def atan2(a: Any, b: Any) -> Any:
    """the angle in radians of the point (b, a)"""

def atanh(x: Any) -> Any:
    """the number whose hyperbolic tangent is x"""

def autocontrast(image: Any) -> Any:
    """The uint8 image with each channel stretched to 0 to 255."""

def bincount(x: Any, minlength: Any = 0) -> Any:
    """how often each number 0, 1, ... occurs, up to the largest"""

def bitcast(x: Any, dtype: Any) -> Any:
    """the bits of x read as another dtype; sizes that differ make or take the last axis"""

def bitwise_and(a: Any, b: Any) -> Any:
    """the bits that a and b have both"""

def bitwise_invert(x: Any) -> Any:
    """all bits of x turned over"""

def bitwise_or(a: Any, b: Any) -> Any:
    """the bits that a or b has"""

def bitwise_xor(a: Any, b: Any) -> Any:
    """the bits that one of a and b has"""

def boolean_mask(x: Any, mask: Any) -> Any:
    """the items of x where the mask over its first axes is true"""

def box_iou(boxes: Any, others: Any) -> Any:
    """Intersection over union of each box [y0, x0, y1, x1] with each of the others."""

def broadcast_to(x: Any, shape: Any) -> Any:
    """x repeated along axes of size 1 up to a shape"""

def bucketize(x: Any, boundaries: Any) -> Any:
    """the bucket of each entry: i where boundaries[i - 1] <= x < boundaries[i]; NaN is in the last"""

def bytes_split(s: Any) -> Any:
    """the bytes of s, each a string"""

def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype: floats to integers toward zero, saturating, NaN to 0; integers wrap"""

def ceil(x: Any) -> Any:
    """rounded up"""

def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle of the image, this fraction of each side."""

def clip(x: Any, low: Any, high: Any) -> Any:
    """x between low and high; low where low > high"""

def concat(*tensors: Any, axis: _Int = 0) -> Any:
    """tensors one after another along an axis"""

def convert_image_dtype(image: Any, dtype: Any) -> Any:
    """Another dtype with its scale: integers span [0, 1] of floats; from one integer dtype to another by a power of two, as TensorFlow does; saturates."""

def cos(x: Any) -> Any:
    """the cosine of x radians"""

def cosh(x: Any) -> Any:
    """the hyperbolic cosine"""

def crc32c(s: Any, *, masked: _Bool = False) -> Any:
    """the CRC-32C of s; masked: as TFRecord files store it"""

def crop(image: Any, window: Any) -> Any:
    """The window [y, x, height, width] of an image."""

def crop_and_resize(images: Any, boxes: Any, box_indices: Any, crop_size: Any, *, method: _Str = 'bilinear', extrapolation_value: _Float = 0.0) -> Any:
    """Boxes [y0, x0, y1, x1] (corners at 0 and 1) of the images that box_indices names, resized."""

def crop_boxes(boxes: Any, window: Any, *, clip: _Bool = True) -> Any:
    """Boxes seen from a window [y0, x0, y1, x1] of the image; clip: cut at its border."""

def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Any:
    """The window of an image at an offset."""

def cumprod(x: Any, axis: _Int = 0, exclusive: _Bool = False, reverse: _Bool = False) -> Any:
    """running products along an axis"""

def cumsum(x: Any, axis: _Int = 0, exclusive: _Bool = False, reverse: _Bool = False) -> Any:
    """running sums along an axis"""

def cutout(image: Any, size: Any, *, fill: _Float = 0.0, seed: Any = None) -> Any:
    """The image with a square of this size around a random pixel set to fill."""

def dct(signal: Any, type: _Int = 2, *, norm: Any = None) -> Any:
    """The cosine transform of the last axis, of type 1 to 4; norm: none or "ortho"."""

def decode(model: Any, ids: Any) -> Any:
    """the text of the pieces along the last axis; OUT_OF_RANGE for unknown numbers"""

def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: _Int = 0, *, ratio: _Int = 1, fancy_upscaling: _Bool = True, dct_method: _Str = '', max_pixels: _Int = 1073741824, check_rest: _Bool = False) -> Any:
    """Pixels of the window [y, x, height, width] of a JPEG file; decodes little else. check_rest: refuses what decode_jpeg refuses, damage outside the window, too."""

def decode_audio(contents: Any, *, max_samples: _Int = 1073741824) -> Any:
    """(float32 [samples, channels], sample rate) of a WAV, FLAC, OGG or AIFF file."""

def decode_base64(s: Any) -> Any:
    """the bytes that s holds in base64, URL-safe"""

def decode_bmp(contents: Any, channels: _Int = 0, *, max_pixels: _Int = 1073741824) -> Any:
    """Pixels of an uncompressed BMP file."""

def decode_crop_resize(contents: Any, crop_window: Any, size: Any, channels: _Int = 3, *, method: _Str = 'bilinear', antialias: _Bool = False, scaled: _Bool = False, max_pixels: _Int = 1073741824) -> Any:
    """The window [y, x, height, width] of a JPEG file (or of a PNG, GIF or WebP file) at the size [height, width], rounded to uint8; scaled: a large window may be decoded at 1/2, 1/4 or 1/8, a few levels off but faster."""

def decode_csv(records: Any, columns: Any, *, field_delim: _Str = ',', use_quote_delim: _Bool = True, na_value: _Str = '', select_cols: Any = None) -> Any:
    """the fields of a line of CSV, a tuple: each column is a dtype (required) or the value where the field is empty"""

def decode_gif(contents: Any, *, max_pixels: _Int = 1073741824) -> Any:
    """The frames of a GIF file as RGB [frames, height, width, 3]; of another picture its only one."""

def decode_image(contents: Any, channels: _Int = 0, *, dtype: _Str = 'uint8', expand_animations: _Bool = True, exif_orientation: _Bool = False, max_pixels: _Int = 1073741824) -> Any:
    """Pixels of a JPEG, PNG, GIF, BMP or WebP file; GIF and WebP give [frames, height, width, channels] unless expand_animations=false, which gives the first frame; exif_orientation: turned the way up that the file says."""

def decode_jpeg(contents: Any, channels: _Int = 0, *, ratio: _Int = 1, fancy_upscaling: _Bool = True, dct_method: _Str = '', max_pixels: _Int = 1073741824, exif_orientation: _Bool = False) -> Any:
    """Pixels of a JPEG file (or of a PNG, GIF or WebP file); channels: 0 as stored, 1 grey, 3 RGB; ratio 2, 4 or 8: so much smaller; exif_orientation: turned the way up that the file says."""

def decode_json_example(s: Any) -> Any:
    """a tf.train.Example in JSON as its bytes, for parse_example"""

def decode_png(contents: Any, channels: _Int = 0, *, dtype: _Str = 'uint8', max_pixels: _Int = 1073741824) -> Any:
    """Pixels of a PNG file (or of a JPEG, GIF or WebP file), uint8 or uint16; channels: 0 as stored, 1 grey, 3 RGB, 4 with alpha."""

def decode_raw(bytes: Any, dtype: Any, *, little_endian: _Bool = True, fixed_length: Any = None) -> Any:
    """the bytes of a string as numbers: [?]; cut or filled with zeros to fixed_length bytes where that is given"""

def decode_wav(contents: Any, *, desired_channels: _Int = -1, desired_samples: _Int = -1, max_samples: _Int = 1073741824) -> Any:
    """(float32 [samples, channels], sample rate) of a WAV file of integers or floats."""

def decode_webp(contents: Any, channels: _Int = 0, *, max_pixels: _Int = 1073741824) -> Any:
    """Pixels of a WebP file (or of a JPEG, PNG or GIF file), of the first frame when it moves."""

def decompress(s: Any, compression: Any, *, max_bytes: _Int = 1073741824) -> Any:
    """s inflated: GZIP (of one or more members), ZLIB or ZSTD; RESOURCE_EXHAUSTED above max_bytes"""

def depth_to_space(x: Any, block_size: Any) -> Any:
    """channels as square blocks of pixels"""

def digamma(x: Any) -> Any:
    """the derivative of lgamma"""

def divide(a: Any, b: Any) -> Any:
    """a / b, true division: float32 of integers up to 16 bits, float64 of wider ones"""

def divide_no_nan(a: Any, b: Any) -> Any:
    """a / b, but 0 where b is 0"""

def draw_bounding_boxes(image: Any, boxes: Any, colors: Any) -> Any:
    """The float32 image with frames around boxes [y0, x0, y1, x1], in turn in the colours."""

def elu(x: Any) -> Any:
    """x, but exp(x) - 1 where x is negative"""

def encode(model: Any, s: Any, *, bos: _Bool = False, eos: _Bool = False, reverse: _Bool = False) -> Any:
    """the numbers of the pieces of s by a sentencepiece(...) or bpe(...) model, int32"""

def encode_base64(s: Any, *, pad: _Bool = False) -> Any:
    """s in base64, URL-safe; with = at its end where pad is set"""

def encode_jpeg(image: Any, *, quality: _Int = 95, format: _Str = '', progressive: _Bool = False, optimize_size: _Bool = False, chroma_downsampling: _Bool = True) -> Any:
    """A JPEG file of a grey or RGB uint8 image."""

def encode_png(image: Any, *, compression: _Int = -1) -> Any:
    """A PNG file of a uint8 or uint16 image of 1 to 4 channels."""

def encode_wav(audio: Any, sample_rate: Any) -> Any:
    """A WAV file of 16 bits of float32 [samples, channels]."""

def equal(a: Any, b: Any) -> Any:
    """a == b"""

def equalize(image: Any) -> Any:
    """The uint8 image with each channel's values spread evenly."""

def erf(x: Any) -> Any:
    """the error function"""

def erfc(x: Any) -> Any:
    """1 - erf(x), exact for large x"""

def erfinv(x: Any) -> Any:
    """the number whose erf is x; infinite at 1 and -1"""

def exp(x: Any) -> Any:
    """e to the power x"""

def expand_dims(x: Any, axis: Any) -> Any:
    """x with an axis of size 1 more"""

def expm1(x: Any) -> Any:
    """e to the power x, less 1; exact near 0"""

def extract_jpeg_shape(contents: Any, *, dtype: _Str = 'int32') -> Any:
    """Height, width and channels of a JPEG file, from its headers alone."""

def extract_patches(image: Any, sizes: Any, *, strides: Any = None, rates: Any = None, padding: _Str = 'VALID') -> Any:
    """The windows of `sizes` [rows, columns], `strides` apart, each as one pixel of all their values."""

def fft(values: Any, *, fft_length: Any = None) -> Any:
    """The Fourier transform of complex values [..., length, 2]."""

def fill(shape: Any, value: Any) -> Any:
    """a tensor of this shape that holds the value everywhere"""

def fingerprint(x: Any) -> Any:
    """Fingerprint64 of the bytes of each row of x, as 8 bytes, little endian: uint8[n, 8]"""

def fingerprint64(s: Any) -> Any:
    """FarmHash Fingerprint64 of s"""

def flat_values(x: Any) -> Any:
    """the values of a ragged or sparse tensor, without its axes"""

def flip_boxes_left_right(boxes: Any) -> Any:
    """Boxes in [0, 1] of the mirrored image."""

def flip_boxes_up_down(boxes: Any) -> Any:
    """Boxes in [0, 1] of the image upside down."""

def flip_left_right(image: Any) -> Any:
    """The image with its columns in reverse order."""

def flip_up_down(image: Any) -> Any:
    """The image with its rows in reverse order."""

def floor(x: Any) -> Any:
    """rounded down"""

def floor_divide(a: Any, b: Any) -> Any:
    """a // b, rounded down; integers by zero are an error"""

def format(template: Any, *values: Any, placeholder: _Str = '{}', summarize: _Int = 3) -> Any:
    """the template with each placeholder replaced by a value; of axes longer than twice summarize (-1: none) only the ends"""

def frame(signal: Any, frame_length: Any, frame_step: Any, *, pad_end: _Bool = False, pad_value: _Float = 0.0) -> Any:
    """Windows of frame_length along the last axis, frame_step apart; what does not fill one is left out, or with pad_end filled with pad_value."""

def from_row_lengths(values: Any, row_lengths: Any) -> Any:
    """values cut into rows of row_lengths: a ragged tensor"""

def from_row_splits(values: Any, row_splits: Any) -> Any:
    """values cut at row_splits: a ragged tensor"""

def from_tensor(x: Any, *, lengths: Any = None, padding: Any = None) -> Any:
    """the rows of x, cut to lengths, or without the padding at their ends"""

def gather(x: Any, indices: Any, axis: _Int = 0) -> Any:
    """the items of x along an axis at these indices"""

def gather_nd(x: Any, indices: Any) -> Any:
    """the entries or slices of x at the index vectors"""

def gaussian_blur(image: Any, sigma: Any, *, kernel: _Int = 0) -> Any:
    """The image under a Gaussian of sigma pixels, the border mirrored; kernel: its odd size."""

def get_value(x: Any, default: Any = None) -> Any:
    """the value of an optional one; where it is missing the default, or an error"""

def grayscale_to_rgb(image: Any) -> Any:
    """The one channel three times."""

def greater(a: Any, b: Any) -> Any:
    """a > b"""

def greater_equal(a: Any, b: Any) -> Any:
    """a >= b"""

def hamming_window(window_length: Any, *, periodic: _Bool = True) -> Any:
    """0.54 - 0.46 cos, once around."""

def hann_window(window_length: Any, *, periodic: _Bool = True) -> Any:
    """0.5 - 0.5 cos, once around."""

def has_value(x: Any) -> Any:
    """whether an optional value is there"""

def histogram(x: Any, range: Any, bins: Any = 100) -> Any:
    """how many entries fall in each of equal bins of [low, high]; others count at its ends, NaN at the upper"""

def hsv_to_rgb(image: Any) -> Any:
    """RGB of hue, saturation and value in [0, 1]."""

def identity(x: Any) -> Any:
    """x itself"""

def ifft(values: Any, *, fft_length: Any = None) -> Any:
    """The values whose fft is given: with 1 / length."""

def image_shape(contents: Any) -> Any:
    """Height, width and channels that decode_image gives for a file, from its headers alone; of a moving picture those of one frame."""

def in_top_k(predictions: Any, targets: Any, k: Any) -> Any:
    """whether each row's target is among the k largest predictions"""

def inverse_stft(spectra: Any, frame_length: Any, frame_step: Any, *, fft_length: Any = None, window: _Str = 'hann') -> Any:
    """The signal of stft(signal, ...), but for its ends."""

def invert(image: Any) -> Any:
    """255 - image (uint8), 1 - image (float32)."""

def irfft(spectrum: Any, *, fft_length: Any = None) -> Any:
    """The signal whose rfft is the spectrum [..., bins, 2]."""

def is_finite(x: Any) -> Any:
    """where x is neither inf, -inf nor NaN"""

def is_inf(x: Any) -> Any:
    """where x is inf or -inf"""

def is_jpeg(contents: Any) -> Any:
    """Whether the bytes begin as a JPEG file does."""

def is_nan(x: Any) -> Any:
    """where x is not a number"""

def join(*parts: Any, sep: _Str = '') -> Any:
    """strings joined entry by entry; one tensor alone along its last axis"""

def jpeg_shape(contents: Any, *, dtype: _Str = 'int32') -> Any:
    """Height, width and channels of a JPEG file, from its headers alone."""

def kaiser_window(window_length: Any, *, beta: _Float = 12.0) -> Any:
    """The Kaiser window."""

def left_shift(a: Any, b: Any) -> Any:
    """a times 2 ** b, wrapped; a negative count is an error"""

def less(a: Any, b: Any) -> Any:
    """a < b; bytes by their values"""

def less_equal(a: Any, b: Any) -> Any:
    """a <= b"""

def lgamma(x: Any) -> Any:
    """the logarithm of the absolute value of the gamma function"""

def linear_to_mel_weight_matrix(num_mel_bins: _Int = 20, num_spectrogram_bins: _Int = 129, sample_rate: _Float = 8000.0, lower_edge_hertz: _Float = 125.0, upper_edge_hertz: _Float = 3800.0) -> Any:
    """[bins, mel bins]: triangles on the HTK mel scale, straight in mel; bin 0 counts nowhere."""

def linspace(start: Any, stop: Any, num: Any) -> Any:
    """num floats from start to stop, both among them"""

def load_array(file: Any, dtype: Any = None, shape: _Str = '...') -> Any:
    """the array of a .npy file, or with dtype given of a file of bare numbers; memory-mapped"""

def log(x: Any) -> Any:
    """the natural logarithm"""

def log10(x: Any) -> Any:
    """the logarithm to base 10"""

def log1p(x: Any) -> Any:
    """log(1 + x), exact near 0"""

def log2(x: Any) -> Any:
    """the logarithm to base 2"""

def log_mel_spectrogram(signal: Any, *, sample_rate: _Float = 16000.0, frame_length: _Int = 400, frame_step: _Int = 160, fft_length: Any = None, num_mel_bins: _Int = 80, lower_edge_hertz: _Float = 80.0, upper_edge_hertz: _Float = 7600.0, power: _Int = 1, offset: _Float = 1e-06) -> Any:
    """log(spectrogram @ linear_to_mel_weight_matrix + offset) in one pass: [..., frames, mel bins]."""

def log_softmax(x: Any, axis: _Int = -1) -> Any:
    """the logarithm of softmax(x), without overflow"""

def logical_and(a: Any, b: Any) -> Any:
    """a and b"""

def logical_not(x: Any) -> Any:
    """not x"""

def logical_or(a: Any, b: Any) -> Any:
    """a or b"""

def logical_xor(a: Any, b: Any) -> Any:
    """one of a and b, not both"""

def logsumexp(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """log(sum(exp(x))) without overflow, -inf of nothing"""

def lookup(table: Any, s: Any) -> Any:
    """the value of each key in a vocabulary(...) or table(...): its number, where values are not given; unknown ones get the table's default or one of its oov_buckets, else NOT_FOUND"""

def lower(s: Any, encoding: _Str = '') -> Any:
    """s in small letters: A to Z only, or all of Unicode's with encoding="utf-8" """

def magnitude(spectrum: Any) -> Any:
    """The absolute value of complex values [..., 2]."""

def map_fn(x: Any, f: _Function) -> Any:
    """f of each item of x along axis 0: stacked; ragged where the first size of what f gives is not known, but the others are"""

def match_anchors(anchors: Any, boxes: Any, *, high: _Float = 0.5, low: Any = None, force: _Bool = True) -> Any:
    """match_boxes(box_iou(anchors, boxes)) in one pass: the box of each anchor [y0, x0, y1, x1] that overlaps by at least high, -1 below low, -2 between."""

def match_boxes(similarity: Any, *, high: _Float = 0.5, low: Any = None, force: _Bool = True) -> Any:
    """For each row its best column when at least high, -1 below low, -2 between; force: each column's best row gets it."""

def matmul(a: Any, b: Any) -> Any:
    """the matrix product over the last two axes; those before broadcast"""

def max(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the largest entry along the axes named, or of all; NaN where one is"""

def maximum(a: Any, b: Any) -> Any:
    """the larger of a and b, NaN where one is"""

def mean(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the mean over the axes named, or over all; of integers without the fraction"""

def mel_filters(sample_rate: _Float = 22050.0, fft_length: _Int = 2048, num_mel_bins: _Int = 128, lower_edge_hertz: _Float = 0.0, *, upper_edge_hertz: Any = None, htk: _Bool = False, area_norm: _Bool = True) -> Any:
    """[mel bins, bins] as librosa makes them: Slaney's scale, triangles straight in hertz, each of the same area."""

def mfccs_from_log_mel_spectrograms(log_mel: Any) -> Any:
    """dct of type 2 / sqrt(2 * mel bins)."""

def min(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the smallest entry along the axes named, or of all; NaN where one is"""

def minimum(a: Any, b: Any) -> Any:
    """the smaller of a and b, NaN where one is"""

def model_size(model: Any) -> Any:
    """how many pieces a model has"""

def modulo(a: Any, b: Any) -> Any:
    """a % b, with the sign of b; integers by zero are an error"""

def multiply(a: Any, b: Any) -> Any:
    """a * b"""

def negative(x: Any) -> Any:
    """-x"""

def ngrams(s: Any, ngram_width: Any, separator: _Str = ' ', *, pad_values: Any = None, padding_width: Any = None, preserve_short_sequences: _Bool = False) -> Any:
    """ngram_width (or each of several widths) neighbours along the last axis, joined"""

def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: _Float = 0.5, score_threshold: _Str = '{"float":"-inf"}') -> Any:
    """Places of the boxes by falling score that overlap no better one by more than iou_threshold."""

def nonzero(x: Any) -> Any:
    """the index vectors of the entries that are true or not zero"""

def norm(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the square root of the sum of squares"""

def normalize(image: Any, mean: Any, std: Any) -> Any:
    """(float32(image) - mean) / std with one mean and std, or one for each channel."""

def normalize_utf8(s: Any, form: _Str = 'NFC') -> Any:
    """s in a normal form of Unicode"""

def not_equal(a: Any, b: Any) -> Any:
    """a != b"""

def one_hot(x: Any, depth: Any, dtype: _Str = 'float32', axis: _Int = -1) -> Any:
    """each index as zeros with a one at its place along a new axis; none outside the depth"""

def ones(shape: Any, dtype: _Str = 'float32') -> Any:
    """a tensor of ones (true)"""

def ones_like(x: Any) -> Any:
    """ones (true) of x's shape and dtype"""

def optional_none(dtype: Any, shape: Any = None) -> Any:
    """an optional value of this dtype and shape that is missing"""

def optional_of(x: Any) -> Any:
    """an optional value that is there"""

def overlap_and_add(frames: Any, frame_step: Any) -> Any:
    """The sum of frames, each frame_step behind the one before."""

def pad(x: Any, paddings: Any, value: Any = 0, *, mode: _Str = 'constant') -> Any:
    """x with [before, after] entries around each axis: a value, or x mirrored with mode "reflect" (without the entry at the end) or "symmetric" (with it)"""

def pad_boxes(boxes: Any, size: Any, offset: Any, target: Any) -> Any:
    """Boxes in [0, 1] of an image of this size [height, width] put at offset [y, x] (negative: cut off) on a canvas of the size target."""

def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Any:
    """The image at an offset of a larger one of zeros."""

def parse_example(serialized: Any, features: Any) -> Any:
    """features of a tf.train.Example record, or of a vector of them: {key: dtype or feature(...)}"""

def parse_json(s: Any, fields: Any) -> Any:
    """fields of a JSON object: {key or /json/pointer: dtype or feature(dtype, shape, default, kind fixed or sequence)}"""

def parse_sequence_example(serialized: Any, context: Any, sequence: Any) -> Any:
    """(context, lists) of a tf.train.SequenceExample, dicts as features tell; of a vector of them also the number of steps of each"""

def parse_tensor(serialized: Any, dtype: Any) -> Any:
    """the tensor of that dtype that a TensorProto holds; its shape is known at run time"""

def per_image_standardization(image: Any) -> Any:
    """(image - mean) / max(deviation, 1 / sqrt(size)), over all of an image."""

def philox(counter: Any, key: Any, blocks: _Int = 1, rounds: _Int = 10) -> Any:
    """blocks of Philox4x32 or, of uint64, Philox4x64: four words for each counter from the one given on, word 0 the lowest"""

def pillow_resize(image: Any, size: Any, method: _Str = 'bicubic', *, box: Any = None, reducing_gap: Any = None) -> Any:
    """The image at another size as Pillow gives it; box: x0, y0, x1, y1. Colours of uint8 with 2 or 4 channels are weighed by the last of them, alpha."""

def posterize(image: Any, bits: Any) -> Any:
    """The uint8 image with only the highest bits of each value."""

def power(a: Any, b: Any) -> Any:
    """a ** b; an integer to a negative power is an error"""

def power_to_db(power: Any, *, ref: _Float = 1.0, amin: _Float = 1e-10, top_db: _Float = 80.0) -> Any:
    """10 log10(power / ref), at most top_db below the largest."""

def preemphasis(signal: Any, *, coef: _Float = 0.97) -> Any:
    """Each sample less coef times the one before."""

def prod(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the product over the axes named, or over all; integers keep their dtype and wrap"""

def psnr(image: Any, other: Any, max_val: Any) -> Any:
    """The peak signal to noise ratio of two images, in decibels."""

def ragged(rows: Any, ragged_rank: Any = None, dtype: Any = None) -> Any:
    """a ragged tensor: nested lists of uneven lengths"""

def ragged_boolean_mask(x: Any, mask: Any) -> Any:
    """the entries of x where mask is true, row by row"""

def ragged_concat(*tensors: Any, axis: _Int = 0) -> Any:
    """ragged tensors joined: rows (axis 0), or row by row (axis 1)"""

def ragged_gather(x: Any, indices: Any) -> Any:
    """the rows of a ragged tensor that indices name"""

def ragged_range(limits: Any) -> Any:
    """row i holds 0 to limits[i]"""

def ragged_reduce_all(x: Any, axis: Any) -> Any:
    """all of each row of a ragged tensor (axis 1)"""

def ragged_reduce_any(x: Any, axis: Any) -> Any:
    """any of each row of a ragged tensor (axis 1)"""

def ragged_reduce_max(x: Any, axis: Any) -> Any:
    """max of each row of a ragged tensor (axis 1)"""

def ragged_reduce_mean(x: Any, axis: Any) -> Any:
    """mean of each row of a ragged tensor (axis 1)"""

def ragged_reduce_min(x: Any, axis: Any) -> Any:
    """min of each row of a ragged tensor (axis 1)"""

def ragged_reduce_prod(x: Any, axis: Any) -> Any:
    """prod of each row of a ragged tensor (axis 1)"""

def ragged_reduce_sum(x: Any, axis: Any) -> Any:
    """sum of each row of a ragged tensor (axis 1)"""

def ragged_stack(*tensors: Any) -> Any:
    """tensors of different lengths as the rows of a ragged one; ragged ones get an axis more"""

def ragged_subscript(x: Any, pieces: Any) -> Any:
    """x[i], x[1:3], x[:, -2:] of a ragged tensor"""

def random_brightness(image: Any, max_delta: Any, *, seed: Any = None) -> Any:
    """adjust_brightness by a uniform delta in [-max_delta, max_delta)."""

def random_contrast(image: Any, lower: Any, upper: Any, *, seed: Any = None) -> Any:
    """adjust_contrast by a uniform factor in [lower, upper)."""

def random_crop(image: Any, size: Any, *, seed: Any = None) -> Any:
    """A window of this height and width at a random place of the image."""

def random_crop_window(image_size: Any, *, scale: _Str = '...', ratio: _Str = '...', seed: Any = None) -> Any:
    """The window [y, x, height, width] of random_resized_crop for an image [height, width, ...]."""

def random_erasing(image: Any, *, probability: _Float = 0.5, scale: _Str = '...', ratio: _Str = '...', fill: _Float = 0.0, seed: Any = None) -> Any:
    """The image, with this probability with a random window of this share of its area set to fill."""

def random_flip_left_right(image: Any, *, seed: Any = None) -> Any:
    """The image, mirrored with probability 1/2."""

def random_flip_normalize(image: Any, mean: Any, std: Any, *, seed: Any = None) -> Any:
    """normalize(random_flip_left_right(image), mean, std) in one pass; mean and std are one number or one for each channel."""

def random_flip_up_down(image: Any, *, seed: Any = None) -> Any:
    """The image, upside down with probability 1/2."""

def random_hue(image: Any, max_delta: Any, *, seed: Any = None) -> Any:
    """adjust_hue by a uniform delta in [-max_delta, max_delta), at most 0.5."""

def random_normal(shape: Any = '{"empty":[0]}', mean: Any = 0, stddev: Any = 1, dtype: _Str = 'float32', *, seed: Any = None) -> Any:
    """draws from a normal distribution"""

def random_resized_crop(image: Any, height: Any, width: Any, *, scale: _Str = '...', ratio: _Str = '...', method: _Str = 'bilinear', antialias: _Bool = False, seed: Any = None) -> Any:
    """A random window of this share of the area and this range of width / height, resized; keeps the dtype."""

def random_saturation(image: Any, lower: Any, upper: Any, *, seed: Any = None) -> Any:
    """adjust_saturation by a uniform factor in [lower, upper)."""

def random_uniform(shape: Any = '{"empty":[0]}', low: Any = 0, high: Any = 1, dtype: _Str = 'float32', *, seed: Any = None) -> Any:
    """uniform draws from low (inclusive) to high (exclusive)"""

def rank(x: Any) -> Any:
    """the number of axes of x, int64"""

def read_file(path: Any) -> Any:
    """the bytes of the file of this name"""

def reciprocal(x: Any) -> Any:
    """1 / x"""

def reduce(x: Any, init: Any, f: _Function) -> Any:
    """state = f(state, item) over the items of x along axis 0"""

def reduce_all(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """whether all entries are true along the axes named, or of all"""

def reduce_any(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """whether an entry is true along the axes named, or of all"""

def reduce_join(s: Any, axis: Any = None, *, separator: _Str = '', keepdims: _Bool = False) -> Any:
    """s joined along the axes (none: all), in their order"""

def reduce_logsumexp(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """log(sum(exp(x))) without overflow, -inf of nothing"""

def reduce_max(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the largest entry along the axes named, or of all; NaN where one is"""

def reduce_mean(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the mean over the axes named, or over all; of integers without the fraction"""

def reduce_min(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the smallest entry along the axes named, or of all; NaN where one is"""

def reduce_prod(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the product over the axes named, or over all; integers keep their dtype and wrap"""

def reduce_std(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the square root of reduce_variance"""

def reduce_sum(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the sum over the axes named, or over all; integers keep their dtype and wrap"""

def reduce_variance(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the mean of the squared distances from the mean, NaN of nothing"""

def regex_extract(s: Any, pattern: Any, group: _Int = 0) -> Any:
    """group (0: all) of the RE2 pattern's first match in s; empty without one"""

def regex_full_match(s: Any, pattern: Any) -> Any:
    """whether the RE2 pattern matches all of s"""

def regex_partial_match(s: Any, pattern: Any) -> Any:
    """whether the RE2 pattern matches anywhere in s"""

def regex_replace(s: Any, pattern: Any, rewrite: Any, *, replace_global: _Bool = True) -> Any:
    """s with each match of the RE2 pattern replaced; \\1 is the first group"""

def relu(x: Any) -> Any:
    """x, but 0 where x is negative; NaN stays"""

def relu6(x: Any) -> Any:
    """x, but 0 where x is negative and 6 where it is more; NaN stays"""

def repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    """each item along an axis so many times, one number for all or one for each; without axis of the entries in a row"""

def resample(samples: Any, from_rate: Any, to_rate: Any, *, quality: _Str = 'hq') -> Any:
    """[samples] or [samples, channels] at another sample rate; quality: qq, lq, mq, hq or vhq."""

def resample_poly(samples: Any, up: Any, down: Any) -> Any:
    """The last axis resampled by up / down with a Kaiser-windowed filter."""

def reshape(x: Any, shape: Any) -> Any:
    """the entries of x in another shape; -1 stands for what is left"""

def resize(image: Any, size: Any, method: _Str = 'bilinear', *, antialias: _Bool = False, preserve_aspect_ratio: _Bool = False, keep_dtype: _Bool = False) -> Any:
    """The image at another size [height, width] by nearest (keeps the dtype), bilinear, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic (give float32; with keep_dtype=true the image's dtype, integers rounded)."""

def resize_legacy(image: Any, size: Any, method: _Str = 'bilinear', *, align_corners: _Bool = False, half_pixel_centers: _Bool = False) -> Any:
    """resize as TensorFlow 1 did it: the source place is i * in / out; bicubic with a = -0.75."""

def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """The middle of the image, or zeros around it, for this size."""

def resize_with_pad(image: Any, target_height: Any, target_width: Any, method: _Str = 'bilinear', *, antialias: _Bool = False) -> Any:
    """The image as large as fits, in the middle, with zeros around it."""

def reverse(x: Any, axis: Any = None) -> Any:
    """x backwards along the axes named, or along all"""

def rfft(signal: Any, *, fft_length: Any = None) -> Any:
    """The Fourier transform of the last axis: [..., length / 2 + 1, 2], real and imaginary."""

def rgb_to_grayscale(image: Any) -> Any:
    """0.2989 red + 0.587 green + 0.114 blue, one channel, in the same dtype."""

def rgb_to_hsv(image: Any) -> Any:
    """Hue, saturation and value, each in [0, 1], of RGB floats."""

def rgb_to_yiq(image: Any) -> Any:
    """Luma, in-phase and quadrature (NTSC) of RGB floats."""

def rgb_to_yuv(image: Any) -> Any:
    """Luma and the differences of blue and red of RGB floats."""

def right_shift(a: Any, b: Any) -> Any:
    """a shifted down by b bits, the sign kept; a negative count is an error"""

def roll(x: Any, shift: Any, axis: _Int = 0) -> Any:
    """x moved on along axes; what falls off comes in at the other end"""

def rot90(image: Any, k: Any = 1) -> Any:
    """The image turned counter-clockwise by k quarters."""

def rot90_boxes(boxes: Any, k: _Int = 1) -> Any:
    """Boxes in [0, 1] of the image after rot90."""

def rotate(image: Any, angle: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
    """The image turned counter-clockwise around its centre by degrees."""

def rotate_boxes(boxes: Any, size: Any, angle: Any) -> Any:
    """As affine_boxes, after rotate."""

def round(x: Any) -> Any:
    """rounded to the nearest, halves to even"""

def row_lengths(x: Any) -> Any:
    """the length of each row of a ragged tensor"""

def row_splits(x: Any) -> Any:
    """where the rows of a ragged tensor begin, and the end"""

def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)"""

def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, *, seed: Any = None, min_object_covered: _Float = 0.1, aspect_ratio_range: _Str = '...', area_range: _Str = '...', max_attempts: _Int = 100, use_image_if_no_bounding_boxes: _Bool = False) -> Any:
    """A random window that covers enough of a box: (begin [y, x, 0], size [h, w, -1], box)."""

def saturate_cast(x: Any, dtype: Any) -> Any:
    """x in another dtype: what does not fit becomes its nearest, NaN 0"""

def scan(x: Any, init: Any, f: _Function) -> Any:
    """(state, output) = f(state, item) over the items of x along axis 0: (the last state, the outputs put together)"""

def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """zeros of a shape with updates at the index vectors; those at one place add up"""

def searchsorted(sorted: Any, values: Any, side: _Str = 'left') -> Any:
    """where each value goes in sorted entries: before equal ones, or right of them; NaN behind all"""

def segment_sum(x: Any, segment_ids: Any) -> Any:
    """sums of the items of one number each; the numbers ascend"""

def selu(x: Any) -> Any:
    """1.0507 * x, but 1.7581 * (exp(x) - 1) where x is negative"""

def sequence_mask(lengths: Any, maxlen: Any = None) -> Any:
    """for each length so many trues, then falses up to maxlen or the longest"""

def serialize_tensor(x: Any) -> Any:
    """x as the bytes of TensorFlow's TensorProto"""

def shape(x: Any) -> Any:
    """the sizes of x, int64"""

def sharpness(image: Any, factor: Any) -> Any:
    """0 smoothed, 1 the image, above 1 sharper."""

def shear_x(image: Any, level: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
    """Output pixel (x, y) is the source at (x + level y, y), both taken at pixel centres."""

def shear_x_boxes(boxes: Any, size: Any, level: Any) -> Any:
    """As affine_boxes, after shear_x."""

def shear_y(image: Any, level: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
    """Output pixel (x, y) is source pixel (x, y + level x)."""

def shear_y_boxes(boxes: Any, size: Any, level: Any) -> Any:
    """As affine_boxes, after shear_y."""

def shuffle(x: Any, axis: _Int = 0, *, seed: Any = None) -> Any:
    """the items of a tensor along an axis, in random order"""

def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))"""

def sign(x: Any) -> Any:
    """-1, 0 or 1; NaN of NaN"""

def sin(x: Any) -> Any:
    """the sine of x radians"""

def sinh(x: Any) -> Any:
    """the hyperbolic sine"""

def size(x: Any) -> Any:
    """the number of entries of x, int64"""

def slice(x: Any, begin: Any, size: Any) -> Any:
    """size entries of x from begin on along each axis; -1: all that follow"""

def softmax(x: Any, axis: _Int = -1) -> Any:
    """exp(x) over its sum along an axis"""

def softplus(x: Any) -> Any:
    """log(1 + exp(x))"""

def solarize(image: Any, threshold: Any) -> Any:
    """The image with values of at least threshold inverted."""

def solarize_add(image: Any, addition: Any, threshold: Any = 128) -> Any:
    """The uint8 image with addition added to values below threshold."""

def sort(x: Any, axis: _Int = -1, descending: _Bool = False) -> Any:
    """the entries in order along an axis; NaN counts as the largest"""

def space_to_depth(x: Any, block_size: Any) -> Any:
    """square blocks of pixels as channels of one pixel"""

def sparse(indices: Any, values: Any, shape: Any) -> Any:
    """a sparse tensor: a value for each index"""

def sparse_concat(*tensors: Any, axis: _Int = 0, expand_nonconcat_dims: _Bool = False) -> Any:
    """sparse tensors joined along an axis"""

def sparse_indices(x: Any) -> Any:
    """where the values of a sparse tensor stand, [n, rank]: x.indices"""

def sparse_rank(x: Any) -> Any:
    """the number of axes of a sparse tensor"""

def sparse_shape(x: Any) -> Any:
    """the sizes of a sparse tensor: x.dense_shape"""

def sparse_size(x: Any) -> Any:
    """the number of entries of a sparse tensor, zeros included"""

def special_id(model: Any, name: Any) -> Any:
    """the number of a model's "bos", "eos", "unk" or "pad" piece; -1 for none"""

def spectrogram(signal: Any, frame_length: Any, frame_step: Any, *, fft_length: Any = None, window: _Str = 'hann', pad_end: _Bool = False, center: _Bool = False, pad_mode: _Str = 'constant', window_at: _Str = 'front', power: _Float = 1.0) -> Any:
    """magnitude(stft(signal, ...)) ** power: [..., frames, bins]."""

def split(s: Any, sep: Any = None, maxsplit: _Int = -1) -> Any:
    """s cut at each sep, empty parts kept; without sep at runs of ASCII white space; at most maxsplit times"""

def split_any(s: Any, delimiters: _Str = ' ', *, skip_empty: _Bool = True) -> Any:
    """s cut at each of the bytes in delimiters; with none of them at every byte"""

def split_tensor(x: Any, sizes: Any, axis: _Int = 0) -> Any:
    """x in pieces along an axis: of these sizes (-1: the rest), or this many equal ones"""

def split_text(s: Any, sep: Any = None, maxsplit: _Int = -1) -> Any:
    """s cut at each sep, empty parts kept; without sep at runs of ASCII white space; at most maxsplit times"""

def sqrt(x: Any) -> Any:
    """the square root"""

def square(x: Any) -> Any:
    """x * x"""

def squared_difference(a: Any, b: Any) -> Any:
    """(a - b) * (a - b)"""

def squeeze(x: Any, axis: Any = None) -> Any:
    """x without its axes of size 1, or without those named"""

def stack(*tensors: Any, axis: _Int = 0) -> Any:
    """tensors of one shape side by side along a new axis"""

def std(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the square root of reduce_variance"""

def stft(signal: Any, frame_length: Any, frame_step: Any, *, fft_length: Any = None, window: _Str = 'hann', pad_end: _Bool = False, center: _Bool = False, pad_mode: _Str = 'constant', window_at: _Str = 'front') -> Any:
    """The Fourier transforms of weighted frames: [..., frames, bins, 2], real and imaginary; fft_length: the next power of two."""

def string_length(s: Any, *, unit: _Str = 'BYTE') -> Any:
    """the number of bytes of s (or characters: unit="UTF8_CHAR"), int64"""

def strip(s: Any) -> Any:
    """s without the ASCII white space around it"""

def subscript(x: Any, pieces: Any) -> Any:
    """x[...]: indices, slices, `...` and none as in Python"""

def substr(s: Any, pos: Any, len: Any, *, unit: _Str = 'BYTE') -> Any:
    """len bytes (or characters: unit="UTF8_CHAR") of s from pos, which counts from the end when negative; all that is left when len is negative"""

def subtract(a: Any, b: Any) -> Any:
    """a - b"""

def sum(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the sum over the axes named, or over all; integers keep their dtype and wrap"""

def tan(x: Any) -> Any:
    """the tangent of x radians"""

def tanh(x: Any) -> Any:
    """the hyperbolic tangent"""

def tensor_scatter_update(x: Any, indices: Any, updates: Any) -> Any:
    """x with updates at the index vectors; of those at one place the last stays"""

def tensordot(a: Any, b: Any, axes: _Int = 2) -> Any:
    """products summed over the last n axes of a and the first n of b, or over [axes of a, axes of b]"""

def tile(x: Any, multiples: Any) -> Any:
    """x repeated so many times along each axis"""

def time_stretch(signal: Any, rate: Any, *, frame_length: _Int = 2048, frame_step: _Int = 512, center: _Bool = True) -> Any:
    """The signal `rate` times as fast at the same pitch."""

def to_hash_bucket(s: Any, num_buckets: Any) -> Any:
    """MurmurHash64A of s with TensorFlow's seed, modulo num_buckets"""

def to_hash_bucket_fast(s: Any, num_buckets: Any) -> Any:
    """FarmHash Fingerprint64 of s, modulo num_buckets"""

def to_hash_bucket_strong(s: Any, num_buckets: Any, key: Any) -> Any:
    """SipHash-2-4 of s with a key of two integers, modulo num_buckets"""

def to_number(s: Any, dtype: _Str = 'float32') -> Any:
    """the number that s holds; white space around it, hexadecimal floats, inf and nan are read"""

def to_sparse(x: Any) -> Any:
    """a ragged tensor as a sparse one"""

def to_tensor(x: Any, default: Any = None, *, shape: Any = None) -> Any:
    """a ragged or sparse tensor as a dense one, filled up with default (or zeros), cut to the sizes in shape; a dense one as it is, but for these sizes"""

def top_k(x: Any, k: Any) -> Any:
    """(the k largest entries along the last axis, where they stand)"""

def translate_x(image: Any, pixels: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
    """Output pixel (x, y) is source pixel (x + pixels, y)."""

def translate_x_boxes(boxes: Any, size: Any, pixels: Any) -> Any:
    """As affine_boxes, after translate_x."""

def translate_y(image: Any, pixels: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
    """Output pixel (x, y) is source pixel (x, y + pixels)."""

def translate_y_boxes(boxes: Any, size: Any, pixels: Any) -> Any:
    """As affine_boxes, after translate_y."""

def transpose(x: Any, perm: Any = None) -> Any:
    """x with its axes in the order perm, reversed where it is left out"""

def trim_silence(signal: Any, *, top_db: _Float = 60.0, frame_length: _Int = 2048, frame_step: _Int = 512) -> Any:
    """[begin, end) without the ends that are top_db below the loudest frame."""

def truncate_divide(a: Any, b: Any) -> Any:
    """a / b without its fraction; integers by zero are an error"""

def truncate_modulo(a: Any, b: Any) -> Any:
    """what is left of truncate_divide, with the sign of a; integers by zero are an error"""

def unicode_decode(s: Any, input_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533, replace_control_characters: _Bool = False) -> Any:
    """the code points of s, int32"""

def unicode_decode_with_offsets(s: Any, input_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533, replace_control_characters: _Bool = False) -> Any:
    """the code points of s, and at which byte each begins"""

def unicode_encode(codes: Any, output_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533) -> Any:
    """text of the code points along the last axis: UTF-8, UTF-16-BE or UTF-32-BE"""

def unicode_script(codes: Any) -> Any:
    """the script of each code point, ICU's number; -1 for what is none"""

def unicode_split(s: Any, *, errors: _Str = 'replace', replacement_char: _Int = 65533) -> Any:
    """the characters of s (UTF-8), each a string"""

def unicode_transcode(s: Any, input_encoding: Any, output_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533, replace_control_characters: _Bool = False) -> Any:
    """s in another encoding: UTF-8, UTF-16-BE or UTF-32-BE"""

def unique(x: Any) -> Any:
    """(the distinct entries of a vector in order, which of them each entry is)"""

def unique_with_counts(x: Any) -> Any:
    """(the distinct entries of a vector, which of them each entry is, how often each occurs)"""

def unsorted_segment_join(s: Any, ids: Any, num_segments: Any, *, separator: _Str = '') -> Any:
    """the strings of each of num_segments ids joined; negative ids are left out"""

def unsorted_segment_sum(x: Any, segment_ids: Any, num_segments: Any) -> Any:
    """sums of the items of numbers 0 to num_segments - 1; negative ones drop"""

def unstack(x: Any, axis: _Int = 0) -> Any:
    """the items of x along an axis as a tuple"""

def upper(s: Any, encoding: _Str = '') -> Any:
    """s in capital letters: a to z only, or all of Unicode's with encoding="utf-8" """

def variance(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
    """the mean of the squared distances from the mean, NaN of nothing"""

def vorbis_window(window_length: Any) -> Any:
    """The window of the Vorbis format."""

def where(cond: Any, a: Any, b: Any) -> Any:
    """entries of a where the condition is true, of b elsewhere"""

def while_loop(init: Any, cond: _Function, body: _Function, max_iterations: Any) -> Any:
    """state = body(state) while cond(state) holds; an error at the row when it still holds after max_iterations rounds"""

def with_flat_values(x: Any, values: Any) -> Any:
    """values in the rows of x"""

def words(table: Any) -> Any:
    """the words of a vocabulary(...) or table(...), in order"""

def yiq_to_rgb(image: Any) -> Any:
    """RGB of luma, in-phase and quadrature."""

def yuv_to_rgb(image: Any) -> Any:
    """RGB of luma and colour differences."""

def zeros(shape: Any, dtype: _Str = 'float32') -> Any:
    """a tensor of zeros (false, empty strings)"""

def zeros_like(x: Any) -> Any:
    """zeros (false, empty strings) of x's shape and dtype"""

class audio:
    @staticmethod
    def amplitude_to_db(amplitude: Any, *, ref: _Float = 1.0, amin: _Float = 1e-05, top_db: _Float = 80.0) -> Any:
        """20 log10(amplitude / ref), at most top_db below the largest."""
    @staticmethod
    def dct(signal: Any, type: _Int = 2, *, norm: Any = None) -> Any:
        """The cosine transform of the last axis, of type 1 to 4; norm: none or "ortho"."""
    @staticmethod
    def decode_audio(contents: Any, *, max_samples: _Int = 1073741824) -> Any:
        """(float32 [samples, channels], sample rate) of a WAV, FLAC, OGG or AIFF file."""
    @staticmethod
    def decode_wav(contents: Any, *, desired_channels: _Int = -1, desired_samples: _Int = -1, max_samples: _Int = 1073741824) -> Any:
        """(float32 [samples, channels], sample rate) of a WAV file of integers or floats."""
    @staticmethod
    def encode_wav(audio: Any, sample_rate: Any) -> Any:
        """A WAV file of 16 bits of float32 [samples, channels]."""
    @staticmethod
    def fft(values: Any, *, fft_length: Any = None) -> Any:
        """The Fourier transform of complex values [..., length, 2]."""
    @staticmethod
    def frame(signal: Any, frame_length: Any, frame_step: Any, *, pad_end: _Bool = False, pad_value: _Float = 0.0) -> Any:
        """Windows of frame_length along the last axis, frame_step apart; what does not fill one is left out, or with pad_end filled with pad_value."""
    @staticmethod
    def hamming_window(window_length: Any, *, periodic: _Bool = True) -> Any:
        """0.54 - 0.46 cos, once around."""
    @staticmethod
    def hann_window(window_length: Any, *, periodic: _Bool = True) -> Any:
        """0.5 - 0.5 cos, once around."""
    @staticmethod
    def ifft(values: Any, *, fft_length: Any = None) -> Any:
        """The values whose fft is given: with 1 / length."""
    @staticmethod
    def inverse_stft(spectra: Any, frame_length: Any, frame_step: Any, *, fft_length: Any = None, window: _Str = 'hann') -> Any:
        """The signal of stft(signal, ...), but for its ends."""
    @staticmethod
    def irfft(spectrum: Any, *, fft_length: Any = None) -> Any:
        """The signal whose rfft is the spectrum [..., bins, 2]."""
    @staticmethod
    def kaiser_window(window_length: Any, *, beta: _Float = 12.0) -> Any:
        """The Kaiser window."""
    @staticmethod
    def linear_to_mel_weight_matrix(num_mel_bins: _Int = 20, num_spectrogram_bins: _Int = 129, sample_rate: _Float = 8000.0, lower_edge_hertz: _Float = 125.0, upper_edge_hertz: _Float = 3800.0) -> Any:
        """[bins, mel bins]: triangles on the HTK mel scale, straight in mel; bin 0 counts nowhere."""
    @staticmethod
    def log_mel_spectrogram(signal: Any, *, sample_rate: _Float = 16000.0, frame_length: _Int = 400, frame_step: _Int = 160, fft_length: Any = None, num_mel_bins: _Int = 80, lower_edge_hertz: _Float = 80.0, upper_edge_hertz: _Float = 7600.0, power: _Int = 1, offset: _Float = 1e-06) -> Any:
        """log(spectrogram @ linear_to_mel_weight_matrix + offset) in one pass: [..., frames, mel bins]."""
    @staticmethod
    def magnitude(spectrum: Any) -> Any:
        """The absolute value of complex values [..., 2]."""
    @staticmethod
    def mel_filters(sample_rate: _Float = 22050.0, fft_length: _Int = 2048, num_mel_bins: _Int = 128, lower_edge_hertz: _Float = 0.0, *, upper_edge_hertz: Any = None, htk: _Bool = False, area_norm: _Bool = True) -> Any:
        """[mel bins, bins] as librosa makes them: Slaney's scale, triangles straight in hertz, each of the same area."""
    @staticmethod
    def mfccs_from_log_mel_spectrograms(log_mel: Any) -> Any:
        """dct of type 2 / sqrt(2 * mel bins)."""
    @staticmethod
    def overlap_and_add(frames: Any, frame_step: Any) -> Any:
        """The sum of frames, each frame_step behind the one before."""
    @staticmethod
    def power_to_db(power: Any, *, ref: _Float = 1.0, amin: _Float = 1e-10, top_db: _Float = 80.0) -> Any:
        """10 log10(power / ref), at most top_db below the largest."""
    @staticmethod
    def preemphasis(signal: Any, *, coef: _Float = 0.97) -> Any:
        """Each sample less coef times the one before."""
    @staticmethod
    def resample(samples: Any, from_rate: Any, to_rate: Any, *, quality: _Str = 'hq') -> Any:
        """[samples] or [samples, channels] at another sample rate; quality: qq, lq, mq, hq or vhq."""
    @staticmethod
    def resample_poly(samples: Any, up: Any, down: Any) -> Any:
        """The last axis resampled by up / down with a Kaiser-windowed filter."""
    @staticmethod
    def rfft(signal: Any, *, fft_length: Any = None) -> Any:
        """The Fourier transform of the last axis: [..., length / 2 + 1, 2], real and imaginary."""
    @staticmethod
    def spectrogram(signal: Any, frame_length: Any, frame_step: Any, *, fft_length: Any = None, window: _Str = 'hann', pad_end: _Bool = False, center: _Bool = False, pad_mode: _Str = 'constant', window_at: _Str = 'front', power: _Float = 1.0) -> Any:
        """magnitude(stft(signal, ...)) ** power: [..., frames, bins]."""
    @staticmethod
    def stft(signal: Any, frame_length: Any, frame_step: Any, *, fft_length: Any = None, window: _Str = 'hann', pad_end: _Bool = False, center: _Bool = False, pad_mode: _Str = 'constant', window_at: _Str = 'front') -> Any:
        """The Fourier transforms of weighted frames: [..., frames, bins, 2], real and imaginary; fft_length: the next power of two."""
    @staticmethod
    def time_stretch(signal: Any, rate: Any, *, frame_length: _Int = 2048, frame_step: _Int = 512, center: _Bool = True) -> Any:
        """The signal `rate` times as fast at the same pitch."""
    @staticmethod
    def trim_silence(signal: Any, *, top_db: _Float = 60.0, frame_length: _Int = 2048, frame_step: _Int = 512) -> Any:
        """[begin, end) without the ends that are top_db below the loudest frame."""
    @staticmethod
    def vorbis_window(window_length: Any) -> Any:
        """The window of the Vorbis format."""

class control:
    @staticmethod
    def map_fn(x: Any, f: _Function) -> Any:
        """f of each item of x along axis 0: stacked; ragged where the first size of what f gives is not known, but the others are"""
    @staticmethod
    def reduce(x: Any, init: Any, f: _Function) -> Any:
        """state = f(state, item) over the items of x along axis 0"""
    @staticmethod
    def scan(x: Any, init: Any, f: _Function) -> Any:
        """(state, output) = f(state, item) over the items of x along axis 0: (the last state, the outputs put together)"""
    @staticmethod
    def while_loop(init: Any, cond: _Function, body: _Function, max_iterations: Any) -> Any:
        """state = body(state) while cond(state) holds; an error at the row when it still holds after max_iterations rounds"""

class image:
    @staticmethod
    def adjust_brightness(image: Any, delta: Any) -> Any:
        """The image with delta added (of full scale 1)."""
    @staticmethod
    def adjust_contrast(image: Any, factor: Any) -> Any:
        """Each channel's distance from its mean times factor."""
    @staticmethod
    def adjust_gamma(image: Any, gamma: Any = 1.0, gain: Any = 1.0) -> Any:
        """gain * image ** gamma, the image in [0, 1]."""
    @staticmethod
    def adjust_hue(image: Any, delta: Any) -> Any:
        """The RGB image with its hue turned by delta (1: once around)."""
    @staticmethod
    def adjust_jpeg_quality(image: Any, jpeg_quality: Any) -> Any:
        """The image, encoded as JPEG of this quality (1 to 100) and decoded again."""
    @staticmethod
    def adjust_saturation(image: Any, factor: Any) -> Any:
        """The RGB image with its saturation times factor."""
    @staticmethod
    def affine(image: Any, matrix: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
        """Output pixel (x, y) is source pixel (a x + b y + c, d x + e y + f), matrix [a, b, c, d, e, f]; outside: fill."""
    @staticmethod
    def affine_boxes(boxes: Any, size: Any, matrix: Any) -> Any:
        """The boxes around boxes in [0, 1] of an image of this size [height, width] after affine, cut at its border."""
    @staticmethod
    def autocontrast(image: Any) -> Any:
        """The uint8 image with each channel stretched to 0 to 255."""
    @staticmethod
    def box_iou(boxes: Any, others: Any) -> Any:
        """Intersection over union of each box [y0, x0, y1, x1] with each of the others."""
    @staticmethod
    def central_crop(image: Any, central_fraction: Any) -> Any:
        """The middle of the image, this fraction of each side."""
    @staticmethod
    def convert_image_dtype(image: Any, dtype: Any) -> Any:
        """Another dtype with its scale: integers span [0, 1] of floats; from one integer dtype to another by a power of two, as TensorFlow does; saturates."""
    @staticmethod
    def crop(image: Any, window: Any) -> Any:
        """The window [y, x, height, width] of an image."""
    @staticmethod
    def crop_and_resize(images: Any, boxes: Any, box_indices: Any, crop_size: Any, *, method: _Str = 'bilinear', extrapolation_value: _Float = 0.0) -> Any:
        """Boxes [y0, x0, y1, x1] (corners at 0 and 1) of the images that box_indices names, resized."""
    @staticmethod
    def crop_boxes(boxes: Any, window: Any, *, clip: _Bool = True) -> Any:
        """Boxes seen from a window [y0, x0, y1, x1] of the image; clip: cut at its border."""
    @staticmethod
    def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Any:
        """The window of an image at an offset."""
    @staticmethod
    def cutout(image: Any, size: Any, *, fill: _Float = 0.0, seed: Any = None) -> Any:
        """The image with a square of this size around a random pixel set to fill."""
    @staticmethod
    def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: _Int = 0, *, ratio: _Int = 1, fancy_upscaling: _Bool = True, dct_method: _Str = '', max_pixels: _Int = 1073741824, check_rest: _Bool = False) -> Any:
        """Pixels of the window [y, x, height, width] of a JPEG file; decodes little else. check_rest: refuses what decode_jpeg refuses, damage outside the window, too."""
    @staticmethod
    def decode_bmp(contents: Any, channels: _Int = 0, *, max_pixels: _Int = 1073741824) -> Any:
        """Pixels of an uncompressed BMP file."""
    @staticmethod
    def decode_crop_resize(contents: Any, crop_window: Any, size: Any, channels: _Int = 3, *, method: _Str = 'bilinear', antialias: _Bool = False, scaled: _Bool = False, max_pixels: _Int = 1073741824) -> Any:
        """The window [y, x, height, width] of a JPEG file (or of a PNG, GIF or WebP file) at the size [height, width], rounded to uint8; scaled: a large window may be decoded at 1/2, 1/4 or 1/8, a few levels off but faster."""
    @staticmethod
    def decode_gif(contents: Any, *, max_pixels: _Int = 1073741824) -> Any:
        """The frames of a GIF file as RGB [frames, height, width, 3]; of another picture its only one."""
    @staticmethod
    def decode_image(contents: Any, channels: _Int = 0, *, dtype: _Str = 'uint8', expand_animations: _Bool = True, exif_orientation: _Bool = False, max_pixels: _Int = 1073741824) -> Any:
        """Pixels of a JPEG, PNG, GIF, BMP or WebP file; GIF and WebP give [frames, height, width, channels] unless expand_animations=false, which gives the first frame; exif_orientation: turned the way up that the file says."""
    @staticmethod
    def decode_jpeg(contents: Any, channels: _Int = 0, *, ratio: _Int = 1, fancy_upscaling: _Bool = True, dct_method: _Str = '', max_pixels: _Int = 1073741824, exif_orientation: _Bool = False) -> Any:
        """Pixels of a JPEG file (or of a PNG, GIF or WebP file); channels: 0 as stored, 1 grey, 3 RGB; ratio 2, 4 or 8: so much smaller; exif_orientation: turned the way up that the file says."""
    @staticmethod
    def decode_png(contents: Any, channels: _Int = 0, *, dtype: _Str = 'uint8', max_pixels: _Int = 1073741824) -> Any:
        """Pixels of a PNG file (or of a JPEG, GIF or WebP file), uint8 or uint16; channels: 0 as stored, 1 grey, 3 RGB, 4 with alpha."""
    @staticmethod
    def decode_webp(contents: Any, channels: _Int = 0, *, max_pixels: _Int = 1073741824) -> Any:
        """Pixels of a WebP file (or of a JPEG, PNG or GIF file), of the first frame when it moves."""
    @staticmethod
    def draw_bounding_boxes(image: Any, boxes: Any, colors: Any) -> Any:
        """The float32 image with frames around boxes [y0, x0, y1, x1], in turn in the colours."""
    @staticmethod
    def encode_jpeg(image: Any, *, quality: _Int = 95, format: _Str = '', progressive: _Bool = False, optimize_size: _Bool = False, chroma_downsampling: _Bool = True) -> Any:
        """A JPEG file of a grey or RGB uint8 image."""
    @staticmethod
    def encode_png(image: Any, *, compression: _Int = -1) -> Any:
        """A PNG file of a uint8 or uint16 image of 1 to 4 channels."""
    @staticmethod
    def equalize(image: Any) -> Any:
        """The uint8 image with each channel's values spread evenly."""
    @staticmethod
    def extract_jpeg_shape(contents: Any, *, dtype: _Str = 'int32') -> Any:
        """Height, width and channels of a JPEG file, from its headers alone."""
    @staticmethod
    def extract_patches(image: Any, sizes: Any, *, strides: Any = None, rates: Any = None, padding: _Str = 'VALID') -> Any:
        """The windows of `sizes` [rows, columns], `strides` apart, each as one pixel of all their values."""
    @staticmethod
    def flip_boxes_left_right(boxes: Any) -> Any:
        """Boxes in [0, 1] of the mirrored image."""
    @staticmethod
    def flip_boxes_up_down(boxes: Any) -> Any:
        """Boxes in [0, 1] of the image upside down."""
    @staticmethod
    def flip_left_right(image: Any) -> Any:
        """The image with its columns in reverse order."""
    @staticmethod
    def flip_up_down(image: Any) -> Any:
        """The image with its rows in reverse order."""
    @staticmethod
    def gaussian_blur(image: Any, sigma: Any, *, kernel: _Int = 0) -> Any:
        """The image under a Gaussian of sigma pixels, the border mirrored; kernel: its odd size."""
    @staticmethod
    def grayscale_to_rgb(image: Any) -> Any:
        """The one channel three times."""
    @staticmethod
    def hsv_to_rgb(image: Any) -> Any:
        """RGB of hue, saturation and value in [0, 1]."""
    @staticmethod
    def image_shape(contents: Any) -> Any:
        """Height, width and channels that decode_image gives for a file, from its headers alone; of a moving picture those of one frame."""
    @staticmethod
    def invert(image: Any) -> Any:
        """255 - image (uint8), 1 - image (float32)."""
    @staticmethod
    def is_jpeg(contents: Any) -> Any:
        """Whether the bytes begin as a JPEG file does."""
    @staticmethod
    def jpeg_shape(contents: Any, *, dtype: _Str = 'int32') -> Any:
        """Height, width and channels of a JPEG file, from its headers alone."""
    @staticmethod
    def match_anchors(anchors: Any, boxes: Any, *, high: _Float = 0.5, low: Any = None, force: _Bool = True) -> Any:
        """match_boxes(box_iou(anchors, boxes)) in one pass: the box of each anchor [y0, x0, y1, x1] that overlaps by at least high, -1 below low, -2 between."""
    @staticmethod
    def match_boxes(similarity: Any, *, high: _Float = 0.5, low: Any = None, force: _Bool = True) -> Any:
        """For each row its best column when at least high, -1 below low, -2 between; force: each column's best row gets it."""
    @staticmethod
    def non_max_suppression(boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: _Float = 0.5, score_threshold: _Str = '{"float":"-inf"}') -> Any:
        """Places of the boxes by falling score that overlap no better one by more than iou_threshold."""
    @staticmethod
    def normalize(image: Any, mean: Any, std: Any) -> Any:
        """(float32(image) - mean) / std with one mean and std, or one for each channel."""
    @staticmethod
    def pad_boxes(boxes: Any, size: Any, offset: Any, target: Any) -> Any:
        """Boxes in [0, 1] of an image of this size [height, width] put at offset [y, x] (negative: cut off) on a canvas of the size target."""
    @staticmethod
    def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Any:
        """The image at an offset of a larger one of zeros."""
    @staticmethod
    def per_image_standardization(image: Any) -> Any:
        """(image - mean) / max(deviation, 1 / sqrt(size)), over all of an image."""
    @staticmethod
    def pillow_resize(image: Any, size: Any, method: _Str = 'bicubic', *, box: Any = None, reducing_gap: Any = None) -> Any:
        """The image at another size as Pillow gives it; box: x0, y0, x1, y1. Colours of uint8 with 2 or 4 channels are weighed by the last of them, alpha."""
    @staticmethod
    def posterize(image: Any, bits: Any) -> Any:
        """The uint8 image with only the highest bits of each value."""
    @staticmethod
    def psnr(image: Any, other: Any, max_val: Any) -> Any:
        """The peak signal to noise ratio of two images, in decibels."""
    @staticmethod
    def random_brightness(image: Any, max_delta: Any, *, seed: Any = None) -> Any:
        """adjust_brightness by a uniform delta in [-max_delta, max_delta)."""
    @staticmethod
    def random_contrast(image: Any, lower: Any, upper: Any, *, seed: Any = None) -> Any:
        """adjust_contrast by a uniform factor in [lower, upper)."""
    @staticmethod
    def random_crop(image: Any, size: Any, *, seed: Any = None) -> Any:
        """A window of this height and width at a random place of the image."""
    @staticmethod
    def random_crop_window(image_size: Any, *, scale: _Str = '...', ratio: _Str = '...', seed: Any = None) -> Any:
        """The window [y, x, height, width] of random_resized_crop for an image [height, width, ...]."""
    @staticmethod
    def random_erasing(image: Any, *, probability: _Float = 0.5, scale: _Str = '...', ratio: _Str = '...', fill: _Float = 0.0, seed: Any = None) -> Any:
        """The image, with this probability with a random window of this share of its area set to fill."""
    @staticmethod
    def random_flip_left_right(image: Any, *, seed: Any = None) -> Any:
        """The image, mirrored with probability 1/2."""
    @staticmethod
    def random_flip_normalize(image: Any, mean: Any, std: Any, *, seed: Any = None) -> Any:
        """normalize(random_flip_left_right(image), mean, std) in one pass; mean and std are one number or one for each channel."""
    @staticmethod
    def random_flip_up_down(image: Any, *, seed: Any = None) -> Any:
        """The image, upside down with probability 1/2."""
    @staticmethod
    def random_hue(image: Any, max_delta: Any, *, seed: Any = None) -> Any:
        """adjust_hue by a uniform delta in [-max_delta, max_delta), at most 0.5."""
    @staticmethod
    def random_resized_crop(image: Any, height: Any, width: Any, *, scale: _Str = '...', ratio: _Str = '...', method: _Str = 'bilinear', antialias: _Bool = False, seed: Any = None) -> Any:
        """A random window of this share of the area and this range of width / height, resized; keeps the dtype."""
    @staticmethod
    def random_saturation(image: Any, lower: Any, upper: Any, *, seed: Any = None) -> Any:
        """adjust_saturation by a uniform factor in [lower, upper)."""
    @staticmethod
    def resize(image: Any, size: Any, method: _Str = 'bilinear', *, antialias: _Bool = False, preserve_aspect_ratio: _Bool = False, keep_dtype: _Bool = False) -> Any:
        """The image at another size [height, width] by nearest (keeps the dtype), bilinear, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic (give float32; with keep_dtype=true the image's dtype, integers rounded)."""
    @staticmethod
    def resize_legacy(image: Any, size: Any, method: _Str = 'bilinear', *, align_corners: _Bool = False, half_pixel_centers: _Bool = False) -> Any:
        """resize as TensorFlow 1 did it: the source place is i * in / out; bicubic with a = -0.75."""
    @staticmethod
    def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
        """The middle of the image, or zeros around it, for this size."""
    @staticmethod
    def resize_with_pad(image: Any, target_height: Any, target_width: Any, method: _Str = 'bilinear', *, antialias: _Bool = False) -> Any:
        """The image as large as fits, in the middle, with zeros around it."""
    @staticmethod
    def rgb_to_grayscale(image: Any) -> Any:
        """0.2989 red + 0.587 green + 0.114 blue, one channel, in the same dtype."""
    @staticmethod
    def rgb_to_hsv(image: Any) -> Any:
        """Hue, saturation and value, each in [0, 1], of RGB floats."""
    @staticmethod
    def rgb_to_yiq(image: Any) -> Any:
        """Luma, in-phase and quadrature (NTSC) of RGB floats."""
    @staticmethod
    def rgb_to_yuv(image: Any) -> Any:
        """Luma and the differences of blue and red of RGB floats."""
    @staticmethod
    def rot90(image: Any, k: Any = 1) -> Any:
        """The image turned counter-clockwise by k quarters."""
    @staticmethod
    def rot90_boxes(boxes: Any, k: _Int = 1) -> Any:
        """Boxes in [0, 1] of the image after rot90."""
    @staticmethod
    def rotate(image: Any, angle: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
        """The image turned counter-clockwise around its centre by degrees."""
    @staticmethod
    def rotate_boxes(boxes: Any, size: Any, angle: Any) -> Any:
        """As affine_boxes, after rotate."""
    @staticmethod
    def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, *, seed: Any = None, min_object_covered: _Float = 0.1, aspect_ratio_range: _Str = '...', area_range: _Str = '...', max_attempts: _Int = 100, use_image_if_no_bounding_boxes: _Bool = False) -> Any:
        """A random window that covers enough of a box: (begin [y, x, 0], size [h, w, -1], box)."""
    @staticmethod
    def sharpness(image: Any, factor: Any) -> Any:
        """0 smoothed, 1 the image, above 1 sharper."""
    @staticmethod
    def shear_x(image: Any, level: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
        """Output pixel (x, y) is the source at (x + level y, y), both taken at pixel centres."""
    @staticmethod
    def shear_x_boxes(boxes: Any, size: Any, level: Any) -> Any:
        """As affine_boxes, after shear_x."""
    @staticmethod
    def shear_y(image: Any, level: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
        """Output pixel (x, y) is source pixel (x, y + level x)."""
    @staticmethod
    def shear_y_boxes(boxes: Any, size: Any, level: Any) -> Any:
        """As affine_boxes, after shear_y."""
    @staticmethod
    def solarize(image: Any, threshold: Any) -> Any:
        """The image with values of at least threshold inverted."""
    @staticmethod
    def solarize_add(image: Any, addition: Any, threshold: Any = 128) -> Any:
        """The uint8 image with addition added to values below threshold."""
    @staticmethod
    def translate_x(image: Any, pixels: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
        """Output pixel (x, y) is source pixel (x + pixels, y)."""
    @staticmethod
    def translate_x_boxes(boxes: Any, size: Any, pixels: Any) -> Any:
        """As affine_boxes, after translate_x."""
    @staticmethod
    def translate_y(image: Any, pixels: Any, *, interpolation: _Str = 'nearest', fill: _Float = 0.0) -> Any:
        """Output pixel (x, y) is source pixel (x, y + pixels)."""
    @staticmethod
    def translate_y_boxes(boxes: Any, size: Any, pixels: Any) -> Any:
        """As affine_boxes, after translate_y."""
    @staticmethod
    def yiq_to_rgb(image: Any) -> Any:
        """RGB of luma, in-phase and quadrature."""
    @staticmethod
    def yuv_to_rgb(image: Any) -> Any:
        """RGB of luma and colour differences."""

class literals:
    @staticmethod
    def ragged(rows: Any, ragged_rank: Any = None, dtype: Any = None) -> Any:
        """a ragged tensor: nested lists of uneven lengths"""
    @staticmethod
    def sparse(indices: Any, values: Any, shape: Any) -> Any:
        """a sparse tensor: a value for each index"""

class logic:
    @staticmethod
    def equal(a: Any, b: Any) -> Any:
        """a == b"""
    @staticmethod
    def greater(a: Any, b: Any) -> Any:
        """a > b"""
    @staticmethod
    def greater_equal(a: Any, b: Any) -> Any:
        """a >= b"""
    @staticmethod
    def is_finite(x: Any) -> Any:
        """where x is neither inf, -inf nor NaN"""
    @staticmethod
    def is_inf(x: Any) -> Any:
        """where x is inf or -inf"""
    @staticmethod
    def is_nan(x: Any) -> Any:
        """where x is not a number"""
    @staticmethod
    def less(a: Any, b: Any) -> Any:
        """a < b; bytes by their values"""
    @staticmethod
    def less_equal(a: Any, b: Any) -> Any:
        """a <= b"""
    @staticmethod
    def logical_and(a: Any, b: Any) -> Any:
        """a and b"""
    @staticmethod
    def logical_not(x: Any) -> Any:
        """not x"""
    @staticmethod
    def logical_or(a: Any, b: Any) -> Any:
        """a or b"""
    @staticmethod
    def logical_xor(a: Any, b: Any) -> Any:
        """one of a and b, not both"""
    @staticmethod
    def not_equal(a: Any, b: Any) -> Any:
        """a != b"""

class math:
    @staticmethod
    def abs(x: Any) -> Any:
        """the absolute value"""
    @staticmethod
    def add(a: Any, b: Any) -> Any:
        """a + b; joins bytes"""
    @staticmethod
    def atan2(a: Any, b: Any) -> Any:
        """the angle in radians of the point (b, a)"""
    @staticmethod
    def bitcast(x: Any, dtype: Any) -> Any:
        """the bits of x read as another dtype; sizes that differ make or take the last axis"""
    @staticmethod
    def bitwise_and(a: Any, b: Any) -> Any:
        """the bits that a and b have both"""
    @staticmethod
    def bitwise_invert(x: Any) -> Any:
        """all bits of x turned over"""
    @staticmethod
    def bitwise_or(a: Any, b: Any) -> Any:
        """the bits that a or b has"""
    @staticmethod
    def bitwise_xor(a: Any, b: Any) -> Any:
        """the bits that one of a and b has"""
    @staticmethod
    def cast(x: Any, dtype: Any) -> Any:
        """x in another dtype: floats to integers toward zero, saturating, NaN to 0; integers wrap"""
    @staticmethod
    def ceil(x: Any) -> Any:
        """rounded up"""
    @staticmethod
    def clip(x: Any, low: Any, high: Any) -> Any:
        """x between low and high; low where low > high"""
    @staticmethod
    def divide(a: Any, b: Any) -> Any:
        """a / b, true division: float32 of integers up to 16 bits, float64 of wider ones"""
    @staticmethod
    def divide_no_nan(a: Any, b: Any) -> Any:
        """a / b, but 0 where b is 0"""
    @staticmethod
    def floor(x: Any) -> Any:
        """rounded down"""
    @staticmethod
    def floor_divide(a: Any, b: Any) -> Any:
        """a // b, rounded down; integers by zero are an error"""
    @staticmethod
    def left_shift(a: Any, b: Any) -> Any:
        """a times 2 ** b, wrapped; a negative count is an error"""
    @staticmethod
    def maximum(a: Any, b: Any) -> Any:
        """the larger of a and b, NaN where one is"""
    @staticmethod
    def minimum(a: Any, b: Any) -> Any:
        """the smaller of a and b, NaN where one is"""
    @staticmethod
    def modulo(a: Any, b: Any) -> Any:
        """a % b, with the sign of b; integers by zero are an error"""
    @staticmethod
    def multiply(a: Any, b: Any) -> Any:
        """a * b"""
    @staticmethod
    def negative(x: Any) -> Any:
        """-x"""
    @staticmethod
    def power(a: Any, b: Any) -> Any:
        """a ** b; an integer to a negative power is an error"""
    @staticmethod
    def relu(x: Any) -> Any:
        """x, but 0 where x is negative; NaN stays"""
    @staticmethod
    def relu6(x: Any) -> Any:
        """x, but 0 where x is negative and 6 where it is more; NaN stays"""
    @staticmethod
    def right_shift(a: Any, b: Any) -> Any:
        """a shifted down by b bits, the sign kept; a negative count is an error"""
    @staticmethod
    def round(x: Any) -> Any:
        """rounded to the nearest, halves to even"""
    @staticmethod
    def saturate_cast(x: Any, dtype: Any) -> Any:
        """x in another dtype: what does not fit becomes its nearest, NaN 0"""
    @staticmethod
    def sign(x: Any) -> Any:
        """-1, 0 or 1; NaN of NaN"""
    @staticmethod
    def square(x: Any) -> Any:
        """x * x"""
    @staticmethod
    def squared_difference(a: Any, b: Any) -> Any:
        """(a - b) * (a - b)"""
    @staticmethod
    def subtract(a: Any, b: Any) -> Any:
        """a - b"""
    @staticmethod
    def truncate_divide(a: Any, b: Any) -> Any:
        """a / b without its fraction; integers by zero are an error"""
    @staticmethod
    def truncate_modulo(a: Any, b: Any) -> Any:
        """what is left of truncate_divide, with the sign of a; integers by zero are an error"""
    @staticmethod
    def where(cond: Any, a: Any, b: Any) -> Any:
        """entries of a where the condition is true, of b elsewhere"""

class optional:
    @staticmethod
    def get_value(x: Any, default: Any = None) -> Any:
        """the value of an optional one; where it is missing the default, or an error"""
    @staticmethod
    def has_value(x: Any) -> Any:
        """whether an optional value is there"""
    @staticmethod
    def optional_none(dtype: Any, shape: Any = None) -> Any:
        """an optional value of this dtype and shape that is missing"""
    @staticmethod
    def optional_of(x: Any) -> Any:
        """an optional value that is there"""

class order:
    @staticmethod
    def argsort(x: Any, axis: _Int = -1, descending: _Bool = False) -> Any:
        """where the entries of sort(x) stand in x; equal ones keep their order"""
    @staticmethod
    def bincount(x: Any, minlength: Any = 0) -> Any:
        """how often each number 0, 1, ... occurs, up to the largest"""
    @staticmethod
    def bucketize(x: Any, boundaries: Any) -> Any:
        """the bucket of each entry: i where boundaries[i - 1] <= x < boundaries[i]; NaN is in the last"""
    @staticmethod
    def histogram(x: Any, range: Any, bins: Any = 100) -> Any:
        """how many entries fall in each of equal bins of [low, high]; others count at its ends, NaN at the upper"""
    @staticmethod
    def in_top_k(predictions: Any, targets: Any, k: Any) -> Any:
        """whether each row's target is among the k largest predictions"""
    @staticmethod
    def searchsorted(sorted: Any, values: Any, side: _Str = 'left') -> Any:
        """where each value goes in sorted entries: before equal ones, or right of them; NaN behind all"""
    @staticmethod
    def sort(x: Any, axis: _Int = -1, descending: _Bool = False) -> Any:
        """the entries in order along an axis; NaN counts as the largest"""
    @staticmethod
    def top_k(x: Any, k: Any) -> Any:
        """(the k largest entries along the last axis, where they stand)"""
    @staticmethod
    def unique(x: Any) -> Any:
        """(the distinct entries of a vector in order, which of them each entry is)"""
    @staticmethod
    def unique_with_counts(x: Any) -> Any:
        """(the distinct entries of a vector, which of them each entry is, how often each occurs)"""

class reductions:
    @staticmethod
    def all(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """whether all entries are true along the axes named, or of all"""
    @staticmethod
    def any(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """whether an entry is true along the axes named, or of all"""
    @staticmethod
    def argmax(x: Any, axis: _Int = 0) -> Any:
        """where the largest entry stands along an axis, the first of equal ones; NaN is passed over"""
    @staticmethod
    def argmin(x: Any, axis: _Int = 0) -> Any:
        """where the smallest entry stands along an axis, the first of equal ones; NaN is passed over"""
    @staticmethod
    def cumprod(x: Any, axis: _Int = 0, exclusive: _Bool = False, reverse: _Bool = False) -> Any:
        """running products along an axis"""
    @staticmethod
    def cumsum(x: Any, axis: _Int = 0, exclusive: _Bool = False, reverse: _Bool = False) -> Any:
        """running sums along an axis"""
    @staticmethod
    def log_softmax(x: Any, axis: _Int = -1) -> Any:
        """the logarithm of softmax(x), without overflow"""
    @staticmethod
    def logsumexp(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """log(sum(exp(x))) without overflow, -inf of nothing"""
    @staticmethod
    def matmul(a: Any, b: Any) -> Any:
        """the matrix product over the last two axes; those before broadcast"""
    @staticmethod
    def max(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the largest entry along the axes named, or of all; NaN where one is"""
    @staticmethod
    def mean(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the mean over the axes named, or over all; of integers without the fraction"""
    @staticmethod
    def min(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the smallest entry along the axes named, or of all; NaN where one is"""
    @staticmethod
    def norm(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the square root of the sum of squares"""
    @staticmethod
    def prod(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the product over the axes named, or over all; integers keep their dtype and wrap"""
    @staticmethod
    def reduce_all(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """whether all entries are true along the axes named, or of all"""
    @staticmethod
    def reduce_any(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """whether an entry is true along the axes named, or of all"""
    @staticmethod
    def reduce_logsumexp(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """log(sum(exp(x))) without overflow, -inf of nothing"""
    @staticmethod
    def reduce_max(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the largest entry along the axes named, or of all; NaN where one is"""
    @staticmethod
    def reduce_mean(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the mean over the axes named, or over all; of integers without the fraction"""
    @staticmethod
    def reduce_min(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the smallest entry along the axes named, or of all; NaN where one is"""
    @staticmethod
    def reduce_prod(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the product over the axes named, or over all; integers keep their dtype and wrap"""
    @staticmethod
    def reduce_std(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the square root of reduce_variance"""
    @staticmethod
    def reduce_sum(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the sum over the axes named, or over all; integers keep their dtype and wrap"""
    @staticmethod
    def reduce_variance(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the mean of the squared distances from the mean, NaN of nothing"""
    @staticmethod
    def segment_sum(x: Any, segment_ids: Any) -> Any:
        """sums of the items of one number each; the numbers ascend"""
    @staticmethod
    def softmax(x: Any, axis: _Int = -1) -> Any:
        """exp(x) over its sum along an axis"""
    @staticmethod
    def std(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the square root of reduce_variance"""
    @staticmethod
    def sum(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the sum over the axes named, or over all; integers keep their dtype and wrap"""
    @staticmethod
    def tensordot(a: Any, b: Any, axes: _Int = 2) -> Any:
        """products summed over the last n axes of a and the first n of b, or over [axes of a, axes of b]"""
    @staticmethod
    def unsorted_segment_sum(x: Any, segment_ids: Any, num_segments: Any) -> Any:
        """sums of the items of numbers 0 to num_segments - 1; negative ones drop"""
    @staticmethod
    def variance(x: Any, axis: Any = None, keepdims: _Bool = False) -> Any:
        """the mean of the squared distances from the mean, NaN of nothing"""

class text:
    @staticmethod
    def as_string(x: Any, *, precision: _Int = -1, scientific: _Bool = False, shortest: _Bool = False, width: _Int = -1, fill: _Str = '') -> Any:
        """x as text: floats with six decimals (%f), integers, true and false; fill is a flag of printf"""
    @staticmethod
    def bytes_split(s: Any) -> Any:
        """the bytes of s, each a string"""
    @staticmethod
    def decode(model: Any, ids: Any) -> Any:
        """the text of the pieces along the last axis; OUT_OF_RANGE for unknown numbers"""
    @staticmethod
    def encode(model: Any, s: Any, *, bos: _Bool = False, eos: _Bool = False, reverse: _Bool = False) -> Any:
        """the numbers of the pieces of s by a sentencepiece(...) or bpe(...) model, int32"""
    @staticmethod
    def fingerprint(x: Any) -> Any:
        """Fingerprint64 of the bytes of each row of x, as 8 bytes, little endian: uint8[n, 8]"""
    @staticmethod
    def fingerprint64(s: Any) -> Any:
        """FarmHash Fingerprint64 of s"""
    @staticmethod
    def format(template: Any, *values: Any, placeholder: _Str = '{}', summarize: _Int = 3) -> Any:
        """the template with each placeholder replaced by a value; of axes longer than twice summarize (-1: none) only the ends"""
    @staticmethod
    def join(*parts: Any, sep: _Str = '') -> Any:
        """strings joined entry by entry; one tensor alone along its last axis"""
    @staticmethod
    def lookup(table: Any, s: Any) -> Any:
        """the value of each key in a vocabulary(...) or table(...): its number, where values are not given; unknown ones get the table's default or one of its oov_buckets, else NOT_FOUND"""
    @staticmethod
    def lower(s: Any, encoding: _Str = '') -> Any:
        """s in small letters: A to Z only, or all of Unicode's with encoding="utf-8" """
    @staticmethod
    def model_size(model: Any) -> Any:
        """how many pieces a model has"""
    @staticmethod
    def ngrams(s: Any, ngram_width: Any, separator: _Str = ' ', *, pad_values: Any = None, padding_width: Any = None, preserve_short_sequences: _Bool = False) -> Any:
        """ngram_width (or each of several widths) neighbours along the last axis, joined"""
    @staticmethod
    def normalize_utf8(s: Any, form: _Str = 'NFC') -> Any:
        """s in a normal form of Unicode"""
    @staticmethod
    def reduce_join(s: Any, axis: Any = None, *, separator: _Str = '', keepdims: _Bool = False) -> Any:
        """s joined along the axes (none: all), in their order"""
    @staticmethod
    def regex_extract(s: Any, pattern: Any, group: _Int = 0) -> Any:
        """group (0: all) of the RE2 pattern's first match in s; empty without one"""
    @staticmethod
    def regex_full_match(s: Any, pattern: Any) -> Any:
        """whether the RE2 pattern matches all of s"""
    @staticmethod
    def regex_partial_match(s: Any, pattern: Any) -> Any:
        """whether the RE2 pattern matches anywhere in s"""
    @staticmethod
    def regex_replace(s: Any, pattern: Any, rewrite: Any, *, replace_global: _Bool = True) -> Any:
        """s with each match of the RE2 pattern replaced; \\1 is the first group"""
    @staticmethod
    def special_id(model: Any, name: Any) -> Any:
        """the number of a model's "bos", "eos", "unk" or "pad" piece; -1 for none"""
    @staticmethod
    def split(s: Any, sep: Any = None, maxsplit: _Int = -1) -> Any:
        """s cut at each sep, empty parts kept; without sep at runs of ASCII white space; at most maxsplit times"""
    @staticmethod
    def split_any(s: Any, delimiters: _Str = ' ', *, skip_empty: _Bool = True) -> Any:
        """s cut at each of the bytes in delimiters; with none of them at every byte"""
    @staticmethod
    def split_text(s: Any, sep: Any = None, maxsplit: _Int = -1) -> Any:
        """s cut at each sep, empty parts kept; without sep at runs of ASCII white space; at most maxsplit times"""
    @staticmethod
    def string_length(s: Any, *, unit: _Str = 'BYTE') -> Any:
        """the number of bytes of s (or characters: unit="UTF8_CHAR"), int64"""
    @staticmethod
    def strip(s: Any) -> Any:
        """s without the ASCII white space around it"""
    @staticmethod
    def substr(s: Any, pos: Any, len: Any, *, unit: _Str = 'BYTE') -> Any:
        """len bytes (or characters: unit="UTF8_CHAR") of s from pos, which counts from the end when negative; all that is left when len is negative"""
    @staticmethod
    def to_hash_bucket(s: Any, num_buckets: Any) -> Any:
        """MurmurHash64A of s with TensorFlow's seed, modulo num_buckets"""
    @staticmethod
    def to_hash_bucket_fast(s: Any, num_buckets: Any) -> Any:
        """FarmHash Fingerprint64 of s, modulo num_buckets"""
    @staticmethod
    def to_hash_bucket_strong(s: Any, num_buckets: Any, key: Any) -> Any:
        """SipHash-2-4 of s with a key of two integers, modulo num_buckets"""
    @staticmethod
    def to_number(s: Any, dtype: _Str = 'float32') -> Any:
        """the number that s holds; white space around it, hexadecimal floats, inf and nan are read"""
    @staticmethod
    def unicode_decode(s: Any, input_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533, replace_control_characters: _Bool = False) -> Any:
        """the code points of s, int32"""
    @staticmethod
    def unicode_decode_with_offsets(s: Any, input_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533, replace_control_characters: _Bool = False) -> Any:
        """the code points of s, and at which byte each begins"""
    @staticmethod
    def unicode_encode(codes: Any, output_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533) -> Any:
        """text of the code points along the last axis: UTF-8, UTF-16-BE or UTF-32-BE"""
    @staticmethod
    def unicode_script(codes: Any) -> Any:
        """the script of each code point, ICU's number; -1 for what is none"""
    @staticmethod
    def unicode_split(s: Any, *, errors: _Str = 'replace', replacement_char: _Int = 65533) -> Any:
        """the characters of s (UTF-8), each a string"""
    @staticmethod
    def unicode_transcode(s: Any, input_encoding: Any, output_encoding: _Str = 'UTF-8', *, errors: _Str = 'replace', replacement_char: _Int = 65533, replace_control_characters: _Bool = False) -> Any:
        """s in another encoding: UTF-8, UTF-16-BE or UTF-32-BE"""
    @staticmethod
    def unsorted_segment_join(s: Any, ids: Any, num_segments: Any, *, separator: _Str = '') -> Any:
        """the strings of each of num_segments ids joined; negative ids are left out"""
    @staticmethod
    def upper(s: Any, encoding: _Str = '') -> Any:
        """s in capital letters: a to z only, or all of Unicode's with encoding="utf-8" """
    @staticmethod
    def words(table: Any) -> Any:
        """the words of a vocabulary(...) or table(...), in order"""

bool: DType

uint8: DType

uint16: DType

uint32: DType

uint64: DType

int8: DType

int16: DType

int32: DType

int64: DType

float16: DType

bfloat16: DType

float32: DType

float64: DType

bytes: DType
