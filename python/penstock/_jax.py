"""JAX's door, which loads it when it is first used."""


def jax(dataset, device=None, sharding=None, ahead=2, shard=True):
    """The dataset for JAX: an iterable of its elements with jax.Array for arrays and numbers, over the engine's memory.

    On the CPU nothing is copied where XLA takes the memory as it is (aligned to 64 bytes). Without jax_enable_x64 64-bit
    numbers become 32-bit ones, as jnp.asarray makes them. Strings are bytes, or lists of bytes. Do not donate the arrays.

    ``device`` or ``sharding`` has each array put there, for up to ``ahead`` elements before they are asked for. With several processes
    and a ``sharding`` over all of them, a process gives its part of each array (jax.make_array_from_process_local_data).
    ``shard``: each process gets every n-th element, by jax.process_index() and jax.process_count().

    Each iteration is a new epoch: another order of the shuffles; ``set_epoch(n)`` says which. ``len()``, ``state_dict()`` and
    ``load_state_dict()`` (or ``get_state``, ``set_state``) are those of this process.

        for batch in ps.jax(ds.shuffle(10_000, seed=7).batch(128)):
            state = train_step(state, batch["image"], batch["label"])
    """
    from ._jax_dataset import JaxDataset
    return JaxDataset(dataset, device, sharding, ahead, shard)
