"""ps.stall: the parts of a training step: waiting for storage, waiting for work, and the consumer's own time."""
import typing

from . import _command, _pages
from ._errors import InvalidArgument
from ._quantities import rate_text, seconds_text, table


class StepPart(typing.NamedTuple):
    """Seconds of a step: the mean over the rounds and its 90 % interval.

    A part is the difference of two measured runs: it, and its ends, may lie below 0.
    """

    value: float
    low: float
    high: float


class Stall:
    """The parts of a training step; see ps.stall.

    ``storage`` and ``work`` are the times for which the consumer waits, ``consumer`` is its own: ps.StepPart, which add up to
    ``step_seconds``. ``verdict`` is a sentence, ``data`` all of it (docs/format/stall.md), ``text`` a table.
    """

    def __init__(self, data):
        self.data = data
        self.verdict, self.step_seconds = data["verdict"], data["step_seconds"]
        self.storage, self.work, self.consumer = (StepPart(part["value"], part["low"], part["high"]) for part in
                                                  (data["waits_for_storage"], data["waits_for_work"], data["consumer"]))

    @property
    def waiting_share(self):
        """The share of a step in which the consumer waits, from 0 to 1."""
        return min(1.0, max(0.0, (self.storage.value + self.work.value) / self.step_seconds))

    @property
    def text(self):
        """The sentence, the parts and the runs."""
        return "\n".join([self.verdict, "", table([_PARTS, *self._parts()]), "", table([("", "steps per second"), *self._runs()])])

    def _parts(self):
        def row(name, part):
            ends = (seconds_text(max(0.0, end)) for end in (part.low, part.high))
            value = max(0.0, part.value)
            return name, seconds_text(value), f"{value / self.step_seconds:.0%}", " to ".join(ends)
        own = "the consumer's own" if self.data["consumer_seconds"] else "handing over"
        return [row("waits for storage", self.storage), row("waits for work", self.work), row(own, self.consumer)]

    def _runs(self):
        runs = self.data["runs"]
        shown = [("the whole pipeline", runs["whole"]), ("with its files in memory", runs["in_memory"]),
                 ("one element again and again", runs["one_element"]), (f"its source alone, up to {self.data['source']}", runs["source"])]
        return [(name, rate_text(1 / seconds)) for name, seconds in shown if seconds]

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<ps.Stall: {self.verdict}>"

    def _repr_html_(self):
        return _pages.fragment(_pages.paragraph(self.verdict, strong=True), _pages.grid(_PARTS, self._parts()),
                               _pages.grid(("", "steps per second"), self._runs()))


_PARTS = ("", "of a step", "share", "90 % interval")


def stall(dataset, consumer=0.0, seconds=20.0, **options):
    """Splits a training step into waiting for storage, waiting for work, and the consumer's own time.

    ``consumer``: its work on each element, in seconds; 0 takes elements as fast as they come. Runs the dataset in turn as it is,
    with its files in memory, and one element again and again, each with such a consumer. ``cold=True`` drops the files from the
    page cache before each run that reads them. ``options`` are the other flags of `penstock stall`, with _ for -:
    ``threads=2``. Runs that command (see ps.predict). Raises ps.FailedPrecondition for a dataset that calls Python code or gives
    fewer than two elements, and the errors of the pipeline.

        step = ps.stall(ds, consumer=0.025)
        step.waiting_share, step.storage.value, step.verdict
    """
    if not seconds > 0:
        raise InvalidArgument(f"seconds must be positive: {seconds}", "stall")
    if not consumer >= 0:
        raise InvalidArgument(f"consumer must be at least 0 seconds: {consumer}", "stall")
    with _command.pipeline_files("stall", {"dataset": dataset}) as [file]:
        data = _command.answer("stall", [file, "--consumer", f"{consumer:.9f}", "--seconds", str(seconds), *_command.flags(options)])
        data["verdict"] = data["verdict"].replace(f"`penstock optimize {file}`", "`ds.optimize()`")
    return Stall(data)
