"""The rate at which a Python loop gets the elements of a dataset, over several epochs."""
import json
import time


class _Pass:
    """One pass over a dataset, left after `seconds` from its first element on.

    The rate of a pass that ended is that of all of it. Of one that was left its second half counts: buffers that were full
    before are used up by then.
    """

    def __init__(self, dataset, seconds):
        self._iterator = dataset.iterate()
        begun = time.perf_counter()
        n, n_half, half, end, now = 0, 0, 0.0, None, begun
        self.ended = True
        for _ in self._iterator:
            now = time.perf_counter()
            n += 1
            if end is None:
                half, end = now + seconds / 2, now + seconds
            if now < half or not n_half:
                n_half, half_time = n, now
            elif now >= end:
                self.ended = False
                break
        self.seconds = time.perf_counter() - begun
        if self.ended:
            self.rate = n / self.seconds if self.seconds > 0 else 0.0
        else:
            self.rate = (n - n_half) / (now - half_time)

    def saw_all(self):
        """False if data was left that no element came from."""
        return self.ended or (self._iterator.explain().data["trust"]["coverage"] or 0) >= 1

    def fills_a_cache(self):
        """True if later passes may be faster than this one."""
        return any(stage.get("caches") for stage in json.loads(self._iterator.trace())["stages"])


def rate_of_passes(first, later, epochs):
    """Elements per second over all epochs.

    >>> rate_of_passes(10.0, 40.0, 2), rate_of_passes(10.0, 40.0, 1)
    (16.0, 10.0)
    """
    if not first or not later:
        return 0.0
    return epochs / (1 / first + (epochs - 1) / later)


def measured_rate(dataset, seconds, epochs, later_over_first):
    """-> (elements per second over `epochs` passes, how that is known).

    Takes elements for about `seconds`: the first pass and, if it ends before, later ones, of which the median counts. If it
    does not, and the pipeline has a cache, later passes are taken to be `later_over_first` times as fast.
    """
    first = _Pass(dataset, seconds)
    left = seconds - first.seconds
    if epochs > 1 and first.ended and first.rate and left > 0:
        later, total = [], 0.0
        while len(later) < epochs - 1 and total < left and (not later or later[-1].ended):
            later.append(_Pass(dataset, left - total))
            total += later[-1].seconds
        rates = sorted(p.rate for p in later if p.ended or len(later) == 1)
        return rate_of_passes(first.rate, rates[len(rates) // 2], epochs), f"{1 + len(later)} passes"
    if epochs > 1 and not first.saw_all() and first.fills_a_cache():
        return rate_of_passes(first.rate, first.rate * later_over_first, epochs), "first pass, later ones predicted"
    return rate_of_passes(first.rate, first.rate, epochs), "one pass" if first.ended else "part of a pass"
