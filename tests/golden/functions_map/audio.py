"""Sound: recorded op -> an expression over the inputs' names."""

MAP = {}
OWN = {}
