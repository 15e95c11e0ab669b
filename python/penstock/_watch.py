"""Watching a training loop: how much of its time it waits for data."""
import threading

watching = []  # those in whose `with` statement some thread is
_lock = threading.Lock()


class watch:
    """``with ps.watch(ds): train()`` prints at its end how much of each step the trainer waited, and what to do about it.

    It looks at every iteration over ``ds`` that begins inside (left out: over any dataset). ``steps``,
    ``seconds``, ``waited_seconds``, ``copy_seconds`` (of ps.torch and ps.jax to a device) and ``explanation`` (of the longest
    iteration; None before the end) are there afterwards; ``file`` is where it prints to, as for print(); ``quiet`` prints nothing. It costs nothing while the loop runs.

    >>> import penstock as ps
    >>> ds = ps.range(1000).batch(10)
    >>> with ps.watch(ds, quiet=True) as seen:
    ...     for epoch in range(2):
    ...         for batch in ds:
    ...             pass
    >>> seen.steps
    200
    """

    def __init__(self, dataset=None, file=None, quiet=False):
        self.dataset, self.file, self.quiet = dataset, file, quiet
        self.steps = 0
        self.seconds = self.waited_seconds = self.copy_seconds = 0.0
        self._device = ""
        self.explanation = None
        self._iterators = []
        self._longest_seconds = -1.0

    def __enter__(self):
        with _lock:
            watching.append(self)
        return self

    def __exit__(self, *_):
        with _lock:
            watching.remove(self)
        self._take(lambda stats: True)
        if not self.quiet:
            print(self, file=self.file)

    def add(self, dataset, iterator):
        """An iteration begins."""
        if self.dataset is None or dataset._core is self.dataset._core:
            self._take(lambda stats: stats["ended"])
            self._iterators.append(iterator)

    def _take(self, is_done):
        for iterator in list(self._iterators):
            stats = iterator.stats()
            if not is_done(stats):
                continue
            self._iterators.remove(iterator)
            self.steps += stats["elements"]
            self.seconds += stats["next_seconds"] + stats["consumer_seconds"]
            self.waited_seconds += stats["next_seconds"]
            if iterator.copies:
                self._device = iterator.copies.device
                self.copy_seconds += iterator.copies.seconds
            if stats["elements"] and stats["seconds"] > self._longest_seconds:
                self._longest_seconds, self.explanation = stats["seconds"], iterator.explain()

    def __str__(self):
        if not self.steps:
            return "no steps: nothing was taken from the dataset"
        share = 100 * self.waited_seconds / self.seconds if self.seconds else 0
        copies = f"; copies to {self._device} took {1e3 * self.copy_seconds / self.steps:.3g} ms" if self._device else ""
        return (f"{self.steps} steps in {self.seconds:.3g} s, {1e3 * self.seconds / self.steps:.3g} ms each; the trainer waited "
                f"{1e3 * self.waited_seconds / self.steps:.3g} ms of them ({share:.0f} %){copies}\n{self.explanation.verdict}")
