#!/usr/bin/env python3
"""Ops that are asked for monstrous sizes, by arguments or by what a file claims, under a small memory budget.

monstrous_sizes.py [--program P] [FILTER]

Each call ends with a result or with a clear error, never by a signal, and its peak memory stays near the budget.
Closing line: N passed, N failed.
"""
import argparse
import concurrent.futures
import gzip
import os
import pathlib
import re
import struct
import sys
import tempfile
import zlib

from program import ENV, TooLong, execute

ROOT = pathlib.Path(__file__).resolve().parent.parent
MB = 1_000_000
BUDGET = 64  # MB
# Beside the budget: what is smaller than the program counts, and the sanitizer's shadow of all of it.
BESIDE = 56
FAILS = ["RESOURCE_EXHAUSTED"]  # in the message
ROOM = ["the memory budget of 61 MiB is used up"]
N = "(x + 1000000000000)"  # a number that no constant is folded from

# Expressions over an int64 `x` that is 0. Those in FAILING must be refused or fail, those in BOUNDED may also give
# something.
FAILING = {
    # made from nothing
    "zeros": f"zeros([{N}])",
    "zeros, dynamic": f"zeros(cast([{N}, {N}], int32), uint8)",
    "ones": f"ones([{N}])",
    "fill": f"fill([{N}], 1.0)",
    "fill, a constant": "fill([10000000000], uint8(7))",
    "arange": f"arange({N})",
    "arange of floats": f"arange(0.0, float64({N}), 1.0)",
    "linspace": f"linspace(0.0, 1.0, {N})",
    "one_hot": f"one_hot(x, {N})",
    "sequence_mask": f"sequence_mask([x], {N})",
    "bincount": f"bincount([{N}])",
    "bincount, minlength": "bincount([x], minlength=1000000000000)",
    "histogram": "histogram([float32(x)], range=[0.0, 1.0], bins=1000000000000)",
    "random_uniform": f"random_uniform([{N}])",
    "random_normal": f"random_normal([{N}])",
    "philox": "philox([uint32(x), 0, 0, 0], [uint32(x), 1], blocks=1000000000000)",
    # entries several times, or among others
    "tile": f"tile([x], [{N}])",
    "repeat": "repeat([x], [x + 300000000])",
    "repeat of many": f"repeat([x, x], {N})",
    "pad": f"pad([x], [[{N}, 0]])",
    "broadcast_to": f"broadcast_to(x, [{N}])",
    "broadcasting": "zeros([x + 100000, 1]) + zeros([1, x + 100000])",
    "where": "where(zeros([x + 100000, 1], bool), zeros([1, x + 100000]), 0.0)",
    "matmul": "matmul(zeros([x + 100000, 1]), zeros([1, x + 100000]))",
    "tensordot": "tensordot(zeros([x + 100000]), zeros([x + 100000]), axes=0)",
    "gather": "gather(zeros([1, x + 10000]), zeros([x + 100000], int64))",
    "gather_nd": "gather_nd(zeros([1, x + 10000]), zeros([x + 100000, 1], int64))",
    "scatter_nd": f"scatter_nd([[x]], [x], [{N}])",
    "unsorted_segment_sum": f"unsorted_segment_sum([x], [x], {N})",
    "segment_sum": f"segment_sum([x], [{N}])",
    "sort": "sort(zeros([x + 12000000], uint16))",
    "argsort": "argsort(zeros([x + 30000000], uint8))",
    "top_k": "top_k(zeros([x + 30000000], uint8), x + 20000000)",
    "unique": "unique(arange(x + 3000000))",
    "nonzero": "nonzero(ones([x + 30000000], bool))",
    "cast": "cast(zeros([x + 30000000], uint8), float64)",
    # ragged and sparse
    "ragged_range": f"ragged_range([{N}])",
    "to_tensor, one long row": "to_tensor(ragged_range(concat([[x + 1000000], fill([x + 100000], int64(1))])))",
    "to_tensor, shape": "to_tensor(ragged_range([x + 1]), shape=[1000000, 1000000])",
    "to_tensor, sparse": f"to_tensor(sparse([[x]], [x], [{N}]))",
    "from_tensor": "from_tensor(zeros([x + 30, 1000000], uint8))",
    "ragged_boolean_mask": "ragged_boolean_mask(ragged_range([x + 3000000]), ragged_range([x + 3000000]) >= 0)",
    # functions
    "map_fn": "map_fn(arange(x + 100000), i -> zeros([100000]))",
    "scan": "scan(arange(x + 100000), x, (s, i) -> (s, zeros([100000])))",
    "while_loop": "while_loop(fill([x + 1], 1.0), s -> size(s) > 0, s -> concat([s, s]), 100)",
    # strings
    "regex_replace": 'regex_replace(reduce_join(fill([x + 1000000], "a")), "a", "%s")' % ("b" * 1000),
    "regex_replace, groups": r'regex_replace(reduce_join(fill([x + 1000000], "a")), "(a+)", "%s")' % (r"\\1" * 300),
    "reduce_join": 'reduce_join(fill([x + 3000000], "a"), separator="%s")' % ("b" * 1000),
    "join": 'join([fill([x + 3000000], "a"), "%s"])' % ("b" * 1000),
    "ngrams": 'ngrams(fill([x + 100000], "ab"), 10000)',
    "ngrams, padded": 'ngrams(fill([x + 2], "ab"), 1000000, pad_values=["a", "b"])',
    "unsorted_segment_join": 'unsorted_segment_join(["a"], [x], num_segments=1000000000000)',
    "as_string": "as_string(zeros([x + 1000000]), width=1000)",
    "as_string, precision": "as_string(zeros([x + 1000000]), precision=1000)",
    "format": 'format("{}", [zeros([x + 40000000], uint8)], summarize=-1)',
    "split_text": 'split_text(reduce_join(fill([x + 10000000], "a,")), ",")',
    "split_any": 'split_any(reduce_join(fill([x + 10000000], "a,")), ",")',
    "bytes_split": 'bytes_split(reduce_join(fill([x + 10000000], "a")))',
    "unicode_decode": 'unicode_decode(reduce_join(fill([x + 16000000], "a")))',
    "unicode_decode, UTF-16": 'unicode_decode(reduce_join(fill([x + 8000000], "ab")), "UTF-16BE")',
    "unicode_split": 'unicode_split(reduce_join(fill([x + 10000000], "a")))',
    "unicode_transcode": 'unicode_transcode(reduce_join(fill([x + 20000000], "a")), "UTF-8", "UTF-32-BE")',
    "unicode_encode": "unicode_encode(fill([x + 15000000], int32(65)))",
    "upper": 'upper(reduce_join(fill([x + 16000000], "ab")), "utf-8")',
    "normalize_utf8": 'normalize_utf8(reduce_join(fill([x + 3000000], "\\u1e69")), "NFKD")',
    "strings doubled": "strings(x)",
    # bytes and files
    "decode_raw": 'decode_raw("a", uint8, fixed_length=1000000000000)',
    "decompress, GZIP": 'decompress(read_file("$DIR/bomb.gz"), "GZIP")',
    "decompress, ZLIB": 'decompress(read_file("$DIR/bomb.zlib"), "ZLIB")',
    "decode_base64": 'decode_base64(reduce_join(fill([x + 14000000], "AAAA")))',
    "encode_base64": 'encode_base64(reduce_join(fill([x + 15000000], "AA")))',
    "read_file": 'read_file("$DIR/holes")',
    "parse_json": 'parse_json(read_file("$DIR/brackets.json"), {"a": feature(int64, [-1])})',
    "decode_json_example": 'decode_json_example(read_file("$DIR/brackets.json"))',
    "parse_tensor": 'parse_tensor(read_file("$DIR/claims.tensor"), float32)',
    "parse_example": 'parse_example(serialize(x), {"a": feature(int64, [1000000000], default=7)})',
    "decode_csv": 'decode_csv(read_file("$DIR/commas.csv"), columns=[int64])',
    # sound
    "decode_audio": 'decode_audio(read_file("$DIR/claims.flac"))',
    "decode_wav": 'decode_wav(read_file("$DIR/tone.wav"), desired_samples=1000000000000)',
    "resample": "resample(zeros([x + 1000]), 1, 1000000000)",
    "resample, constant": "resample(zeros([1000]), 1, 1000000000)",
    "resample, far beyond": "resample(zeros([x + 1000]), 1e-300, 1e300)",
    "resample_poly": "resample_poly(zeros([x + 1000]), 1048575, 1)",
    "hann_window": "hann_window(1000000000000)",
    "hamming_window": "hamming_window(100000000)",
    "kaiser_window": "kaiser_window(100000000)",
    "vorbis_window": "vorbis_window(100000000)",
    "frame": "frame(zeros([x + 1000000]), 100000, 1)",
    "stft": "stft(zeros([x + 1000000]), 1000, 1)",
    "stft, fft_length": "stft(zeros([x + 1000]), 1000, 1, fft_length=1073741824)",
    "rfft": "rfft(zeros([x + 8]), fft_length=1073741824)",
    "irfft": "irfft(zeros([x + 8, 2]), fft_length=1073741824)",
    "fft": "fft(zeros([x + 8, 2]), fft_length=1073741824)",
    "inverse_stft": "inverse_stft(zeros([x + 4, 536870913, 2]), 1073741824, 1)",
    "spectrogram": "spectrogram(zeros([x + 1000000]), 1000, 1)",
    "log_mel_spectrogram": "log_mel_spectrogram(zeros([x + 1000000]), frame_step=1, num_mel_bins=40)",
    "overlap_and_add": "overlap_and_add(zeros([x + 2, 3]), 1000000000000)",
    "time_stretch": "time_stretch(zeros([x + 1000000]), 0.00001)",
    "linear_to_mel_weight_matrix": "linear_to_mel_weight_matrix(num_mel_bins=100000, num_spectrogram_bins=100000)",
    "mel_filters": "mel_filters(fft_length=1048576, num_mel_bins=100000)",
    "dct": "dct(zeros([x + 20000]))",
    # pictures
    "decode_jpeg, progressive": 'decode_jpeg(read_file("$DIR/progressive.jpg"), ratio=8)',
    "decode_png": 'decode_png(read_file("$DIR/bomb.png"))',
    "decode_png, palette": 'decode_png(read_file("$DIR/bomb.png"), channels=4)',
    "decode_image, wide": 'decode_image(read_file("$DIR/half.png"), dtype=float32)',
    "decode_gif": 'decode_gif(read_file("$DIR/frames.gif"))',
    "resize": "resize(zeros([x + 2, 2, 3], uint8), [100000, 100000])",
    "resize_with_pad": "resize_with_pad(zeros([x + 2, 2, 3], uint8), 100000, 100000)",
    "resize_with_crop_or_pad": "resize_with_crop_or_pad(zeros([x + 2, 2, 3], uint8), 100000, 100000)",
    "resize_legacy": "resize_legacy(zeros([x + 2, 2, 3], uint8), [100000, 100000])",
    "pillow_resize": "pillow_resize(zeros([x + 2, 2, 3], uint8), [100000, 100000])",
    "pad_to_bounding_box": "pad_to_bounding_box(zeros([x + 2, 2, 3], uint8), 0, 0, 100000, 100000)",
    "crop_and_resize": "crop_and_resize(zeros([1, x + 2, 2, 3]), [[0.0, 0.0, 1.0, 1.0]], [0], [100000, 100000])",
    "extract_patches": "extract_patches(zeros([x + 400, 400, 3]), [200, 200])",
    "random_resized_crop": "random_resized_crop(zeros([x + 2, 2, 3], uint8), 100000, 100000)",
    "box_iou": "box_iou(zeros([x + 100000, 4]), zeros([x + 100000, 4]))",
    "encode_jpeg": "encode_jpeg(zeros([x + 5000, 6000, 1], uint8), progressive=true)",
    "depth": "grayscale_to_rgb(zeros([x + 5000, 6000, 1], uint8))",
    # products of sizes beyond int64
    "zeros, beyond int64": "zeros([x + 4611686018427387904, 4])",
    "zeros, beyond int64, static": "zeros([4611686018427387904, 4])",
    "fill, beyond int64": "fill([x + 4294967296, 4294967296, 4294967296], 1)",
    "ones, beyond int64": "ones([4294967296, 4294967296])",
    "tile, beyond int64": "tile(zeros([x + 2, 2]), [4611686018427387904, 4611686018427387904])",
    "tile, beyond int64, static": "tile(zeros([2, 2]), [4611686018427387904, 4611686018427387904])",
    "broadcast_to, beyond int64": "broadcast_to(x, [4294967296, 4294967296])",
    "one_hot, beyond int64": "one_hot(zeros([x + 4, 4], int64), x + 4611686018427387904)",
    "pad, beyond int64": "pad([x], [[x + 9223372036854775807, x + 9223372036854775807]])",
    "pad, beyond int64, static": "pad([x], [[9223372036854775807, 9223372036854775807]])",
    "random_uniform, beyond int64": "random_uniform([4294967296, 4294967296])",
    "resize, beyond int64": "resize(zeros([x + 2, 2, 3]), [4294967296, 4294967296])",
}
BOUNDED = {
    "resize, many taps": 'resize(zeros([x + 10000, 2, 1], uint8), [10000, 2], "lanczos5", antialias=true)',
    "zeros, beyond int64 but empty": "zeros([x + 4611686018427387904, 4, 0])",
    "zeros, beyond int64 but empty, static": "zeros([4611686018427387904, 4, 0])",
    "reshape": "reshape([x], [x + 4611686018427387904, 4])",
    "reshape, to nothing": "reshape(zeros([x, 2]), [x + 4611686018427387904, 4, 0])",
    "reshape, static": "reshape(zeros([0]), [4611686018427387904, 4, 0])",
    "shuffle": "shuffle(zeros([x + 5000000], uint8))",
    "roll": "roll(zeros([x + 5000000], uint8), 3)",
    "slice": "slice(zeros([x + 5]), [x + 9223372036854775807], [x + 9223372036854775807])",
    "split_tensor": "split_tensor(zeros([x + 6]), [9223372036854775807, 9223372036854775807])",
    "stack": "stack([zeros([x + 3000000]), zeros([x + 3000000])])",
    "concat": "concat([zeros([x + 3000000]), zeros([x + 3000000])])",
    "resample, down": "resample(zeros([x + 1000000]), 1000000000, 1)",
    "resample, odd ratio": "resample(zeros([x + 10]), 1, 999983)",
    "gaussian_blur": "gaussian_blur(zeros([x + 2, 2, 3], uint8), 1000.0)",
    "non_max_suppression": "non_max_suppression(zeros([x + 1000, 4]), zeros([x + 1000]), 1000000000000)",
    "decode_webp": 'decode_image(read_file("$DIR/half.png"))',
    "edit": 'regex_replace(reduce_join(fill([x + 1000000], "a")), "", "b")',
}
# Whole pipelines.
PIPELINES = {
    "a constant of 10 GB": ("from_tensors(zeros([10000000000], uint8))", ["16 MiB"]),
    "a constant of 10 GB in a function": ("range(3) | map(x -> (x, zeros([10000000000], uint8)))", FAILS),
    "many constants": ("".join(f"let a{i} = fill([15000000], uint8({i}))\n" for i in range(40)) +
                       "range(3) | map(x -> x + " + " + ".join(f"int64(a{i}[x])" for i in range(40)) + ")", ROOM),
    "strings doubled forty times": ('let s0 = "abcdefgh"\n' + "".join(
        f"let s{i + 1} = join([s{i}, s{i}])\n" for i in range(40)) +
        "range(3) | map(x -> string_length(s40) + x)", ROOM),
    "strings doubled as a source": ('let s0 = "abcdefgh"\n' + "".join(
        f"let s{i + 1} = join([s{i}, s{i}])\n" for i in range(40)) + "from_tensors(s40)", ROOM),
    "tensors doubled as a source": ("let s0 = zeros([1000])\n" + "".join(
        f"let s{i + 1} = concat([s{i}, s{i}])\n" for i in range(40)) + "from_tensor_slices(s40)", ROOM),
    "a line of text": ('text_line("$DIR/line.txt") | map(s -> assert(string_length(s) == 8, s)) | ignore_errors()',
                       FAILS + ["1 errors", "line.txt: offset 9: the line"]),
    "a line of JSON": ('jsonl("$DIR/line.txt", {"a": int64}) | ignore_errors()',
                       FAILS + ["1 errors", "line.txt: offset 9: the line"]),
    "a vocabulary": ('range(2) | map(x -> lookup(vocabulary("$DIR/line.txt"), as_string(x)))', ["line.txt"] + ROOM),
    "a BPE model": ('range(2) | map(x -> encode(bpe("$DIR/line.txt"), as_string(x)))', FAILS + ["line.txt"]),
    "a SentencePiece model": ('range(2) | map(x -> encode(sentencepiece("$DIR/line.txt"), as_string(x)))',
                              FAILS + ["line.txt"]),
    "an import": ('import "$DIR/line.txt"\nrange(2)', ["line.txt: it holds more than"]),
    "a line of CSV": ('csv("$DIR/line.txt", [bytes], use_quote_delim=false) | ignore_errors()',
                      FAILS + ["1 errors", "line.txt: offset 9: the row"]),
}


