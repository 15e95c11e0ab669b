"""The functions that converted functions call for their ifs, loops and logic: Python's meaning, also of symbolic values.

Values of Python's own behave as in Python, while the function is traced: an `if` is decided, a loop unrolled. Symbolic ones make
parts of the pipeline.
"""
from ._builtins import FUNCTIONS, range_
from ._choices import Returned, and_, and_truth, assert_, compare, if_, known, not_, or_, or_truth
from ._convert import converted
from ._loops import for_, items_of, list_of, while_
from ._merging import Unset

__all__ = ["Returned", "Unset", "and_", "and_truth", "assert_", "compare", "for_", "function", "if_", "items_of", "known", "list_of",
           "loop_function", "not_", "or_", "or_truth", "while_"]


def function(f):
    """The callee that stands for f: its symbolic form, or the converted function."""
    try:
        known = FUNCTIONS.get(f)
    except TypeError:  # no hash
        known = None
    return known or converted(f) or f


def loop_function(f):
    """The same of `for i in f(...)`, where ps.range is Python's."""
    import penstock
    return range_ if f is penstock.range else function(f)
