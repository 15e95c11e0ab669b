"""Penstock: input pipelines for machine-learning training.

>>> import penstock as ps
>>> ds = ps.range(10).map(lambda x: {"x": x, "even": x % 2 == 0}).filter(lambda e: e["even"]).batch(4)
>>> for batch in ds:
...     print(batch["x"])
[0 2 4 6]
[8]

Sources are functions (``ps.range``, ``ps.files``, ``ps.tfrecord``, ...), operators are methods of what they give, ops are
functions for use inside ``map`` and the like (``ps.sqrt``, ``ps.image.decode_jpeg``, ...). All of them come from the
engine's own table; ``penstock ops`` and docs/operators.md describe them.
"""
from . import _calls, _core, compat
from ._arrays import Ragged, Sparse, to_dlpack
from ._dataset import Dataset, Iterator, from_tensor_slices, parse, read
from ._errors import *  # noqa: F403
from ._errors import KINDS, Error, TraceError
from ._functions import cond, expr
from ._reports import Explanation, Optimization, Trace
from ._map_style import from_map_style
from ._sources import from_generator, py_map
from ._jax import jax
from ._tables import from_arrow, from_huggingface, from_parquet, webdataset
from ._torch import torch
from ._types import DTYPES, DatasetSpec, DType, TensorSpec
from ._values import Value, auto
from ._watch import watch

__version__ = _core.version
globals().update(DTYPES)


def _loaded(name):
    from importlib import import_module
    return getattr(import_module(_PARTS[name], __name__), name)


_PARTS = {"Candidate": "._choice", "Choice": "._choice", "OptimizedDataset": "._choice", "optimize": "._optimize",
          "Comparison": "._compare", "compare": "._compare", "Prediction": "._predict", "PredictionPoint": "._predict", "predict": "._predict",
          "Provision": "._provision", "ProvisionOption": "._provision", "provision": "._provision", "Stall": "._stall",
          "StepPart": "._stall", "stall": "._stall", "progress": "._progress"}
# These, operators, ops, their groups and __all__ are made when they are first asked for. What stands above goes before them.
__getattr__, __dir__ = _calls.made_later(globals(), {**_calls.functions(), **dict.fromkeys(_PARTS, _loaded)})
