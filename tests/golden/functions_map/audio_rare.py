"""Sound: ops of other libraries that stand rarely in functions of rows, as expressions over ours."""


def attr(case, name, otherwise):
    value = case.attrs.get(name)
    return otherwise if value is None else value


def decibels(factor):
    return lambda case: f"{float(attr(case, 'ref', 1.0))} * power({case.dtype('x0')}(10.0), x0 * {case.dtype('x0')}({factor}))"


def rms(case):
    """Centred frames."""
    n, hop = attr(case, "frame_length", 2048), attr(case, "hop_length", 512)
    return f"sqrt(mean(square(frame(pad(x0, [[{n // 2}, {n // 2}]]), {n}, {hop})), axis=-1))[none]"


def fix_length(case):
    n, have = case.attrs["size"], case.shape("x0")[0]
    return f"pad(x0[:{n}], [[0, {max(0, n - have)}]])"


def complex_2d(name):
    """Along the last axis, and then along the one before it."""
    def make(case):
        rank = len(case.shape("x0"))
        order = [*range(rank - 2), rank - 1, rank - 2, rank]
        inner = "rfft" if name == "rfft" else name
        return f"transpose({'fft' if name == 'rfft' else name}(transpose({inner}(x0), {order})), {order})"
    return make


MAP = {
    "db_to_power": decibels(0.1), "db_to_amplitude": decibels(0.05), "rms": rms, "fix_length": fix_length,
    "to_mono": lambda c: "mean(x0, axis=0)", "fft2d": complex_2d("fft"), "ifft2d": complex_2d("ifft"),
    "rfft2d": complex_2d("rfft"),
    "normalize": lambda c: "x0 / max(abs(x0))", "hz_to_mel": lambda c: "1127.0 * log(1.0 + x0 / 700.0)",
    "mu_compress": lambda c: f"sign(x0) * log1p({float(attr(c, 'mu', 255))} * abs(x0)) / log1p({float(attr(c, 'mu', 255))})",
    "fft_frequencies": lambda c: f"float64(arange({c.attrs['n_fft'] // 2 + 1})) * {c.attrs['sr'] / c.attrs['n_fft']}",
}
