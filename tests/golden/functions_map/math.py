"""Math and arrays: recorded op -> an expression over the inputs' names."""
from functions_map.call import call, dtype_name


def cast(case):
    return f"{dtype_name(case.attrs['dtype'])}(x0)"


MAP = {
    "cast": cast, "cast_out_of_range": cast,
    "add": call("add"), "subtract": call("subtract"), "multiply": call("multiply"),
}
OWN = {}
