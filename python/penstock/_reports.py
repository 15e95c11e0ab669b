"""What explain and optimize give."""


def preformatted(text, heading=""):
    """HTML of a text whose columns count, for notebooks."""
    import html
    head = f"<p><b>{html.escape(heading)}</b></p>" if heading else ""
    return f"{head}<pre>{html.escape(text)}</pre>"


class Explanation:
    """What limits the rate of a pipeline: ``verdict`` is a sentence, ``str()`` the table, ``data`` all of it.

    >>> import penstock as ps
    >>> e = ps.range(1000).explain()
    >>> e.verdict == e.data["verdict"]["text"]
    True
    """

    def __init__(self, text, verdict, data):
        import json
        self.text, self.verdict, self.data = text, verdict, json.loads(data)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<ps.Explanation: {self.verdict}>"

    def _repr_html_(self):
        return preformatted(self.text, self.verdict)


class Optimization:
    """The fastest plan that was found: ``dataset``, with every knob in its text.

    ``rate`` is predicted, elements per second; ``changes`` are (what, the rate after it); ``notes`` say where a cache
    may not stand; ``measured`` is (before, after) if measure_seconds asks for it.

    >>> import penstock as ps
    >>> ds = ps.range(1000).map(lambda x: x + 1)
    >>> list(ds.optimize(trace_seconds=0.1).dataset) == list(ds)
    True
    """

    def __init__(self, dataset, rate, changes, notes, measured):
        self.dataset, self.rate, self.changes, self.notes, self.measured = dataset, rate, changes, notes, measured

    def __repr__(self):
        return f"<ps.Optimization: {self.rate:.4g} elements/s, {len(self.changes)} changes>"

    def _repr_html_(self):
        lines = [f"{rate:10.4g}/s  {what}" for what, rate in self.changes]
        return preformatted("\n".join(lines + ["", str(self.dataset)]), f"predicted: {self.rate:.4g} elements/s")
