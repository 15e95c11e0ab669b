"""tf.data.Options: what of it Penstock has a knob for holds, the rest is accepted and remembered."""
import enum


class AutoShardPolicy(enum.IntEnum):
    """Accepted; sharding is said with Dataset.shard."""
    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """Accepted; Penstock has one tuner."""
    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """Accepted."""
    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Group:
    _fields = {}

    def __init__(self):
        for name, (_, default) in self._fields.items():
            object.__setattr__(self, name, default() if isinstance(default, type) else default)

    def frozen(self):
        """These, which cannot be set any more."""
        for name in self._fields:
            if isinstance(getattr(self, name), _Group):
                getattr(self, name).frozen()
        object.__setattr__(self, "_frozen", True)
        return self

    def __setattr__(self, name, value):
        if getattr(self, "_frozen", False):
            raise ValueError("Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                             "`tf.data.Dataset.with_options(options)` to set or update dataset options.")
        if name not in self._fields:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        kind = self._fields[name][0]
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"Property {name!r} must be of type {kind}, got: {value!r} (type: {type(value)}).")
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return type(self) is type(other) and all(getattr(self, n) == getattr(other, n) for n in self._fields)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def merge(self, other):
        """These, with what is set in the other."""
        out = type(self)()
        for name, (_, default) in self._fields.items():
            a, b = getattr(self, name), getattr(other, name)
            if isinstance(a, _Group):
                value = a.merge(b)
            else:
                value = a if b == default else b
            object.__setattr__(out, name, value)
        return out

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self._fields)})"


def _flags(*names):
    return {name: (bool, None) for name in names}


class AutotuneOptions(_Group):
    """enabled, cpu_budget (threads), ram_budget (bytes) hold."""
    _fields = {"enabled": (bool, None), "cpu_budget": (int, None), "ram_budget": (int, None),
               "autotune_algorithm": (AutotuneAlgorithm, None), "initial_parallelism": (int, None),
               "min_parallelism": (int, None)}


class OptimizationOptions(_Group):
    """apply_default_optimizations=False runs the plan as it is written."""
    _fields = _flags("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
                     "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
                     "noop_elimination", "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion")


class DistributeOptions(_Group):
    """Accepted."""
    _fields = {"auto_shard_policy": (AutoShardPolicy, AutoShardPolicy.AUTO), "num_devices": (int, None)}


class ThreadingOptions(_Group):
    """private_threadpool_size is the number of threads."""
    _fields = {"max_intra_op_parallelism": (int, None), "private_threadpool_size": (int, None)}


class ServiceOptions(_Group):
    """Accepted."""
    _fields = _flags("pinned")


class Options(_Group):
    """Options of a pipeline, given to Dataset.with_options.

    >>> options = Options()
    >>> options.threading.private_threadpool_size = 2
    >>> options.merge(Options()) == options
    True
    """
    _fields = {"autotune": (AutotuneOptions, AutotuneOptions), "deterministic": (bool, None),
               "experimental_distribute": (DistributeOptions, DistributeOptions),
               "experimental_external_state_policy": (ExternalStatePolicy, None),
               "experimental_optimization": (OptimizationOptions, OptimizationOptions),
               "experimental_service": (ServiceOptions, ServiceOptions), "experimental_slack": (bool, None),
               "experimental_symbolic_checkpoint": (bool, None), 
               "experimental_warm_start": (bool, None), "dataset_name": (str, None), "framework_type": (list, None),
               "threading": (ThreadingOptions, ThreadingOptions)}

    _OLD = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}

    def __setattr__(self, name, value):
        super().__setattr__(self._OLD.get(name, name), value)

    def __getattr__(self, name):
        if name not in self._OLD:
            raise AttributeError(f"Options have no property {name!r}")
        return getattr(self, self._OLD[name])


def configured(ps, options):
    """A ps.Dataset that runs as the options say."""
    named = {}
    threads = options.threading.private_threadpool_size or options.autotune.cpu_budget
    if threads:
        named["threads"] = int(threads)
    if options.autotune.ram_budget:
        named["memory_bytes"] = int(options.autotune.ram_budget)
    if options.experimental_optimization.apply_default_optimizations is False:
        named["optimize"] = False
    return ps.configure(**named) if named else ps
