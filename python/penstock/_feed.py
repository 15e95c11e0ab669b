"""Feeds: datasets for training loops of one framework; ps.torch and ps.jax are made of this."""
from ._arrays import Ragged, Sparse
from ._device_copies import CopiedAhead, DeviceCopies
from ._errors import FailedPrecondition


class Feed:
    """A dataset, this process's part of it, the epoch, and where the training stands.

    A class of a framework adds ``_rank_and_count()``, ``_converted(element)``, ``_copied(element)`` which begins to copy one to
    ``device``, and ``_arrived(copied)`` for what the trainer's thread must wait for.
    """

    def __init__(self, dataset, device, ahead, shard):
        if ahead < 0:
            raise ValueError(f"ahead must not be negative: {ahead}")
        self.dataset, self.device, self.ahead, self.shard = dataset, device, ahead, shard
        self._epoch = 0  # of the next iteration
        self._iterator = self._next_state = None
        self._copies = None  # the elements on their way to a device, of which the iterator knows no state
        self._part = None  # ((rank, count), the dataset): one object, since it keeps caches

    def __iter__(self):
        iterator = self._opened()
        if self.device is None:
            return map(self._converted, iterator)
        iterator.copies = DeviceCopies(self.device, self.ahead)
        self._copies = CopiedAhead(iterator, self._copied, self.ahead)
        return map(self._arrived, self._copies)

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
        self._copies = None
        self._iterator = dataset.iterate(epoch=self._epoch) if state is None else dataset.restore(state)
        self._epoch += 1
        return self._iterator

    def _arrived(self, copied):
        return copied

    def __getstate__(self):
        return {**self.__dict__, "_iterator": None, "_copies": None, "_part": None}

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
        state = self._iterator.save_state() if self._copies is None else self._copies.state
        return {"penstock": state, "epoch": self._epoch - 1}

    def load_state_dict(self, state):
        """The next iteration goes on there."""
        self._next_state = state["penstock"]
        self._epoch = state.get("epoch", 0)

    get_state, set_state = state_dict, load_state_dict  # Grain's names

    def stats(self):
        """What the last iteration has counted so far; see Iterator.stats. Copies to a device are the first stage."""
        return self._last().stats()

    def explain(self):
        """What has limited the rate of the last iteration so far, copies to a device included; see Iterator.explain."""
        return self._last().explain()

    def trace(self):
        """The text of a trace of the last iteration so far; see Iterator.trace."""
        return self._last().trace()

    def _last(self):
        if self._iterator is None:
            raise FailedPrecondition("nothing has been iterated in this process: take elements first")
        return self._iterator


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
