"""Doors to files and tables of other libraries, which are loaded when these are first used."""


def from_arrow(data, columns=None, fill=None, identity=""):
    """The rows of Arrow data, as dicts by column: of pyarrow's tables, batches, readers and datasets, of what has
    ``__arrow_c_stream__`` or ``__arrow_c_array__`` (Polars, pandas, DuckDB), and of a function that opens such a thing.

    Numbers keep their dtype (times are int64, dates int32), strings and binaries are bytes, structs dicts, fixed-size lists of
    numbers dense tensors, other lists tensors of their own length (lists of lists ragged ones). An array in place of a table gives
    its items. Dictionaries are decoded. A null is an error that names column and row; ``fill`` has a value for each column
    ({"age": 0, "name": ""}), or one for all, to stand for it.

    A table is in memory, or mapped into it: nothing is copied before its row is asked for, except numbers in several
    chunks; ``ds[i]``, ``len(ds)`` and ``global_shuffle`` go straight to rows. Readers and datasets stream; a reader gives one pass.
    ``identity`` names the data, for states and caches; small tables and files have one. See ps.from_generator.

        table = pyarrow.table({"x": [1, 2], "name": ["a", "b"]})
        [e["name"] for e in ps.from_arrow(table)]  # [b"a", b"b"]
    """
    from ._arrow import from_arrow as made
    return made(data, columns, fill, identity)


def from_parquet(paths, columns=None, fill=None, shuffle=False, seed=None, num_shards=1, index=0, num_parallel_calls=None):
    """The rows of Parquet files, as dicts by column; elements are those of ps.from_arrow.

    ``paths``: a file, a pattern ("train-*.parquet"), or a list of them; rows come in their order, row group after row group.
    Only ``columns`` are read. ``shuffle`` draws another order of the row groups for each pass, from ``seed``: let a ``shuffle`` of
    rows follow. ``num_shards`` and ``index`` give one rank every n-th row group, so that it reads only these.
    ``num_parallel_calls`` row groups are read at once; left out, the engine decides.

    A state goes on within a row group. A file that is damaged is ps.DataLoss with its name.

        ds = ps.from_parquet("train-*.parquet", columns=["image", "label"], shuffle=True, seed=7).shuffle(10_000, seed=7)
    """
    from ._parquet import from_parquet as made
    return made(paths, columns, fill, shuffle, seed, num_shards, index, num_parallel_calls)


def from_huggingface(dataset, columns=None, fill=None, identity=""):
    """The rows of a dataset of Hugging Face's library: a datasets.Dataset or an IterableDataset.

    A Dataset is read from its Arrow table without a copy, as ps.from_arrow does; images and audio are their files' bytes, for
    ps.image.decode_jpeg and the like. With a transform of its own (set_transform, with_format("pandas")) it is
    asked for each row by Python, as ps.from_map_style does. An IterableDataset streams through Python.

        ds = ps.from_huggingface(datasets.load_dataset("mnist", split="train")).shuffle(10_000, seed=7).batch(128)
    """
    from ._huggingface import from_huggingface as made
    return made(dataset, columns, fill, identity)


def webdataset(urls, fields=None, shuffle=False, seed=None, cycle_length=1, num_shards=1, index=0):
    """The samples of tar files: neighbouring members that share their name up to the first dot, as a dict by extension.

    ``urls``: names of files, patterns ("train-*.tar"), or names with braces ("train-{000..099}.tar", "{a,b}.tar"), or a list of them.
    ``fields`` are the extensions wanted, with their dtypes; "__key__" is the shared name. Left out, they are those of
    the first sample, as bytes. Numbers are read from the member's text. ps.tar says more about them.

    ``shuffle`` draws another order of the files for each pass, from ``seed``; ``cycle_length`` of them are read in turns.
    ``num_shards`` and ``index`` give one rank every n-th file. The engine reads the files: errors name file and offset, a state
    goes on within a file.

        ds = ps.webdataset("train-{000..099}.tar", fields={"jpg": ps.bytes, "cls": ps.int64}, shuffle=True, seed=7)

    >>> import penstock as ps
    >>> ps.webdataset("data/train-{00..01}.tar", fields={"txt": ps.bytes}).spec["txt"].dtype
    ps.bytes
    """
    from ._webdataset import webdataset as made
    return made(urls, fields, shuffle, seed, cycle_length, num_shards, index)
