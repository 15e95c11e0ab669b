"""Sound: recorded op -> an expression over the inputs' names."""
import json
import math
import pathlib

import numpy as np
from functions_case import Plan
from functions_map import audio_rare
from functions_map.call import call
from functions_result import compare

UNREADABLE = {"INVALID_ARGUMENT", "DATA_LOSS", "RESOURCE_EXHAUSTED"}
MEL = call("linear_to_mel_weight_matrix", "num_mel_bins", "num_spectrogram_bins", "sample_rate", "lower_edge_hertz",
           "upper_edge_hertz")


def window(name):
    return call(name, "window_length", "periodic", "beta")


def frame(case):
    """Along another axis than the last: that one is turned to the end."""
    text = call("frame", "frame_length", "frame_step", "pad_end", "pad_value")(case)
    axis, rank = case.attrs.get("axis", -1), len(case.shape("x0"))
    axis %= rank
    if axis == rank - 1:
        return text
    order = [i for i in range(rank) if i != axis] + [axis]
    back = [*range(axis), rank - 1, rank, *range(axis, rank - 1)]
    return f"transpose({text.replace('(x0', f'(transpose(x0, {order})', 1)}, {back})"


def sized(case):
    """The signal cut or filled up to n."""
    n = case.attrs.get("n")
    if n is None:
        return "x0"
    have, rank = case.shape("x0")[-1], len(case.shape("x0"))
    padding = [[0, 0]] * (rank - 1) + [[0, max(0, n - have)]]
    return f"pad(x0[..., :{n}], {padding})"


def dct(case):
    return call("dct", "type", "norm")(case).replace("(x0", f"({sized(case)}", 1)


def idct(case):
    """Type 2 and 3 undo each other, 1 and 4 themselves; without norm up to a factor."""
    kind = {1: 1, 2: 3, 3: 2, 4: 4}[case.attrs.get("type", 2)]
    return f"dct({sized(case)}, type={kind}{', norm=' + json.dumps(case.attrs['norm']) if case.attrs.get('norm') else ''})"


def kaiser_bessel(case):
    half, beta = case.attrs["window_length"] // 2, case.attrs.get("beta", 12.0)
    return (f"let k = cumsum(kaiser_window({half + 1}, beta={float(beta)})); "
            "let h = sqrt(k[:-1] / k[-1]); concat(h, h[::-1])")


def decode_wav(case):
    options = call("", "desired_channels", "desired_samples")(case)[1:-1]
    text = f"let (a, r) = decode_wav({options}); {{audio: a, sample_rate: r}}"
    rate = int.from_bytes(content(case, "contents")[24:28], "little")

    def judge(case, results):
        error = results[0].get("error", {}).get("code")
        if "trap" in case.record and "error" in case.record:  # we read these
            return None if not error else f"got {results[0]}"
        if "error" in case.record or rate == 0:
            return None if error in UNREADABLE else f"expected an error, got {str(results[0])[:200]}"
        return compare(case.record, results[0], case.root)
    return Plan(text, judge=judge)


def content(case, name):
    return pathlib.Path(case.root, case.inputs[name]["file"]).read_bytes()


def soundfile_read(case):
    """A cut file is an error with us where the other library gives what is there."""
    def judge(case, results):
        error = results[0].get("error", {}).get("code")
        if "error" in case.record or "frames" in case.record.get("out", {}):
            return None if error in UNREADABLE else f"expected an error, got {str(results[0])[:200]}"
        return compare(case.record, results[0], case.root)
    return Plan("decode_audio(file)[0]", judge=judge)


def resample(case):
    """Filters differ at the ends."""
    a = case.attrs
    kind = a.get("res_type", "soxr_hq")
    rates = a["orig_sr"], a["target_sr"]
    shared = math.gcd(*rates)
    if kind == "polyphase":
        text = f"resample_poly(x0, {rates[1] // shared}, {rates[0] // shared})"
    elif kind in ("scipy", "fft"):  # by its spectrum
        n, given = case.record["out"]["shape"][0], case.shape("x0")[0]
        kept = min(n, given)
        bins, more = kept // 2 + 1, n // 2 - kept // 2
        # The last bin of an even length stands for two.
        last = 1.0 if kept % 2 or n == given else 2.0 if n < given else 0.5
        text = (f"let s = rfft(x0)[:{bins}]; irfft(pad(concat(s[:-1], s[-1:] * {last}), [[0, {more}], [0, 0]]), "
                f"fft_length={n}) * {n / given}")
    else:
        text = f'resample(x0, {rates[0]}, {rates[1]}, quality="{kind.removeprefix("soxr_")}")'

    def judge(case, results):
        import check
        if "error" in results[0]:
            return str(results[0])
        want, got = check.decode(case.record["out"], case.root), results[0]["element"][""]
        if want.shape != got.shape:
            return f"expected {want.shape}, got {got.shape}"
        edge = len(want) // 20
        off = np.abs(want - got)[edge:len(want) - edge].max()
        return None if off <= case.record["tol"]["atol"] else f"off by {off}"
    return Plan(text, judge=judge)


