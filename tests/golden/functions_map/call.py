"""The plain case: an op of ours with the recorded inputs and attributes."""
from functions_case import DTYPE_WORDS, literal


def dtype_name(dtype):
    return "bytes" if dtype == "string" else dtype


def call(name, *options, **renamed):
    """name(inputs..., option=value...): the attributes `options`, and `ours=theirs` for those that are called
    otherwise with us. What is not recorded is left out; attributes that hold a dtype are written as one."""
    pairs = [(o, o) for o in options] + list(renamed.items())

    def make(case):
        given = [k + "_" if k in DTYPE_WORDS else k for k in case.inputs]
        for ours, theirs in pairs:
            value = case.attrs.get(theirs)
            if value is not None:
                given.append(f"{ours}={dtype_name(value) if theirs in ('dtype', 'out_type') else literal(value)}")
        return f"{name}({', '.join(given)})"
    return make
