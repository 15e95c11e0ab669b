"""What every source must do: the peer's values, passes, ranks, and states at every element."""
import unittest

import numpy as np

import penstock as ps


def plain(x):
    """An element as Python's values; a ragged tensor as lists."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, ps.Ragged):
        rows = x.values.tolist()
        for splits in reversed(x.splits):
            rows = [rows[a:b] for a, b in zip(splits[:-1].tolist(), splits[1:].tolist())]
        return rows
    if isinstance(x, tuple):
        return tuple(plain(v) for v in x)
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


class SourceCase(unittest.TestCase):
    maxDiff = None

    def check_source(self, make, expected, again=None):
        """``make()`` gives the dataset; ``again()``, left out ``make``, one that takes its states."""
        again = again or make
        ds = make()
        self.assertEqual([plain(e) for e in ds], expected)
        self.assertEqual([plain(e) for e in ds.repeat(2)], expected * 2)
        shares = [[plain(e) for e in ds[rank::3]] for rank in range(3)]
        self.assertEqual(shares, [expected[rank::3] for rank in range(3)])
        it = ds.iterate()
        for n in range(len(expected) + 1):
            state = it.save_state()
            self.assertEqual([plain(e) for e in again().restore(state)], expected[n:], f"restored after {n}")
            self.assertEqual(plain(next(it, None)), expected[n] if n < len(expected) else None)
