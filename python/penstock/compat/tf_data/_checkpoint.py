"""tf.train.Checkpoint, as far as it saves iterators of datasets."""
import base64
import json
import os

from . import errors
from ._sources import text


class Checkpoint:
    """Saves where iterators stand, kilobytes each: Checkpoint(iterator=it).

    >>> import os, tempfile
    >>> from penstock.compat import tf_data as tf
    >>> ds = tf.data.Dataset.range(5)
    >>> it = iter(ds)
    >>> next(it).numpy(), next(it).numpy()
    (0, 1)
    >>> path = tf.train.Checkpoint(iterator=it).save(os.path.join(tempfile.mkdtemp(), "ckpt"))
    >>> other = iter(ds)
    >>> tf.train.Checkpoint(iterator=other).restore(path).assert_consumed() and [x.numpy() for x in other]
    [2, 3, 4]
    """

    def __init__(self, root=None, **objects):
        self._objects, self._count = objects, 0
        for name, x in objects.items():
            if not hasattr(x, "load_state_dict"):
                raise ValueError(f"a checkpoint holds iterators of datasets here: {name} is a {type(x).__name__}")

    def write(self, file_prefix, options=None):
        """Writes the file of that name."""
        path = text(file_prefix)
        states = {name: base64.b64encode(x.save_state()).decode() for name, x in self._objects.items()}
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(f"{path}.part", "w", encoding="utf-8") as out:
            json.dump({"penstock": states}, out)
        os.replace(f"{path}.part", path)
        return path

    def save(self, file_prefix, options=None):
        """Writes file_prefix-1, file_prefix-2, ..."""
        self._count += 1
        return self.write(f"{text(file_prefix)}-{self._count}")

    def read(self, save_path, options=None):
        """The iterators go on where those stood that were saved."""
        try:
            with open(text(save_path), encoding="utf-8") as file:
                states = json.load(file)["penstock"]
        except FileNotFoundError as e:
            raise errors.NotFoundError(message=f"there is no checkpoint {text(save_path)}", node="restore") from e
        for name, x in self._objects.items():
            if name in states:
                x.load_state_dict({"penstock": base64.b64decode(states[name])})
        return _Restored(self._objects.keys() == states.keys())

    def restore(self, save_path, options=None):
        """The same; nothing, where there is no path."""
        if save_path is None:
            return _Restored(True)
        tail = text(save_path).rpartition("-")[2]
        self._count = int(tail) if tail.isdigit() else self._count
        return self.read(save_path)


class _Restored:
    def __init__(self, complete):
        self._complete = complete

    def assert_consumed(self):
        """All that was saved has been restored."""
        if not self._complete:
            raise AssertionError("the checkpoint holds other iterators")
        return self

    def expect_partial(self):
        """It need not be all."""
        return self

    assert_existing_objects_matched = expect_partial


class CheckpointManager:
    """Keeps the newest checkpoints of a folder."""

    def __init__(self, checkpoint, directory, max_to_keep, checkpoint_name="ckpt", **_):
        self._checkpoint, self._folder, self._most, self._name = checkpoint, text(directory), max_to_keep, checkpoint_name

    @property
    def checkpoints(self):
        """Their paths, oldest first."""
        return _saved(self._folder, self._name)

    @property
    def latest_checkpoint(self):
        """The newest one, or None."""
        return (self.checkpoints or [None])[-1]

    def save(self, checkpoint_number=None, **_):
        """Writes one, and removes those that are too many."""
        last = self.latest_checkpoint
        number = int(checkpoint_number) if checkpoint_number is not None else \
            int(last.rpartition("-")[2]) + 1 if last else 1
        path = self._checkpoint.write(os.path.join(self._folder, f"{self._name}-{number}"))
        if self._most:
            for old in self.checkpoints[:-self._most]:
                os.remove(old)
        return path

    def restore_or_initialize(self):
        """Restores the newest one, if there is one."""
        if self.latest_checkpoint:
            self._checkpoint.restore(self.latest_checkpoint)
        return self.latest_checkpoint


def _saved(folder, name):
    found = []
    for file in os.listdir(folder) if os.path.isdir(folder) else []:
        head, _, number = file.rpartition("-")
        if head == name and number.isdigit():
            found.append((int(number), os.path.join(folder, file)))
    return [path for _, path in sorted(found)]


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The newest checkpoint of a folder, or None."""
    names = {f.rpartition("-")[0] for f in os.listdir(checkpoint_dir)} if os.path.isdir(checkpoint_dir) else set()
    found = [path for name in names for path in _saved(text(checkpoint_dir), name)]
    return max(found, key=os.path.getmtime) if found else None


TF = {"train.Checkpoint": Checkpoint, "train.CheckpointManager": CheckpointManager,
      "train.latest_checkpoint": latest_checkpoint}
