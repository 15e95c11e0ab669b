"""The `penstock` command of the wheel: the program beside this file. A package of its own, so that it loads nothing else."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "penstock")
    os.execv(program, ["penstock", *sys.argv[1:]])