def write_files(program, folder):
    """Small files that claim much, or become much."""
    zeros = bytes(MB)
    with gzip.open(folder / "bomb.gz", "wb") as f:
        for _ in range(300):
            f.write(zeros)
    z = zlib.compressobj()
    (folder / "bomb.zlib").write_bytes(b"".join(z.compress(zeros) for _ in range(300)) + z.flush())
    with open(folder / "holes", "wb") as f:
        f.truncate(10_000 * MB)
    with open(folder / "line.txt", "wb") as f:
        f.write(b'{"a": 1}\n')
        f.seek(200 * MB)
        f.write(b'\n{"a": 2}\n')
    (folder / "brackets.json").write_bytes(b'{"a": [' + b"{}," * 3 * MB + b"{}]}")
    (folder / "commas.csv").write_bytes(b"," * 10 * MB)
    # TensorProto: dtype float32, shape [2^35], no values.
    (folder / "claims.tensor").write_bytes(bytes.fromhex("0801120a1208088080808080010a"[:4]) +
                                           b"\x12\x09\x12\x07\x08\x80\x80\x80\x80\x80\x01")
    # FLAC: STREAMINFO alone, 44100 Hz, 1 channel, 16 bits, 2^30 samples.
    bits = (44100 << 44) | (0 << 41) | (15 << 36) | (1 << 30)
    (folder / "claims.flac").write_bytes(b"fLaC\x80\x00\x00\x22" + struct.pack(">HH", 4096, 4096) + bytes(6) +
                                         bits.to_bytes(8, "big") + bytes(16) + bytes(17000))
    samples = bytes(2000)
    (folder / "tone.wav").write_bytes(b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack(
        "<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data" + struct.pack("<I", len(samples)) + samples)
    for name, side in ("bomb.png", 20000), ("half.png", 5500):
        write_png(folder / name, side)
    write_gif(folder / "frames.gif")
    jpeg = f'range(1) | map(x -> encode_jpeg(fill([x + 8000, 6000, 1], uint8(7)), progressive=true)) | save("{folder}/jpeg")'
    status, _, err = execute([program, "run", "-"], jpeg)
    if status:
        sys.exit(f"making a progressive JPEG file: exit {status}\n{err}")
    record = b"".join(p.read_bytes() for p in sorted((folder / "jpeg").rglob("*")) if p.is_file())
    begin, end = record.find(b"\xff\xd8\xff"), record.rfind(b"\xff\xd9")
    (folder / "progressive.jpg").write_bytes(record[begin:end + 2])


def write_png(path, side):
    """A grey picture, compressed a thousand times."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    z = zlib.compressobj()
    data = b"".join(z.compress(bytes(side + 1)) for _ in range(side)) + z.flush()
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", data) + chunk(b"IEND", b""))


def write_gif(path):
    """Frames of 6000 x 6000 pixels; their data is cut, which shows only after memory was taken for them."""
    side = 6000
    out = b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(6)
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02" + (b"\xff" + bytes(255)) * 200 + b"\x00"
    path.write_bytes(out + frame * 4 + b"\x3b")


def execute_measured(program, pipe, folder):
    """-> exit status, what was said, peak memory in bytes."""
    # Freed memory goes back at once: the sanitizer would keep it, and it would count.
    env = {**os.environ, **ENV}
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    peak = folder / f"peak-{os.getpid()}-{hash(pipe)}"
    command = ["/usr/bin/env", "python3", "-c", MEASURE, str(peak), program, "run", "-", "--memory", f"{BUDGET}MB",
               "--threads", "1", "--limit", "2"]
    status, out, err = execute(command[:-2], pipe.replace("$DIR", str(folder)), env=env, cpu_limit=60)
    return status, out + err, int(peak.read_text()) * 1024


# Runs a command and writes its peak memory to a file.
MEASURE = """import os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status if status >= 0 else 200 - status)"""


def judge(program, folder, base, pipe, fails, words):
    """-> what is wrong, and the peak beyond that of an empty run."""
    try:
        status, said, peak = execute_measured(program, pipe, folder)
    except TooLong as e:
        return str(e), 0
    beyond = peak - base
    if status not in (0, 1, 2) or "Sanitizer" in said or "runtime error" in said:
        return f"exit {status}: {said[:600]}", beyond
    if "INTERNAL" in said or "UNKNOWN" in said:
        return f"not its own error: {said[:300]}", beyond
    if beyond > (BUDGET + BESIDE) * MB:
        return f"{beyond / MB:.0f} MB under a budget of {BUDGET} MB", beyond
    if (fails and status == 0) or not all(w in said for w in words):
        return f"exit {status}, expected {' '.join(words) or 'an error'}: {said[:300]}", beyond
    return "", beyond


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--verbose", action="store_true", help="the peak memory of each")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    program = str(pathlib.Path(a.program).resolve())
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_files(program, folder)
        base = execute_measured(program, "range(0)", folder)[2]
        cases = [(n, f"range(1) | map(x -> {e})", fails, []) for table, fails in ((FAILING, True), (BOUNDED, False))
                 for n, e in table.items()]
        cases += [(n, pipe, False, words) for n, (pipe, words) in PIPELINES.items()]
        cases = [c for c in cases if re.search(re.escape(a.filter), c[0])]
        most = 0
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = pool.map(lambda c: judge(program, folder, base, *c[1:]), cases)
            for (case, pipe, *_), (problem, beyond) in zip(cases, results):
                most = max(most, beyond)
                if a.verbose:
                    print(f"{beyond / MB:6.0f} MB  {case}", flush=True)
                if problem:
                    failed += 1
                    print(f"FAILED {case}: {problem}\n  {pipe[:300]}", flush=True)
    print(f"peak memory under --memory {BUDGET}MB: at most {most / MB:.0f} MB beyond the {base / MB:.0f} MB of an empty run")
    print(f"{len(cases) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
