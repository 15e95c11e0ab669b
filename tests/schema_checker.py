"""Runs commands that print JSON and compares it with the schemas in docs/format/; counts what passed."""
import json
import os
import pathlib
import time

from format_tables import Schemas
from program import ENV, execute


def unique(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError(f"a key stands twice in {[k for k, _ in pairs]}")
    return out


def parse(text):
    """JSON as the standard has it: no NaN, no key twice."""
    def refuse(name):
        raise ValueError(f"{name} is no JSON")
    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


class Checker:
    def __init__(self, program, data, wanted):
        self.program, self.data, self.wanted = program, pathlib.Path(data), wanted
        self.schemas, self.commands = Schemas(), set()
        self.passed = self.failed = 0

    def report(self, name, bad):
        """FILTER leaves out reports only: cases build on what others made."""
        if self.wanted not in name:
            return
        if bad:
            print(f"FAIL {name}\n" + "".join(f"    {b}\n" for b in bad[:10]), end="", flush=True)
        self.passed, self.failed = self.passed + (not bad), self.failed + bool(bad)

    def call(self, args, pipe="", status=0):
        """-> standard output, seconds that the call took."""
        self.commands.add(args[0])
        args = [a.replace("$DATA", str(self.data)) for a in args]
        began = time.monotonic()
        got, out, err = execute([self.program, *args], pipe.replace("$DATA", str(self.data)),
                                self.data, {**os.environ, **ENV})
        if got != status:
            raise RuntimeError(f"exit {got}, not {status}: {err.strip()}")
        return out, time.monotonic() - began

    def case(self, name, page, args, pipe="", status=0, section="", more=None, lines=False):
        """Runs a command and compares its output with a section; `more(object, seconds)` gives further
        complaints."""
        try:
            out, seconds = self.call(args, pipe, status)
            values = [parse(line) for line in out.splitlines()] if lines else [parse(out)]
            tables = self.schemas.section(page, section)
            bad = [b for v in values for b in self.schemas.object(v, tables, page)]
            if more and not bad:
                bad = [what for what, fine in more(values if lines else values[0], seconds).items() if not fine]
        except (RuntimeError, ValueError, KeyError, OSError) as e:
            bad = [str(e)]
        self.report(name, bad)

    def json_file(self, name):
        return parse((self.data / name).read_text(encoding="utf-8"))

    def file_bytes(self, pattern):
        return sum(p.stat().st_size for p in self.data.glob(pattern))
