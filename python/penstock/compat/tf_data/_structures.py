"""Structures as TensorFlow has them: tuples, namedtuples, attrs classes, dataclasses and dicts. A list is a tensor.

Penstock knows tuples and dicts with keys of text. A dataset of this package carries what is to be made of these: its
`like`, which is None where elements are as they come, else a tuple or dict of likes, a Made or a Nested.
"""
import dataclasses
import typing

from ... import _types as ps_types
from ._types import TensorShape


class Made(typing.NamedTuple):
    """The parts of an element go to the fields of a class."""

    cls: type
    likes: dict


class Keyed(typing.NamedTuple):
    """A dict with keys that are no text; likes by key."""

    likes: dict


class Nested(typing.NamedTuple):
    """The element is a dataset, whose elements are like this."""

    like: typing.Any


def is_leaf(x):
    """Whether it is a tuple by accident: a spec of Penstock's, a shape."""
    return isinstance(x, (ps_types.TensorSpec, ps_types.DatasetSpec, TensorShape))


def fields(x):
    """-> {name: part} of an object of a class with fields, or None."""
    if isinstance(x, tuple):
        return x._asdict() if hasattr(x, "_fields") and not is_leaf(x) else None
    if isinstance(x, type):
        return None
    if hasattr(type(x), "__attrs_attrs__"):
        return {a.name: getattr(x, a.name) for a in type(x).__attrs_attrs__}
    if dataclasses.is_dataclass(x):
        return {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}
    return None


def is_tuple(x):
    """Whether it is a plain tuple: whose parts functions get as arguments of their own."""
    return type(x) is tuple


def mapped(f, x):
    """x with f(leaf) in place of its leaves."""
    inside = fields(x)
    if inside is not None:
        return type(x)(**{k: mapped(f, v) for k, v in inside.items()})
    if isinstance(x, dict):
        return {k: mapped(f, v) for k, v in x.items()}
    if isinstance(x, tuple) and not is_leaf(x):
        return tuple(mapped(f, v) for v in x)
    return f(x)


def leaves(x):
    """The leaves of a structure, in reading order."""
    out = []
    mapped(out.append, x)
    return out


def plain(x, leaf=lambda v: v):
    """x as Penstock has it, with leaf(v) in place of its leaves."""
    inside = fields(x)
    if inside is None and isinstance(x, dict):
        inside = x
    if inside is not None:
        return {str(k): plain(v, leaf) for k, v in inside.items()}
    if isinstance(x, tuple) and not is_leaf(x):
        return tuple(plain(v, leaf) for v in x)
    return leaf(x)


def like_of(x, leaf=lambda v: None):
    """The like of elements of the structure of x."""
    inside = fields(x)
    if inside is not None:
        return Made(type(x), {k: like_of(v, leaf) for k, v in inside.items()})
    if isinstance(x, dict):
        likes = {k: like_of(v, leaf) for k, v in x.items()}
        if not all(isinstance(k, str) for k in x):
            return Keyed(likes)
        return likes if any(v is not None for v in likes.values()) else None
    if isinstance(x, tuple) and not is_leaf(x):
        likes = tuple(like_of(v, leaf) for v in x)
        return likes if any(v is not None for v in likes) else None
    return leaf(x)


def dressed(like, x, leaf):
    """The plain structure x, with leaf(v, like) in place of its leaves, as ``like`` says."""
    if isinstance(like, Made):
        return like.cls(**{k: dressed(v, x[k], leaf) for k, v in like.likes.items()})
    if isinstance(like, Keyed):
        return {k: dressed(v, x[str(k)], leaf) for k, v in like.likes.items()}
    if isinstance(x, dict):
        return {k: dressed(like and like[k], v, leaf) for k, v in x.items()}
    if type(x) is tuple:
        return tuple(dressed(like and like[i], v, leaf) for i, v in enumerate(x))
    return leaf(x, like)


def unpacks(like, spec):
    """Whether elements are plain tuples, whose parts a function gets as arguments of their own."""
    return type(spec) is tuple and not isinstance(like, (Made, Keyed))
