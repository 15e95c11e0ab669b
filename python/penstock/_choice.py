"""Reports of ps.optimize: what was tried, what was chosen, and why."""
import typing

from . import _pages
from ._dataset import Dataset
from ._quantities import rate_text, table


class Candidate(typing.NamedTuple):
    """One pipeline that ps.optimize looked at.

    ``arguments``: those of pick_best that made it. ``plan``: "as written" or "optimized". ``rate``: measured, elements per
    second over all epochs; None if it failed. ``note``: how the rate is known, or the error.
    """

    arguments: dict
    plan: str
    rate: typing.Optional[float]
    note: str

    @property
    def name(self):
        """Arguments and plan in words."""
        return ", ".join([*(f"{k}={v!r}" for k, v in self.arguments.items()), self.plan])


class Choice:
    """The report of ps.optimize: ``chosen`` is a ps.Candidate, one of ``candidates``, and ``reason`` says why in a sentence.

    ``changes`` are those of the optimizer to the pipeline chosen: (text, predicted rate after it). ``remembered``: the result
    of an earlier call was used. ``file``: where it is kept for later ones, None if it is not; ``notes`` say why, and more.
    """

    def __init__(self, candidates, index, reason, changes=(), notes=(), file=None, remembered=False):
        self.candidates, self.index, self.reason = candidates, index, reason
        self.changes, self.notes = [tuple(c) for c in changes], list(notes)
        self.file, self.remembered = file, remembered

    @property
    def chosen(self):
        """The candidate that was chosen."""
        return self.candidates[self.index]

    def _rows(self):
        return [(c.name, rate_text(c.rate), c.note, "chosen" if i == self.index else "") for i, c in enumerate(self.candidates)]

    def _lines(self):
        return [*(f"{what} -> {rate_text(rate)}" for what, rate in self.changes), *self.notes]

    def __str__(self):
        return "\n".join([self.reason, table(self._rows(), left=(0, 2, 3)), *self._lines()])

    def __repr__(self):
        return f"<ps.Choice: {self.reason}>"

    def _repr_html_(self):
        return _pages.fragment(_pages.paragraph(self.reason, strong=True),
                               _pages.grid(("pipeline", "rate", "measured over", ""), self._rows(), left=(0, 2, 3)),
                               *(_pages.paragraph(line, note=True) for line in self._lines()))


class OptimizedDataset(Dataset):
    """A dataset that ps.optimize chose: ``report``, a ps.Choice, says why. Its methods give plain datasets."""

    __slots__ = ("report",)

    def __init__(self, dataset, report):
        super().__init__(dataset._core, dataset._codes)
        self.report = report

    def __repr__(self):
        return f"{super().__repr__()[:-1]}; {self.report.reason}>"

    def _repr_html_(self):
        return super()._repr_html_() + self.report._repr_html_()


def reason(candidates, index):
    """The sentence that says why a candidate was chosen."""
    chosen = candidates[index]
    if not chosen.rate:
        return f"{chosen.name}: no elements came out that could be measured"
    others = [c for i, c in enumerate(candidates) if i != index and c.rate]
    out = f"{chosen.name} runs at {rate_text(chosen.rate)}"
    if others:
        next_best = max(others, key=lambda c: c.rate)
        out += f", {chosen.rate / next_best.rate:.3g} times the rate of {next_best.name}"
    else:
        out += ": nothing was found that is faster" if len(candidates) == 1 else ": the others failed"
    return out
