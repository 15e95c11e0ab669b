"""Elements as tensors of PyTorch, for training loops and for torch.utils.data.DataLoader."""
import os

import torch

from ._arrays import shared
from ._feed import Feed, converted, timed, with_errors


class TorchDataset(Feed, torch.utils.data.IterableDataset):
    """See ps.torch."""

    def __init__(self, dataset, device, ahead, shard):
        super().__init__(dataset, ahead, shard)
        self.device = device
        self._stream = None

    def _rank_and_count(self):
        rank, count = rank_and_count()
        worker = torch.utils.data.get_worker_info()
        if worker is not None:
            rank, count = rank * worker.num_workers + worker.id, count * worker.num_workers
        return rank, count

    def __iter__(self):
        iterator = self._opened()
        if self.device is not None and torch.device(self.device).type == "cuda":
            yield from self._on_cuda(iterator)
            return
        for element in iterator:
            out = to_torch(element)
            if self.device is not None:
                with timed(iterator, self.device):
                    out = moved(out, lambda t: t.to(self.device))
            yield out

    def _on_cuda(self, iterator):
        """The elements, copied to the device on a stream of its own."""
        self._stream = torch.cuda.Stream(self.device)
        for copied, _, done in self._ahead(iterator):
            current = torch.cuda.current_stream(self.device)
            current.wait_event(done)
            moved(copied, lambda t: t.record_stream(current))
            yield copied

    def _copies(self, iterator):
        """(error, (element on the device, in pinned memory, event after the copy), state after the element)."""
        for element in with_errors(iterator):
            if isinstance(element, Exception):
                yield element, None, iterator.save_state()
                continue
            with timed(iterator, self.device):
                pinned = moved(to_torch(element), lambda t: t.pin_memory())
                with torch.cuda.stream(self._stream):
                    copied = moved(pinned, lambda t: t.to(self.device, non_blocking=True))
                    done = torch.cuda.Event()
                    done.record(self._stream)
            yield None, (copied, pinned, done), iterator.save_state()

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
