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


def swapped(case):
    """The order with the last two axes changed; the one of the parts stays last."""
    rank = len(case.shape("x0"))
    return [*range(rank - 2), rank - 1, rank - 2, rank]


def complex_2d(name):
    """Along the last axis, and then along the one before it."""
    def make(case):
        order = swapped(case)
        inner = "rfft" if name == "rfft" else name
        return f"transpose({'fft' if name == 'rfft' else name}(transpose({inner}(x0), {order})), {order})"
    return make


def half_turn(back):
    """Along every axis, or those named."""
    def make(case):
        shape, axes = case.shape("x0"), case.attrs.get("axes")
        axes = list(range(len(shape))) if axes is None else axes if isinstance(axes, list) else [axes]
        shifts = [(-1 if back else 1) * (shape[a] // 2) for a in axes]
        return f"roll(x0, {shifts}, axis={axes})"
    return make


def ortho(case):
    return ', norm="ortho"' if case.attrs.get("norm") == "ortho" else ""


def mdct(case):
    """Windowed frames that overlap by half, folded, under a DCT of type 4."""
    n = case.attrs["frame_length"]
    q = n // 4
    return (f"let f = frame(x0, {n}, {n // 2}) * vorbis_window({n}); let (a, b) = (f[..., :{q}], f[..., {q}:{2 * q}]); "
            f"let (c, d) = (f[..., {2 * q}:{3 * q}], f[..., {3 * q}:]); "
            f"dct(concat(-c[..., ::-1] - d, a - b[..., ::-1], axis=-1), type=4{ortho(case)})")


def inverse_mdct(case):
    n = case.shape("x0")[-1]
    scale = "" if ortho(case) else f" * {0.5 / n}"
    return (f"let y = dct(x0, type=4{ortho(case)}){scale}; let (a, b) = (y[..., :{n // 2}], y[..., {n // 2}:]); "
            f"overlap_and_add(concat(b, -b[..., ::-1], -a[..., ::-1], -a, axis=-1) * vorbis_window({2 * n}), {n})")


MAP = {
    "mdct": mdct, "inverse_mdct": inverse_mdct,
    "fftshift": half_turn(False), "ifftshift": half_turn(True),
    "irfft2d": lambda c: f"irfft(transpose(ifft(transpose(x0, {swapped(c)})), {swapped(c)}))",
    "db_to_power": decibels(0.1), "db_to_amplitude": decibels(0.05), "rms": rms, "fix_length": fix_length,
    "to_mono": lambda c: "mean(x0, axis=0)", "fft2d": complex_2d("fft"), "ifft2d": complex_2d("ifft"),
    "rfft2d": complex_2d("rfft"),
    "normalize": lambda c: "x0 / max(abs(x0))", "hz_to_mel": lambda c: "1127.0 * log(1.0 + x0 / 700.0)",
    "mu_compress": lambda c: f"sign(x0) * log1p({float(attr(c, 'mu', 255))} * abs(x0)) / log1p({float(attr(c, 'mu', 255))})",
    "fft_frequencies": lambda c: f"float64(arange({c.attrs['n_fft'] // 2 + 1})) * {c.attrs['sr'] / c.attrs['n_fft']}",
}
