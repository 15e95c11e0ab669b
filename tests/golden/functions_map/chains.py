"""Whole functions of the papers' workloads, written in our language."""
import math

import check
import numpy as np
from functions_case import Plan, literal
from functions_map.random import equal
from functions_result import compare

# What the recorded chains subtract and divide by.
RESNET_MEAN, RESNET_STD = [123.68, 116.779, 103.939], [58.393, 57.12, 57.375]
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def beside_the_border(axis, most):
    """Compares as the record says, but for the output columns (an axis) that the window's first and last column
    reach: TensorFlow's decoder of a window has no neighbour there to smooth the colours with, ours decodes it.
    Those may be `most` away."""
    def judge(case, results):
        bad = compare(case.record, results[0], case.root)
        if not bad or "element" not in results[0]:
            return bad
        want, got = check.decode(case.record["out"], case.root), results[0]["element"][""]
        if want.shape != got.shape or want.dtype != got.dtype:
            return bad
        reach = math.ceil(3 * case.attrs["size"] / case.attrs["window"][3]) + 1
        inner = [slice(None)] * 3
        inner[axis] = slice(reach, -reach)
        near = np.abs(want.astype(float) - got.astype(float)).max() <= most
        return None if near and check.same(want[tuple(inner)], got[tuple(inner)], case.record.get("tol")) else bad
    return judge


def legacy_bicubic(case):
    """The window of a JPEG, resized as MLPerf ResNet does, flipped."""
    a = case.attrs
    window = ", ".join(map(str, a["window"]))
    text = (f"resize_legacy(decode_and_crop_jpeg(jpeg, [{window}], channels=3), [{a['size']}, {a['size']}], "
            "method=\"bicubic\")")
    return f"flip_left_right({text})" if a.get("flip") else text


def resnet_train(case):
    return Plan(legacy_bicubic(case), judge=beside_the_border(1, 24))


def resnet_uint8(case):
    text = f"uint8(round(clip({legacy_bicubic(case)}, 0.0, 255.0)))"
    return Plan(text, judge=beside_the_border(1, 24))


def normalised(text, mean, std):
    return f"({text} - float32({mean})) / float32({std})"


def resnet_normalise_chw(case):
    text = f"transpose({normalised(legacy_bicubic(case), RESNET_MEAN, RESNET_STD)}, [2, 0, 1])"
    return Plan(text, judge=beside_the_border(2, 24 / min(RESNET_STD)))


def resnet_eval(case):
    """The central square of size / (size + 32) of the short side."""
    size = case.attrs["size"]
    return f"""let (h, w, _) = unstack(shape(decode_jpeg(jpeg, channels=3)));
    let crop = int64(float64({size}) / {size + 32} * float64(minimum(h, w)));
    let window = [(h - crop + 1) // 2, (w - crop + 1) // 2, crop, crop];
    resize_legacy(decode_and_crop_jpeg(jpeg, window, channels=3), [{size}, {size}], method="bicubic")"""


def boxes(attrs):
    return f"float32({attrs['boxes']})" if attrs["boxes"] else "zeros([0, 4])"


def ssd_train(case):
    a = case.attrs
    y0, x0, y1, x1 = a["crop"]
    flip = "true" if a["flip"] else "false"
    return f"""let raw = decode_jpeg(jpeg, channels=3); let (h, w, _) = unstack(shape(raw));
    let begin = int64(float32([{y0}, {x0}]) * float32([h, w]));
    let end = begin + int64(float32([{y1 - y0}, {x1 - x0}]) * float32([h, w]));
    let window = raw[begin[0]:end[0], begin[1]:end[1]];
    let small = resize(convert_image_dtype(window, float32), [{a['size']}, {a['size']}]);
    let turned = if {flip} then flip_left_right(small) else small;
    let bright = adjust_brightness(turned, {a['brightness']});
    let sharp = adjust_contrast(bright, {a['contrast']});
    let coloured = adjust_saturation(adjust_hue(sharp, {a['hue']}), {a['saturation']});
    let image = {normalised('clip(coloured, 0.0, 1.0)', MEAN, STD)};
    let all = {boxes(a)};
    let centre = (all[:, :2] + all[:, 2:]) / 2;
    let keep = centre[:, 0] > {y0} and centre[:, 0] < {y1} and centre[:, 1] > {x0} and centre[:, 1] < {x1};
    let kept = boolean_mask(all, keep);
    let moved = clip((kept - float32([{y0}, {x0}, {y0}, {x0}])) / float32([{y1 - y0}, {x1 - x0}, {y1 - y0}, {x1 - x0}]), 0.0, 1.0);
    let boxes = if {flip} then stack(moved[:, 0], 1.0 - moved[:, 3], moved[:, 2], 1.0 - moved[:, 1], axis=1) else moved;
    {{image, boxes, keep}}"""


