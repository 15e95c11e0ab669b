"""The interfaces of other libraries over Penstock, for programs that are written for them.

>>> import penstock as ps
>>> [int(x) for x in ps.compat.tf_data.data.Dataset.range(3)]
[0, 1, 2]
"""


def __getattr__(name):
    if name != "tf_data":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # `import penstock` does not load it
    return importlib.import_module(".tf_data", __name__)
