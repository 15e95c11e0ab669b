"""Files of pictures. Where a file is cut or damaged we give an error (findings 5), with a finer code than the
recorded INVALID_ARGUMENT: DATA_LOSS, or RESOURCE_EXHAUSTED for a size beyond the limits."""
import pathlib

import numpy as np
from functions_case import Plan
from functions_map.call import call
from functions_result import compare

UNREADABLE = {"INVALID_ARGUMENT", "DATA_LOSS", "RESOURCE_EXHAUSTED"}
JPEG = call("decode_jpeg", "channels", "ratio", "fancy_upscaling", "dct_method")
WINDOW = call("decode_and_crop_jpeg", "crop_window", "channels", "ratio", "dct_method")


def content(case):
    return pathlib.Path(case.root, case.inputs["contents"]["file"]).read_bytes()


def damaged_jpeg(case):
    """JPEG files that the other library decodes though pixels are missing: cut, or what libjpeg warns of."""
    raw = content(case)
    return raw[:2] == b"\xff\xd8" and (b"\xff\xd9" not in raw or "trap" in case.record)


def opaque(case):
    """The recorded alpha of an added channel is 1 or 15 where the file has so few bits: ours is opaque."""
    import check
    out = case.record["out"]
    raw = content(case)
    if case.attrs.get("channels") != 4 or raw[1:4] != b"PNG" or raw[24] >= 8 or b"tRNS" in raw:
        return out
    pixels = np.array(check.decode(out, case.root))
    pixels[..., 3] = np.iinfo(pixels.dtype).max
    return {"dtype": str(pixels.dtype), "shape": list(pixels.shape), "data": pixels.ravel().tolist()}


def judged(make, one_frame=False):
    """Errors by UNREADABLE; pixels as recorded, but one image where the other library adds an axis."""
    def judge(case, results):
        result = results[0]
        code = result.get("error", {}).get("code")
        if case.attrs.get("try_recover_truncated") and code in UNREADABLE:
            return None  # nothing is made up
        if code == "DATA_LOSS" and "Corrupt JPEG data" in result["error"]["message"]:
            return None  # what libjpeg only warns of
        if "error" in case.record or damaged_jpeg(case):
            return None if code in UNREADABLE else f"expected an error, got {str(result)[:200]}"
        if one_frame and case.record["out"]["shape"][0] == 1 and "element" in result:
            pixels = result["element"][""]
            if pixels.ndim == len(case.record["out"]["shape"]) - 1:
                result = {"element": {"": pixels[None]}}
        return compare({**case.record, "out": opaque(case)}, result, case.root)
    return lambda case: Plan(make(case), judge=judge)


def adjust_quality(case):
    """Floats go through bytes."""
    text = f"adjust_jpeg_quality({{}}, {case.attrs['jpeg_quality']})"
    if "float" not in case.dtype("x0"):
        return text.format("x0")
    return f"convert_image_dtype({text.format('convert_image_dtype(x0, uint8)')}, {case.dtype('x0')})"


def decode_and_crop(case):
    """A recorded trap is not what decoding and then cutting gives; ours always is."""
    plan = judged(WINDOW)(case)
    if "trap" not in case.record:
        return plan
    window = case.attrs["crop_window"]

    def judge(case, results):
        part, whole = results[0]["element"].values()
        return None if np.array_equal(part, whole) else "the window differs from decoding and cutting"
    return Plan(f"({WINDOW(case)}, crop({JPEG(case)}, {window}))", judge=judge)


def encode_jpeg(case):
    """Encoders differ: the size, and how far the picture is from what it was."""
    value = case.inputs.get("image", {})
    image = "image" if value.get("channel", "all") == "all" else f"image[:, :, {value['channel']}:{value['channel'] + 1}]"
    options = call("", "quality", "format", "progressive", "optimize_size", "chroma_downsampling")(case)
    if "image" not in case.inputs:
        return "encode_jpeg(x0)"
    text = f"encode_jpeg({image}{options[1:-1].removeprefix('image')})"
    if "error" in case.record:
        return text

    def judge(case, results):
        if "error" in results[0]:
            return str(results[0])
        size, pixels, given = results[0]["element"].values()
        want, tol = case.record["out"], case.record["tol"]
        noise = np.mean((pixels.astype(float) - given) ** 2)
        psnr = 10 * np.log10(255 ** 2 / noise)
        if list(pixels.shape) != want["shape_decoded"] or psnr < tol["psnr_db_min"]:
            return f"shape {pixels.shape}, {psnr:.2f} dB"
        close = abs(size - want["bytes"]) <= tol["bytes_rel"] * want["bytes"]
        return None if close else f"{size} bytes, expected about {want['bytes']}"
    return Plan(f"(let f = {text}; (string_length(f), decode_jpeg(f), {image}))", judge=judge)


def pillow_decode(case):
    """Recorded is only how far Pillow is from the other library: the shape, and that bad files are refused."""
    def judge(case, results):
        if "error" in case.record or "error" in results[0]:
            bad = "error" in results[0] and results[0]["error"]["code"] in UNREADABLE
            return None if bad and ("error" in case.record or damaged_jpeg(case) or "garbled" in str(case.inputs)) \
                else str(results[0])[:200]
        shape = list(results[0]["element"][""].shape)
        want = case.record["out"]["shape"]
        want = want + [1] if len(want) == 2 else want[:2] + [min(want[2], 3)]
        return None if shape == want else f"expected {want}, got {shape}"
    return Plan("decode_image(contents)", judge=judge)


MAP = {
    "decode_jpeg": judged(JPEG, one_frame=True),
    "decode_and_crop_jpeg": decode_and_crop,
    "extract_jpeg_shape": call("extract_jpeg_shape"),
    "is_jpeg": call("is_jpeg"),
    "decode_png": judged(call("decode_png", "channels", "dtype"), one_frame=True),
    "decode_image": judged(call("decode_image", "channels", "dtype", "expand_animations")),
    "decode_gif": judged(call("decode_gif")),
    "decode_bmp": judged(call("decode_bmp", "channels")),
    "decode_webp": judged(call("decode_webp", "channels"), one_frame=True),
    "encode_jpeg": encode_jpeg,
    "encode_png_round_trip": lambda case: f"decode_png(encode_png(x0), dtype={case.dtype('x0')})",
    "adjust_jpeg_quality": adjust_quality,
    "pillow_decode": pillow_decode,
}
