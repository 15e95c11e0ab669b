"""PyTorch's door, which loads it when it is first used."""


def torch(dataset, device=None, ahead=2, shard=True):
    """The dataset for PyTorch: an IterableDataset whose elements are tensors over the engine's memory, not copied.

    Do not write to the tensors in place: a cache may hold them. Strings are bytes, or lists of bytes.

    ``device``: "cuda" has that many elements, ``ahead``, copied there before they are asked for, from pinned memory and
    on a stream of their own. ``shard``: each process of a training gets every n-th element: rank and size are those of
    torch.distributed, or of the environment (RANK, WORLD_SIZE); the workers of a DataLoader share the elements of their
    process. Give it to a DataLoader with batch_size=None, or iterate it: the engine's threads do the work of workers.

    Each iteration is a new epoch: another order of the shuffles. ``set_epoch(n)`` says which, as for torch's
    DistributedSampler. ``len()``, ``state_dict()`` and ``load_state_dict()`` (or ``get_state``, ``set_state``) are those of this process.

        loader = ps.torch(ds.shuffle(10_000, seed=7).batch(128), device="cuda")
        for batch in loader:
            loss = model(batch["image"], batch["label"])
    """
    from ._torch_dataset import TorchDataset
    return TorchDataset(dataset, device, ahead, shard)
