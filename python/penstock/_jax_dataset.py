"""Elements as arrays of JAX, for training loops."""
import jax
import jax.numpy
import numpy

from ._arrays import shared
from ._errors import InvalidArgument
from ._feed import Feed, converted

_XLA_ALIGNMENT_BYTES = 64  # the CPU backend copies what is not


class JaxDataset(Feed):
    """See ps.jax."""

    def __init__(self, dataset, device, sharding, ahead, shard):
        if device is not None and sharding is not None:
            raise InvalidArgument("jax: give a device or a sharding, not both")
        super().__init__(dataset, _device(device) if sharding is None else sharding, ahead, shard)

    def _rank_and_count(self):
        return jax.process_index(), jax.process_count()

    def _converted(self, element):
        return to_jax(element)

    def _copied(self, element):
        return converted(element, self._put)  # JAX copies while the next one is made

    def _put(self, x):
        x = numpy.asarray(x)
        if isinstance(self.device, jax.sharding.Sharding) and not self.device.is_fully_addressable:
            return jax.make_array_from_process_local_data(self.device, x)
        return jax.device_put(x, self.device)


def _device(device):
    """A jax.Device of its name: "cpu", "cuda:1"."""
    if not isinstance(device, str):
        return device
    kind, _, number = device.partition(":")
    devices = jax.devices(kind)
    if not 0 <= int(number or 0) < len(devices):
        raise InvalidArgument(f"jax: there is no device {device!r}; there are {len(devices)} of {kind}")
    return devices[int(number or 0)]


def to_jax(x):
    """An element with JAX arrays for its arrays and numbers."""
    return converted(x, _array)


def _array(x):
    array = shared(x)
    if array is None or x.dtype.itemsize == 8 and not jax.config.jax_enable_x64 or x.size == 0 or \
            x.__array_interface__["data"][0] % _XLA_ALIGNMENT_BYTES:
        return jax.numpy.asarray(x)
    return jax.dlpack.from_dlpack(array)
