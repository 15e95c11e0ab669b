"""A bar on stderr that says how far an iteration is, how fast, and how much of its time it waits for data."""
import sys
import threading
import time

from ._quantities import rate_text, scaled

_EVERY_SECONDS = 0.1
_WIDTH = 20


class Bar:
    """The line that is drawn. ``file``: where to, even if it is no terminal; left out, stderr if it is one, else nowhere."""

    def __init__(self, total, file=None):
        self.total = total if total is None or total >= 0 else None
        self.file = file if file is not None else sys.stderr if _is_terminal(sys.stderr) else None
        self._begun, self._next, self._width = time.perf_counter(), 0.0, 0

    def is_due(self, now):
        """True once each tenth of a second."""
        if self.file is None or now < self._next:
            return False
        self._next = now + _EVERY_SECONDS
        return True

    def draw(self, elements, waited_seconds, end=""):
        """Draws the line over the one before."""
        line = self.line(elements, time.perf_counter() - self._begun, waited_seconds)
        self.file.write(f"\r{line.ljust(self._width)}{end}")
        self.file.flush()
        self._width = len(line)

    def line(self, elements, seconds, waited_seconds):
        """The text of the line.

        >>> Bar(400).line(100, 2.0, 0.5)
        ' 25 % |█████               | 100/400 50/s, 0:06 left, waited 25 %'
        >>> Bar(None).line(1500, 2.0, 0.5)
        '1.5k elements 750/s, 0:02, waited 25 %'
        """
        rate = elements / seconds if seconds > 0 else 0
        waited = f"waited {100 * min(waited_seconds / seconds, 1) if seconds > 0 else 0:.0f} %"
        if self.total is None:
            return f"{scaled(elements)} elements {rate_text(rate)}, {_clock(seconds)}, {waited}"
        share = min(elements / self.total, 1) if self.total else 1
        filled = "█" * int(share * _WIDTH)
        left = f"{_clock((self.total - elements) / rate)} left" if rate and elements < self.total else _clock(seconds)
        return f"{100 * share:3.0f} % |{filled:<{_WIDTH}}| {scaled(elements)}/{scaled(self.total)} {rate_text(rate)}, {left}, {waited}"


def _is_terminal(stream):
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def _clock(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Drawn:
    """An iterator that draws its bar as it goes; see ps.progress. It has the methods of ps.Iterator, too."""

    def __init__(self, iterator, total, file):
        self._iterator, self._bar, self._elements, self._is_open = iterator, Bar(total, file), 0, True
        self._waited_before = iterator.stats()["next_seconds"]

    def __getattr__(self, name):
        if name == "_iterator":  # __init__ did not come so far
            raise AttributeError(name)
        return getattr(self._iterator, name)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            element = next(self._iterator)
        except StopIteration:
            self.close()
            raise
        self._elements += 1
        if self._bar.is_due(time.perf_counter()):
            self._draw("")
        return element

    def _draw(self, end):
        self._bar.draw(self._elements, max(self._iterator.stats()["next_seconds"] - self._waited_before, 0), end)

    def close(self):
        """Draws the last state and ends the line."""
        if self._is_open and self._bar.file is not None:
            self._draw("\n")
        self._is_open = False

    def __del__(self):
        if self.__dict__.get("_is_open") and not sys.is_finalizing():
            self.close()


def progress(data, total=None, file=None):
    """Iterates over a dataset, or goes on with an iterator of one, with a bar on stderr.

    The bar has the elements so far, their rate and the share of the time in which the loop waited for data. It is silent
    when stderr is no terminal; ``file`` is where to draw instead, terminal or not. ``total``: the number of elements, for
    iterators and for datasets whose length is not known. The result has the methods of ps.Iterator.

    >>> import io, penstock as ps
    >>> out = io.StringIO()
    >>> for x in ps.progress(ps.range(3), file=out):
    ...     pass
    >>> out.getvalue().split("\\r")[-1].split(" ", 2)[0]
    '100'
    """
    from ._dataset import Dataset
    if isinstance(data, Dataset):
        total = data._core.cardinality() if total is None else total
        data = data.iterate()
    return Drawn(data, total, file)


def drained(iterator, total, file=None):
    """Drains penstock._core's iterator; a thread draws the bar meanwhile."""
    bar, done = Bar(total, file), threading.Event()

    def draw(end=""):
        stats = iterator._stats()
        bar.draw(stats["elements"], stats["next_seconds"], end)

    def watch():
        while not done.wait(_EVERY_SECONDS):
            draw()

    if bar.file is None:
        return iterator._drain()
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        return iterator._drain()
    finally:
        done.set()
        thread.join()
        draw("\n")