def librosa_frames(case):
    """librosa: centred frames, the window in the middle; [bins, frames]."""
    a = case.attrs
    n, length = a["n_fft"], a.get("win_length") or a["n_fft"]
    hop = a.get("hop_length") or length // 4
    center = str(a.get("center", True)).lower()
    return f'x0, {length}, {hop}, fft_length={n}, center={center}, window_at="middle", ' \
           f'pad_mode="{a.get("pad_mode", "constant")}"'


def mel_filters(case, bands=128):
    a = case.attrs
    more = ", htk=true" if a.get("htk") else ""
    more += "".join(f", {ours}={a[theirs]}" for ours, theirs in
                    (("lower_edge_hertz", "fmin"), ("upper_edge_hertz", "fmax")) if a.get(theirs) is not None)
    if a.get("norm", "slaney") is None:
        more += ", area_norm=false"
    return f'mel_filters({a["sr"]}, {a["n_fft"]}, {a.get("n_mels", bands)}{more})'


def mel_power(case, bands=128):
    return f"matmul({mel_filters(case, bands)}, " \
           f"transpose(spectrogram({librosa_frames(case)}, power={float(case.attrs.get('power', 2))}), [1, 0]))"


def log_mel(case):
    a = case.attrs
    names = {"num_mel_bins": "mels", "lower_edge_hertz": "lo", "upper_edge_hertz": "hi", "frame_length": "frame_length",
             "frame_step": "frame_step"}
    return f"log_mel_spectrogram(x0{''.join(f', {ours}={a[theirs]}' for ours, theirs in names.items() if theirs in a)})"


def decibels(case):
    """Without top_db there is no least."""
    text = call(case.op, "ref", "amin", "top_db")(case)
    return text[:-1] + ", top_db=1e9)" if "top_db" in case.attrs and case.attrs["top_db"] is None else text


def audio_spectrogram(case):
    """Of each channel, [samples, channels]; of a vector as if it had one."""
    x, one = ("x0", "[none]") if len(case.shape("x0")) == 1 else ("transpose(x0)", "")
    return (f"spectrogram({x}, {case.attrs['window_size']}, {case.attrs['stride']}, "
            f"power={2 if case.attrs.get('magnitude_squared') else 1}.0){one}")


def time_stretch(case):
    """Only the length is exact."""
    def judge(case, results):
        length = results[0]["element"][""].shape if "element" in results[0] else results[0]
        return None if length == tuple(case.record["out"]["shape"]) else str(length)
    return Plan(f"time_stretch(x0, {float(case.attrs['rate'])})", judge=judge)


MAP = {
    **audio_rare.MAP,
    "decode_wav": decode_wav,
    "encode_wav": lambda case: f"let (a, r) = decode_wav(encode_wav(x0, {case.attrs['sample_rate']})); "
                               "{audio: a, sample_rate: r}",
    "kaiser_bessel_derived_window": kaiser_bessel,
    "frame": frame,
    "fft": call("fft", fft_length="n"), "ifft": call("ifft", fft_length="n"), "idct": idct,
    "magphase": lambda case: "(magnitude(x0), x0)",
    "overlap_and_add": call("overlap_and_add", "frame_step"),
    **{name: window(name) for name in ("hann_window", "hamming_window", "kaiser_window", "vorbis_window")},
    "stft": call("stft", "frame_length", "frame_step", "fft_length", "pad_end"),
    "rfft": call("rfft", fft_length="n"),
    "irfft": call("irfft", fft_length="n"),
    "dct": dct,
    "linear_to_mel_weight_matrix": MEL,
    "chain_log_mel": log_mel,
    "mfccs": lambda case: f"mfccs_from_log_mel_spectrograms(x0)[..., :{case.attrs['keep']}]",
    "audio_spectrogram": audio_spectrogram,
    "inverse_stft": lambda case: "inverse_stft(stft(x0, 256, 64), 256, 64)",
    "resample": resample,
    "resample_poly": call("resample_poly", "up", "down"),
    "audio_librosa.stft": lambda case: f"transpose(stft({librosa_frames(case)}), [1, 0, 2])",
    "mel_filters": mel_filters,
    "melspectrogram": mel_power,
    "mfcc": lambda case: f"transpose(dct(transpose(power_to_db({mel_power(case)}), [1, 0]), norm=\"ortho\"), [1, 0])"
                         f"[:{case.attrs['n_mfcc']}]",
    "power_to_db": decibels, "amplitude_to_db": decibels,
    "preemphasis": lambda case: f"preemphasis(x0, coef={case.attrs['coef']})[:40]",
    "time_stretch": time_stretch,
    "trim": lambda case: f"trim_silence(x0, top_db={float(case.attrs['top_db'])})",
    "soundfile_read": soundfile_read,
}


def own_stft(case):
    """A signal shorter than a frame has no frames (findings 17)."""
    if "error" not in case.record or "trap" not in case.record:
        return None
    bins = 1 << (case.attrs["frame_length"] - 1).bit_length() - 1
    return {"out": {"dtype": "float32", "shape": [0, bins + 1, 2], "data": []}}


OWN = {"stft": own_stft}
