"""The pipelines that ps.optimize chooses from."""
from ._dataset import Dataset
from ._errors import InvalidArgument

_UNKNOWN = -2  # as penstock._core gives it for a number of elements


class Variant:
    """One combination: its arguments, and its dataset or the error of making it."""

    def __init__(self, arguments, make):
        self.arguments, self.dataset, self.error, self.found = arguments, None, None, None
        try:
            self.dataset = make()
        except Exception as e:
            self.error = e
        if self.error is None and not isinstance(self.dataset, Dataset):
            raise TypeError(f"optimize: the function must return a ps.Dataset, not {type(self.dataset).__name__}")

    @property
    def name(self):
        """Its arguments in words."""
        return ", ".join(f"{k}={v!r}" for k, v in self.arguments.items()) or "the pipeline"

    def question(self):
        """All that decides its result: text, data, how it runs."""
        if self.error is not None:
            return [type(self.error).__name__]
        identity = self.dataset.fingerprint()["identity"].decode()
        return [str(self.dataset), identity, list(self.dataset._core.options())]

    def made(self):
        """Its dataset; raises the error of making it."""
        if self.error is not None:
            raise self.error
        return self.dataset


def check_specs(variants):
    """Raises for pipelines whose rates cannot be compared: of other elements, or of another number of them, as far as known."""
    made = [v for v in variants if v.dataset is not None]
    for v in made[1:]:
        core, first = v.dataset._core, made[0].dataset._core
        if v.dataset.spec != made[0].dataset.spec:
            raise InvalidArgument(f"the pipelines of pick_best give different elements: with {made[0].name} {first.spec_text()}, "
                                  f"with {v.name} {core.spec_text()}", "optimize")
        sizes = [c.cardinality() for c in (first, core)]
        if sizes[0] != sizes[1] and _UNKNOWN not in sizes:
            numbers = ["no end" if n < 0 else f"{n} elements" for n in sizes]
            raise InvalidArgument(f"the pipelines of pick_best cannot be compared: with {made[0].name} {numbers[0]}, "
                                  f"with {v.name} {numbers[1]}", "optimize")
