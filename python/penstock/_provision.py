"""ps.provision: the least machine that reaches a rate."""
import json
import os
import pathlib
import typing

from . import _command, _pages
from ._errors import InvalidArgument
from ._quantities import bytes_text, rate_text, table


class ProvisionOption(typing.NamedTuple):
    """One way to reach the rate, once its caches are full.

    ``cached``: stages after which a memory cache stands. ``cores`` with the ends of their 90 % interval, None if the run was too
    short for one. ``memory_bytes`` is estimated.
    """

    cached: tuple
    cores: float
    cores_low: typing.Optional[float]
    cores_high: typing.Optional[float]
    disk_bytes_per_second: float
    memory_bytes: int

    @property
    def way(self):
        """'without a cache', or where caches stand."""
        return "cache after " + ", ".join(self.cached) if self.cached else "without a cache"


class Provision:
    """The machine that a rate needs; see ps.provision.

    ``options`` are ps.ProvisionOption, ascending by memory; ``best`` is the first that the machine has room for, None if there is
    none. ``limit`` says what holds the rate then: "cores", "disk", "memory" or "stage" (one that runs on one thread).
    ``cheapest`` is None without prices. ``data`` is all of it (docs/format/provision.md), ``text`` a table.
    """

    def __init__(self, data):
        self.data = data
        self.rate, self.reached = data["rate"], data["reached"]
        self.options = [_option(o) for o in data["options"]]
        self.best = self.options[data["fits"]] if self.reached else None
        self.limit = None if self.reached else data["machine"]["binds"]
        self.cheapest = data["cheapest"]

    @property
    def verdict(self):
        """What the rate needs, or why it is not reached, in a sentence."""
        if self.best:
            return f"{rate_text(self.rate)} needs {', '.join(_cells(self.best)[1:])}, {self.best.way}"
        machine = self.data["machine"]
        return f"{rate_text(self.rate)} is not reached: {machine['stage'] or machine['binds']} allows {rate_text(machine['rate'])}"

    @property
    def text(self):
        """The sentence and the options."""
        return "\n".join([self.verdict, "", table([_HEADS, *map(_cells, self.options)])] if self.options else [self.verdict])

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<ps.Provision: {self.verdict}>"

    def _repr_html_(self):
        return _pages.fragment(_pages.paragraph(self.verdict, strong=True), _pages.grid(_HEADS, [*map(_cells, self.options)]))


_HEADS = ("", "cores", "storage", "memory")


def _cells(option):
    return option.way, f"{option.cores:.2f} cores", f"{bytes_text(option.disk_bytes_per_second)}/s", bytes_text(option.memory_bytes)


def _option(o):
    return ProvisionOption(tuple(o["cached"]), o["cores"]["value"], o["cores"]["low"], o["cores"]["high"],
                           o["disk_bytes_per_second"], o["memory_bytes"])


def provision(dataset, target, prices=None, **options):
    """Says which cores, storage and memory a dataset needs to give ``target`` elements a second, with and without caches.

    ``prices``: a file, or its contents as a dict (docs/format/provision.md), to find the cheapest machine. ``options`` are the
    flags of `penstock provision`, with _ for -: ``cores=16``, ``within_memory="64GB"`` and ``disk_bandwidth="500MB/s"`` describe
    the machine that is there, ``seconds=10`` measures longer. Runs that command (see ps.predict). Raises ps.FailedPrecondition
    for a dataset that calls Python code or gives no element, and the errors of the pipeline.

        needs = ps.provision(ds, target=40)
        needs.best.cores, needs.best.memory_bytes, needs.text
    """
    if not target > 0:
        raise InvalidArgument(f"target must be a positive rate: {target}", "provision")
    with _command.pipeline_files("provision", {"dataset": dataset}) as [file]:
        words = [file, "--target", f"{target:.9g}", *_command.flags(options)]
        if prices is not None:
            if not isinstance(prices, (str, os.PathLike)):
                given, prices = prices, os.path.join(os.path.dirname(file), "prices.json")
                pathlib.Path(prices).write_text(json.dumps(given), encoding="utf-8")
            words += ["--prices", os.fspath(prices)]
        return Provision(_command.answer("provision", words))
