"""Images: recorded op -> an expression over the inputs' names."""
import numpy as np
from functions_case import literal
from functions_map import image_files, image_random, image_rare
from functions_map.call import call

PILLOW = call("pillow_resize", "size", "method", "box", "reducing_gap")

PATCHES = call("extract_patches", "sizes", "strides", "rates", "padding")
LEGACY = call("resize_legacy", "size", "method", "align_corners", "half_pixel_centers")
LEGACY_AREA = call("resize_legacy", "size", "method", "align_corners")

BOX = ("offset_height", "offset_width", "target_height", "target_width")


def floats(case, name):
    return f"float32({literal(case.attrs[name])})"


def crop_and_resize(case):
    options = call("", "method", "extrapolation_value")(case)[1:-1].removeprefix("x0")
    a = case.attrs
    return f"crop_and_resize(x0, {floats(case, 'boxes')}, {a['box_indices']}, {a['crop_size']}{options})"


def pillow_resize(case):
    grey = len(case.record["out"]["shape"]) == 2
    return PILLOW(case) + ("[:, :, 0]" if grey else "")


MAP = {
    **image_files.MAP,
    **image_random.MAP,
    **image_rare.MAP,
    "flip_left_right": call("flip_left_right"),
    "flip_up_down": call("flip_up_down"),
    "resize": call("resize", "size", "method", "antialias", "preserve_aspect_ratio"),
    "central_crop": call("central_crop", "central_fraction"),
    "crop_to_bounding_box": call("crop_to_bounding_box", *BOX),
    "pad_to_bounding_box": call("pad_to_bounding_box", *BOX),
    "resize_with_crop_or_pad": call("resize_with_crop_or_pad", "target_height", "target_width"),
    "crop_and_resize": crop_and_resize,
    "transpose": lambda case: f"transpose(x0, {'[0, 2, 1, 3]' if len(case.shape('x0')) == 4 else '[1, 0, 2]'})",
    "rot90": call("rot90", "k"),
    "extract_patches": lambda case: PATCHES(case) if len(case.shape("x0")) == 4 else f"{PATCHES(case)}[none]",
    "draw_bounding_boxes": lambda case: f"draw_bounding_boxes(x0, {floats(case, 'boxes')}, {floats(case, 'colors')})",
    "non_max_suppression": call("non_max_suppression", "max_output_size", "iou_threshold", "score_threshold"),
    "image_gradients": lambda case: "(pad(x0[:, 1:] - x0[:, :-1], [[0, 0], [0, 1], [0, 0], [0, 0]]), "
                                    "pad(x0[:, :, 1:] - x0[:, :, :-1], [[0, 0], [0, 0], [0, 1], [0, 0]]))",
    "psnr": lambda case: f"psnr(x0, x1, {case.attrs['max_val']})",
    **{name: call(name) for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb",
                                     "rgb_to_grayscale", "grayscale_to_rgb", "per_image_standardization")},
    "adjust_brightness": call("adjust_brightness", "delta"),
    "adjust_contrast": call("adjust_contrast", "factor"),
    "adjust_saturation": call("adjust_saturation", "factor"),
    "adjust_hue": call("adjust_hue", "delta"),
    "adjust_gamma": call("adjust_gamma", "gamma", "gain"),
    "convert_image_dtype": call("convert_image_dtype", "dtype"),
    # Areas have no centres.
    "resize_legacy": lambda case: (LEGACY_AREA if case.attrs.get("method") == "area" else LEGACY)(case),
    "resize_with_pad": call("resize_with_pad", "target_height", "target_width", "method", "antialias"),
    "pillow_resize": pillow_resize,
}


def own_convert(case):
    """Our rule where the record is a trap, or 16-bit floats are in it: float32 between, and saturation."""
    source, wanted = case.dtype("x0"), case.attrs["dtype"]
    if "trap" not in case.record and not {source, wanted} & {"float16", "bfloat16"} or "error" in case.record:
        return None
    x = case.array("x0")
    if "float" in source and "float" not in wanted:
        top = np.iinfo(wanted).max
        real = np.float64 if source == "float64" else np.float32
        highest = real(top) if float(real(top)) <= top else np.nextafter(real(top), real(0))
        scaled = np.nan_to_num(x.astype(real) * real(top + 0.5), nan=float(np.iinfo(wanted).min))
        x = np.clip(scaled, real(np.iinfo(wanted).min), highest).astype(wanted)
    elif "float" in wanted and "float" not in source and wanted == "float16":
        x = (x.astype(np.float32) * np.float32(1 / np.iinfo(source).max)).astype(wanted)
    else:
        return None
    data = x.ravel().astype(float).tolist() if "float" in wanted else x.ravel().tolist()
    return {"out": {"dtype": wanted, "shape": list(x.shape), "data": data}}


OWN = {"convert_image_dtype": own_convert}
