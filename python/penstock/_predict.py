"""ps.predict: how fast training runs on each size of a cluster."""
import os
import typing

from . import _command, _pages, _plots
from ._quantities import table


class PredictionPoint(typing.NamedTuple):
    """One size of a cluster.

    ``steps_per_second`` is that of all workers together, ``low`` and ``high`` its 90 % interval; ``binds`` names the
    resource used most, ``use`` has the share of each in use. ``examples_per_second`` is None if the profile does not know
    the examples of a step, ``price_per_hour`` without ``prices``.
    """

    workers: int
    servers: int
    steps_per_second: float
    low: float
    high: float
    binds: str
    use: dict
    examples_per_second: typing.Optional[float] = None
    price_per_hour: typing.Optional[float] = None

    @property
    def has_interval(self):
        """False for formulas (model="ideal"), which give the value only."""
        return self.low < self.high


class Prediction:
    """Training throughput for each size of a cluster; see ps.predict.

    ``points`` are ps.PredictionPoint in the order asked for, ``best`` is the one with the most batches per second,
    ``advice`` and ``notes`` are texts, ``data`` is all that the command says (docs/format/predict.md), ``text`` a table.
    A notebook shows the table with bars; ``plot()`` draws the curve.
    """

    def __init__(self, data):
        self.data = data
        self.points = [_point(p) for p in data["points"]]
        best = (data["best"]["workers"], data["best"]["servers"])
        self.best = next(p for p in self.points if (p.workers, p.servers) == best)
        self.advice, self.notes = data["advice"], data["notes"]

    @property
    def text(self):
        """The table, the advice and the notes."""
        return "\n".join([table([_HEADS, *map(_cells, self.points)], left=(5,)), "", *self.advice,
                          *(f"note: {note}" for note in self.notes)])

    def plot(self, ax=None):
        """Draws steps per second over workers with their intervals, with matplotlib; returns the axes.

        ``ax``: axes to draw on; left out, those of a new figure. Raises ImportError without matplotlib.
        """
        return _plots.prediction(self.points, ax)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<ps.Prediction of {len(self.points)} sizes: {_sentence(self.best)}>"

    def _repr_html_(self):
        most = max(p.steps_per_second for p in self.points) or 1
        rows = [(*_cells(p), _pages.bar((p.steps_per_second / most, _pages.CEILING))) for p in self.points]
        return _pages.fragment(_pages.paragraph(f"best: {_sentence(self.best)}", strong=True),
                               _pages.grid((*_HEADS, ""), rows, left=(5, 6)), *map(_pages.paragraph, self.advice),
                               *(_pages.paragraph(f"note: {note}", note=True) for note in self.notes))


_HEADS = ("workers", "servers", "steps/s", "90 % interval", "examples/s", "binds")


def _cells(p):
    interval = f"{p.low:.2f}..{p.high:.2f}" if p.has_interval else "-"
    examples = "-" if p.examples_per_second is None else f"{p.examples_per_second:.4g}"
    return str(p.workers), str(p.servers), f"{p.steps_per_second:.2f}", interval, examples, p.binds


def _sentence(p):
    def counted(n, what):
        return f"{n} {what}{'s' * (n != 1)}"
    size = counted(p.workers, "worker") + (f", {counted(p.servers, 'server')}" if p.servers else ", all-reduce")
    return f"{size}: {p.steps_per_second:.4g} steps/s, {p.binds} binds"


def _point(p):
    return PredictionPoint(p["workers"], p["servers"], p["steps_per_s"], p["low"], p["high"], p["binds"], p["use"],
                           p.get("examples_per_s"), p.get("price_per_hour"))


def predict(profile, workers=range(1, 9), servers=None, **options):
    """Predicts from one worker's profile how fast training runs on each size of a cluster.

    ``profile``: a file or a folder (TensorFlow RunMetadata, a Kineto or Chakra trace of PyTorch DDP, docs/format/profile.md),
    or a list of them, one for each kind of worker. ``workers`` and ``servers``: a number or several; left out, servers are
    as recorded. ``options`` are the flags of `penstock predict`, with _ for -: ``bandwidth="1Gbit"``, ``policy="fifo"``,
    ``batch_scale=2``; ``penstock predict --help`` lists them. Runs that command (PENSTOCK_COMMAND, the package's own, or
    the first in PATH). Raises what the command says: ps.NotFound for a missing file, ps.InvalidArgument for a wrong option.

        curve = ps.predict("profile.json", workers=range(1, 17), servers=[1, 2], bandwidth="1Gbit")
        curve.best.workers, curve.plot()
    """
    profiles = [profile] if isinstance(profile, (str, os.PathLike)) else profile
    words = [*map(os.fspath, profiles), *_command.flags({"workers": workers, "servers": servers, **options})]
    return Prediction(_command.answer("predict", words))
