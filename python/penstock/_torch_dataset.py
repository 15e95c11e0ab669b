"""Elements as tensors of PyTorch, for training loops and for torch.utils.data.DataLoader."""
import collections
import itertools
import os

import torch

from ._arrays import Ragged, Sparse
from ._errors import Error


class TorchDataset(torch.utils.data.IterableDataset):
    """See ps.torch."""

    def __init__(self, dataset, device, ahead, shard):
        super().__init__()
        self.dataset, self.device, self.ahead, self.shard = dataset, device, ahead, shard
        self._iterator = self._next_state = None
        self._given = None  # the state behind the element given last, while others are on their way to a device

    def _mine(self):
        rank, count = rank_and_count() if self.shard else (0, 1)
        worker = torch.utils.data.get_worker_info()
        if worker is not None:
            rank, count = rank * worker.num_workers + worker.id, count * worker.num_workers
        return self.dataset.shard(count, rank) if count > 1 else self.dataset

    def __iter__(self):
        dataset = self._mine()
        state, self._next_state = self._next_state, None
        iterator = dataset.iterate() if state is None else dataset.restore(state)
        self._iterator, self._given = iterator, None
        if self.device is None or torch.device(self.device).type != "cuda":
            for element in iterator:
                out = to_torch(element)
                yield out if self.device is None else moved(out, lambda t: t.to(self.device))
        else:
            yield from self._ahead(iterator)

    def _ahead(self, iterator):
        """The elements, copied to the device on a stream of its own; an error comes at its place."""
        stream = torch.cuda.Stream(self.device)
        self._given = iterator.save_state()
        waiting = collections.deque()
        copies = self._copies(iterator, stream)
        while True:
            waiting.extend(itertools.islice(copies, self.ahead + 1 - len(waiting)))
            if not waiting:
                return
            error, copied, _, done, self._given = waiting.popleft()
            if error is not None:
                raise error
            current = torch.cuda.current_stream(self.device)
            current.wait_event(done)
            moved(copied, lambda t: t.record_stream(current))
            yield copied

    def _copies(self, iterator, stream):
        """(error, element on the device, in pinned memory, event behind the copy, state behind the element)."""
        for element in _with_errors(iterator):
            if isinstance(element, Exception):
                yield element, None, None, None, iterator.save_state()
                continue
            pinned = moved(to_torch(element), lambda t: t.pin_memory())
            with torch.cuda.stream(stream):
                copied = moved(pinned, lambda t: t.to(self.device, non_blocking=True))
                done = torch.cuda.Event()
                done.record(stream)
            yield None, copied, pinned, done, iterator.save_state()

    def __getstate__(self):
        return {**self.__dict__, "_iterator": None, "_given": None}

    def __len__(self):
        return len(self._mine())

    def state_dict(self):
        """Where it stands, behind the element that was given last."""
        if self._next_state is not None:
            return {"penstock": self._next_state}
        if self._iterator is None:
            return {"penstock": None}
        return {"penstock": self._given or self._iterator.save_state()}

    def load_state_dict(self, state):
        """The next iteration goes on there."""
        self._next_state = state["penstock"]


def _with_errors(iterator):
    while True:
        try:
            yield next(iterator)
        except StopIteration:
            return
        except Error as e:
            yield e


def rank_and_count():
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def to_torch(x):
    """An element with tensors for its arrays and numbers."""
    if isinstance(x, dict):
        return {k: to_torch(v) for k, v in x.items()}
    if isinstance(x, (Ragged, Sparse)):
        return type(x)(*(to_torch(v) for v in x))
    if isinstance(x, tuple):
        return tuple(to_torch(v) for v in x)
    if x is None or isinstance(x, bytes) or not hasattr(x, "dtype"):
        return x
    if x.dtype == object:
        return x.tolist()
    shared = getattr(x.base, "obj", x.base)  # a memoryview of penstock._core's array
    return torch.from_dlpack(shared) if hasattr(shared, "__dlpack__") else torch.as_tensor(x)


def moved(x, move):
    if isinstance(x, dict):
        return {k: moved(v, move) for k, v in x.items()}
    if isinstance(x, tuple):
        parts = [moved(v, move) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return move(x) if hasattr(x, "pin_memory") else x
