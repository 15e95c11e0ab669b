"""Copies of elements to a device: made ahead, counted, and a stage of what is said about the run."""
import collections
import json
import time


class DeviceCopies:
    """What was copied: elements, wall time, and CPU time of the threads that did it."""

    def __init__(self, device, ahead):
        self.device, self.ahead = str(device), ahead
        self.elements = self.errors = 0
        self.seconds = self.cpu_seconds = 0.0

    def made(self, copy, element):
        """copy(element), its time counted."""
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return copy(element)
        finally:
            self.seconds += time.perf_counter() - wall
            self.cpu_seconds += time.thread_time() - cpu

    def among(self, stages):
        """Adds itself to the stages of Iterator.stats()."""
        nothing = {k: type(v)() for k, v in stages[0].items()} if stages else {}
        stages.insert(0, {**nothing, "name": f"copy to {self.device}", "op": "copy", "elements": self.elements,
                          "errors": self.errors, "seconds": self.seconds, "threads": 1})

    def in_trace(self, text):
        """The trace with the copies as its first stage, on the consumer's thread, whose own time is less by theirs.

        Time in which that thread waits for the device stays the consumer's. The stage is called random since no cache may follow it.
        """
        trace = json.loads(text)
        for stage in trace["stages"]:
            stage["id"] += 1
            stage["inputs"] = [i + 1 for i in stage["inputs"]]
            stage["parent"] += stage["parent"] >= 0
        for decision in trace.get("decisions", ()):
            decision["stage"] += 1
        root = trace["stages"][0]
        nothing = {k: type(v)() for k, v in root.items()}
        same = {k: root[k] for k in ("bytes", "cardinality", "fixed_size", "nested_output", "spec")}
        trace["stages"].insert(0, {
            **nothing, **same, "op": "copy", "label": f"copy to {self.device}", "inputs": [1], "parent": -1, "elements": self.elements,
            "errors": self.errors, "blocks": self.elements, "cpu_seconds": self.cpu_seconds, "limit": 1, "width": 1,
            "rows_ahead": self.ahead, "random": True, "stateless": True, "keeps_rows": True, "scales": True})
        interval = trace["interval"]
        interval["consumer_seconds"] = max(0.0, interval["consumer_seconds"] - self.cpu_seconds)
        return json.dumps(trace)


class CopiedAhead:
    """The elements of an iterator, copied for the next ``ahead`` of them before they are asked for.

    The first is given at once; with each one more is made ahead. An error comes at its place, and the next element after it.
    ``state`` is the iterator's after the element given last.
    """

    def __init__(self, iterator, copy, ahead):
        self.iterator, self.copy, self.ahead = iterator, copy, ahead
        self.state = iterator.save_state()
        self._waiting = collections.deque()
        self._ended = False
        self._given = 0

    def __iter__(self):
        return self

    def __next__(self):
        while not self._ended and len(self._waiting) <= min(self.ahead, self._given):
            self._add()
        if not self._waiting:
            raise StopIteration
        self._given += 1
        error, copied, self.state = self._waiting.popleft()
        if error is not None:
            raise error
        return copied

    def _add(self):
        counts, error, copied = self.iterator.copies, None, None
        try:
            copied = counts.made(self.copy, next(self.iterator))
        except StopIteration:
            self._ended = True
            return
        except Exception as e:
            error = e
            counts.errors += 1
        counts.elements += 1
        self._waiting.append((error, copied, self.iterator.save_state()))
