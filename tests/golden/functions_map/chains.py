"""Whole functions of the papers' workloads: recorded op -> an expression over the inputs' names."""

MAP = {}
OWN = {}
