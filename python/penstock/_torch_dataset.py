"""Elements as tensors of PyTorch, for training loops and for torch.utils.data.DataLoader."""
import os

import torch

from ._arrays import shared
from ._feed import Feed, converted


class TorchDataset(Feed, torch.utils.data.IterableDataset):
    """See ps.torch."""

    def __init__(self, dataset, device, ahead, shard):
        super().__init__(dataset, device, ahead, shard)
        self._stream = None

    def _rank_and_count(self):
        rank, count = rank_and_count()
        worker = torch.utils.data.get_worker_info()
        if worker is not None:
            rank, count = rank * worker.num_workers + worker.id, count * worker.num_workers
        return rank, count

    def __iter__(self):
        if self.device is not None and torch.device(self.device).type == "cuda":
            self._stream = torch.cuda.Stream(self.device)
        return super().__iter__()

    def _converted(self, element):
        return to_torch(element)

    def _copied(self, element):
        """On CUDA: (the element there, in pinned memory, event after the copy), copied on a stream of its own."""
        element = to_torch(element)
        if self._stream is None:
            return moved(element, lambda t: t.to(self.device))
        pinned = moved(element, lambda t: t.pin_memory())
        with torch.cuda.stream(self._stream):
            copied = moved(pinned, lambda t: t.to(self.device, non_blocking=True))
            done = torch.cuda.Event()
            done.record(self._stream)
        return copied, pinned, done

    def _arrived(self, copied):
        if self._stream is None:
            return copied
        element, _, done = copied
        current = torch.cuda.current_stream(self.device)
        current.wait_event(done)
        moved(element, lambda t: t.record_stream(current))
        return element

    def __getstate__(self):
        return {**super().__getstate__(), "_stream": None}


def rank_and_count():
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))


def to_torch(x):
    """An element with tensors for its arrays and numbers."""
    return converted(x, _tensor)


def _tensor(x):
    array = shared(x)
    return torch.as_tensor(x) if array is None else torch.from_dlpack(array)


def moved(x, move):
    if isinstance(x, dict):
        return {k: moved(v, move) for k, v in x.items()}
    if isinstance(x, tuple):
        parts = [moved(v, move) for v in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return move(x) if hasattr(x, "pin_memory") else x