def rcnn_train(case):
    a = case.attrs
    flip = "true" if a["flip"] else "false"
    return f"""let raw = decode_jpeg(jpeg, channels=3); let (h, w, _) = unstack(shape(raw));
    let scale = minimum({a['short']} / float32(minimum(h, w)), {a['long_']} / float32(maximum(h, w)));
    let (nh, nw) = (int64(float32(h) * scale), int64(float32(w) * scale));
    let image = {normalised('convert_image_dtype(raw, float32)', MEAN, STD)};
    let turned = if {flip} then flip_left_right(image) else image;
    let small = resize(turned, [nh, nw]);
    let all = {boxes(a)};
    let sides = if {flip} then stack(all[:, 0], 1.0 - all[:, 3], all[:, 2], 1.0 - all[:, 1], axis=1) else all;
    {{image: pad(small, [[0, {a['pad'][0]} - nh], [0, {a['pad'][1]} - nw], [0, 0]]),
      boxes: sides * float32([nh, nw, nh, nw]),
      info: float32([float32(nh), float32(nw), 1 / scale, float32(h), float32(w)])}}"""


def transformer(case):
    most = case.attrs["max_len"]
    fields = "keep" if "inputs" not in case.record["out"] else (
        f"keep, inputs: pad(int32(inputs), [[0, {most} - size(inputs)]]), "
        f"targets: pad(int32(targets), [[0, {most} - size(targets)]])")
    return ("let sequence = feature(int64, kind=\"sequence\"); "
            "let {inputs, targets} = parse_example(serialized, {inputs: sequence, targets: sequence}); "
            f"let keep = maximum(size(inputs), size(targets)) <= {most}; {{{fields}}}")


def gnmt_fixed_record(case):
    return ("let (a, b, c, d) = split(decode_raw(record, int32), [48, 48, 48, 3]); "
            "{src: a, tgt_in: b, tgt_out: c, lengths: d}")


def click_log_line(case):
    return ("let (label, a, b, c, s, t, u) = decode_csv(line, [int32, 0.0, 0.0, 0.0, \"\", \"\", \"\"], "
            "field_delim=\"\\t\", use_quote_delim=false); "
            "{label, dense: log1p(maximum([a, b, c], 0.0)), sparse: to_hash_bucket_fast([s, t, u], 1000)}")


def torchvision_crop(case):
    """The first of the draws that fits, else the central crop with the ratio clamped."""
    a = case.attrs
    h, w, scale, ratio = a["height"], a["width"], a["scale"], a["ratio"]
    low, high = min(ratio), max(ratio)
    return Plan(f"""let (height, width) = (float64({h}), float64({w}));
    let (low, high) = (log(float64({ratio[0]})), log(float64({ratio[1]})));
    let (found, crop) = reduce(float64({literal(a['uniforms_area_ratio_y_x'])}), (false, zeros([4], dtype=float64)),
      ((found, best), u) ->
        let area = height * width * ({scale[0]} + u[0] * ({scale[1]} - {scale[0]}));
        let aspect = exp(low + u[1] * (high - low));
        let w = round(sqrt(area * aspect)); let h = round(sqrt(area / aspect));
        let fits = w > 0 and w <= width and h > 0 and h <= height;
        let new = [floor(u[2] * (height - h + 1)), floor(u[3] * (width - w + 1)), h, w];
        (found or fits, if found or not fits then best else new));
    let w = if width / height > {high} then round(height * {high}) else width;
    let h = if width / height < {low} then round(width / {low}) else height;
    let centre = [floor((height - h) / 2), floor((width - w) / 2), h, w];
    int64(if found then crop else centre)""", judge=equal)


MAP = {
    "resnet_train": resnet_train, "resnet_eval": resnet_eval, "resnet_normalise_chw": resnet_normalise_chw,
    "resnet_uint8": resnet_uint8, "ssd_train": ssd_train, "rcnn_train": rcnn_train,
    "transformer_parse_filter_pad": transformer, "gnmt_fixed_record": gnmt_fixed_record,
    "click_log_line": click_log_line, "random_resized_crop_torchvision": torchvision_crop,
}
OWN = {}
