"""Tar files as WebDataset writes them: names of shards with braces, and the members of a sample."""
import itertools
import os
import re
import tarfile

from ._calls import build
from ._errors import DataLoss, InvalidArgument, NotFound
from ._types import DTYPES
from ._values import call


def webdataset(urls, fields, shuffle, seed, cycle_length, num_shards, index):
    """See ps.webdataset."""
    patterns = [p for url in ([urls] if isinstance(urls, (str, os.PathLike)) else urls) for p in expanded(os.fspath(url))]
    if not patterns:
        raise InvalidArgument("webdataset: no file is named")
    named = {} if seed is None else {"seed": seed}
    files = build("files", (patterns,), {"shuffle": shuffle, **named})
    if fields is None:
        fields = _fields_of_first(build("files", (patterns[:1],), {}))
    if num_shards > 1 or index:
        files = files.shard(num_shards, index)
    return files.interleave(lambda file: call("tar", (file,), {"fields": fields}), cycle_length=cycle_length)


def expanded(pattern):
    """The names that braces stand for, as a shell has them.

    >>> from penstock._webdataset import expanded
    >>> expanded("s-{08..10}.{a,b}")
    ['s-08.a', 's-08.b', 's-09.a', 's-09.b', 's-10.a', 's-10.b']
    """
    pieces = re.split(r"(\{[^{}]*(?:,|\.\.)[^{}]*\})", pattern)
    return ["".join(p) for p in itertools.product(*([p] if i % 2 == 0 else _choices(p, pattern) for i, p in enumerate(pieces)))]


def _choices(braces, pattern):
    inside = braces[1:-1]
    if "," in inside:
        return inside.split(",")
    ends = re.fullmatch(r"(\d+)\.\.(\d+)", inside)
    if not ends:
        raise InvalidArgument(f"webdataset: {braces} in {pattern!r} must be numbers, as in {{000..099}}, or names with commas")
    first, last = int(ends[1]), int(ends[2])
    if last < first:
        raise InvalidArgument(f"webdataset: {braces} in {pattern!r} ends before it begins")
    width = len(ends[1]) if ends[1].startswith("0") or len(ends[1]) == len(ends[2]) else 0
    return [f"{n:0{width}d}" for n in range(first, last + 1)]


def _fields_of_first(files):
    """__key__ and the extensions of the first sample that there is, as bytes."""
    for name in files:
        found = _first_sample(os.fsdecode(name))
        if found:
            return {"__key__": DTYPES["bytes"], **dict.fromkeys(found, DTYPES["bytes"])}
    raise NotFound("webdataset: there is no sample to see the extensions in: say them, fields={\"jpg\": ps.bytes}")


def _first_sample(path):
    key, extensions = None, []
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                split = re.fullmatch(r"((?:.*/)?[^./]+)\.([^/]+)", member.name, re.S)
                if not member.isfile() or not split:
                    continue
                if key is not None and split[1] != key:
                    break
                key = split[1]
                extensions.append(split[2])
    except tarfile.TarError as e:
        if not extensions:
            raise DataLoss(f"webdataset: {path}: {e}", file=path) from e
    return list(dict.fromkeys(extensions))
