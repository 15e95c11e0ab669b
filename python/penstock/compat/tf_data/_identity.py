"""A name for Python code, so that a cache in a file and a state of an iterator know it again."""
import hashlib
import types


def identity(function, *more):
    """The hash of a function's bytecode, constants and defaults, and of what it is given; "" if it has no bytecode.

    Values that it takes from outside are not part of it. tf.data takes a file's name as the only sign.

    >>> identity(lambda x: x + 1) == identity(lambda x: x + 1), identity(lambda x: x + 1) == identity(lambda x: x + 2)
    (True, False)
    """
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return f"tf_data {function.__module__}.{function.__qualname__}" if isinstance(function, type) else ""
    digest = hashlib.sha256(repr((_described(code), repr(function.__defaults__), *more)).encode())
    return f"tf_data {digest.hexdigest()[:32]}"


def _described(code):
    consts = tuple(_described(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts)
    return code.co_code.hex(), consts, code.co_names, code.co_varnames
