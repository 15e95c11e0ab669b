"""Feeds: datasets for training loops of one framework; ps.torch and ps.jax are made of this."""
import collections
import itertools
import time

from ._arrays import Ragged, Sparse
from ._errors import Error


class Feed:
    """A dataset, this process's part of it, the epoch, and where the training stands.

    A class of a framework adds ``_rank_and_count()``, and ``_copies(iterator)`` where elements go to a device.
    """

    def __init__(self, dataset, ahead, shard):
        if ahead < 0:
            raise ValueError(f"ahead must not be negative: {ahead}")
        self.dataset, self.ahead, self.shard = dataset, ahead, shard
        self._epoch = 0  # of the next iteration
        self._iterator = self._next_state = None
        self._given = None  # the state after the element given last, while others are on their way to a device
        self._part = None  # ((rank, count), the dataset): one object, since it keeps caches

    def _mine(self):
        part = self._rank_and_count() if self.shard else (0, 1)
        if self._part is None or self._part[0] != part:
            rank, count = part
            self._part = part, self.dataset.shard(count, rank) if count > 1 else self.dataset
        return self._part[1]

    def _opened(self):
        """The iterator of the next epoch, or of the state that was loaded."""
        state, self._next_state = self._next_state, None
        dataset = self._mine()
        self._given = None
        self._iterator = dataset.iterate(epoch=self._epoch) if state is None else dataset.restore(state)
        self._epoch += 1
        return self._iterator

    def _ahead(self, iterator):
        """What ``_copies`` gives, begun for the next ``ahead`` elements; an error comes at its place."""
        self._given = iterator.save_state()
        waiting = collections.deque()
        copies = self._copies(iterator)
        while True:
            waiting.extend(itertools.islice(copies, self.ahead + 1 - len(waiting)))
            if not waiting:
                return
            error, copied, self._given = waiting.popleft()
            if error is not None:
                raise error
            yield copied

    def __getstate__(self):
        return {**self.__dict__, "_iterator": None, "_given": None, "_part": None}

    def __len__(self):
        return len(self._mine())

    def set_epoch(self, epoch):
        """The next iteration draws its random numbers by ``epoch``, the same in all processes.

        Without it each iteration is one epoch further. A state that was loaded stays if it is of this epoch.
        """
        if epoch < 0:
            raise ValueError(f"an epoch is counted from 0: {epoch}")
        if epoch != self._epoch:
            self._next_state = None
        self._epoch = epoch

    def state_dict(self):
        """Where it stands, after the element that was given last."""
        if self._next_state is not None:
            return {"penstock": self._next_state, "epoch": self._epoch}
        if self._iterator is None:
            return {"penstock": None, "epoch": self._epoch}
        return {"penstock": self._given or self._iterator.save_state(), "epoch": self._epoch - 1}

    def load_state_dict(self, state):
        """The next iteration goes on there."""
        self._next_state = state["penstock"]
        self._epoch = state.get("epoch", 0)

    get_state, set_state = state_dict, load_state_dict  # Grain's names


def with_errors(iterator):
    """Its elements, and an Error in the place of an element that failed."""
    while True:
        try:
            yield next(iterator)
        except StopIteration:
            return
        except Error as e:
            yield e


class timed:
    """Counts the time inside as that of the iterator's copies to a device."""

    def __init__(self, iterator, device):
        self.iterator, self.device = iterator, device

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *_):
        copies = self.iterator.copies or (str(self.device), 0, 0.0)
        self.iterator.copies = (copies[0], copies[1] + 1, copies[2] + time.perf_counter() - self.begin)


def converted(x, leaf):
    """An element with leaf(x) for its arrays and numbers; strings are bytes, or lists of bytes."""
    if isinstance(x, dict):
        return {k: converted(v, leaf) for k, v in x.items()}
    if isinstance(x, (Ragged, Sparse)):
        return type(x)(*(converted(v, leaf) for v in x))
    if isinstance(x, tuple):
        return tuple(converted(v, leaf) for v in x)
    if x is None or isinstance(x, bytes) or not hasattr(x, "dtype"):
        return x
    return x.tolist() if x.dtype == object else leaf(x)
