"""Random ops of images. Our numbers are our own: what holds for every draw, or for many together, is checked."""
import numpy as np
from functions_case import Plan, literal

QUANTILES = [0, .05, .25, .5, .75, .95, 1]


def between(adjust, symmetric=False):
    """Each value lies between those of the smallest and the largest change."""
    def make(case):
        a = case.attrs
        given = [a["max_delta"]] if symmetric else [a["lower"], a["upper"]]
        ends = [-given[0], given[0]] if symmetric else given
        call = f"random_{adjust}(x0, {', '.join(map(literal, given))}, seed={a['seed'][0]})"
        if "error" in case.record:
            return call

        def judge(case, results):
            if "error" in results[0]:
                return str(results[0])
            drawn, *ends = (x.astype(float) for x in results[0]["element"].values())
            inside = (drawn >= np.minimum(*ends) - 1) & (drawn <= np.maximum(*ends) + 1)
            return None if inside.all() else f"{(~inside).sum()} values outside what the range allows"
        return Plan(f"({call}, adjust_{adjust}(x0, {ends[0]}), adjust_{adjust}(x0, {ends[1]}))", judge=judge)
    return make


def hue(case):
    """A turn of the hue keeps the largest and the smallest channel."""
    call = f"random_hue(x0, {case.attrs['max_delta']}, seed={case.attrs['seed'][0]})"
    if "error" in case.record:
        return call

    def judge(case, results):
        x, drawn = case.array("x0").astype(float), results[0]["element"][""].astype(float)
        same = np.abs(x.max(-1) - drawn.max(-1)) + np.abs(x.min(-1) - drawn.min(-1)) <= 2
        return None if same.all() else "value or chroma changed"
    return Plan(call, judge=judge)


def flip(case):
    def judge(case, results):
        x, drawn = case.array("x0"), results[0]["element"][""]
        return None if np.array_equal(drawn, x) or np.array_equal(drawn, x[:, ::-1]) else "neither x nor x mirrored"
    return Plan(f"random_flip_left_right(x0, seed={case.attrs['seed'][0]})", judge=judge)


def flip_up(case):
    def judge(case, results):
        x, drawn = case.array("x0"), results[0]["element"][""]
        return None if np.array_equal(drawn, x) or np.array_equal(drawn, x[::-1]) else "neither x nor x upside down"
    return Plan(f"random_flip_up_down(x0, seed={case.attrs['seed'][0]})", judge=judge)


def crop(case):
    def judge(case, results):
        x, drawn = case.array("x0"), results[0]["element"][""]
        h, w = drawn.shape[:2]
        windows = (x[i:i + h, j:j + w] for i in range(x.shape[0] - h + 1) for j in range(x.shape[1] - w + 1))
        found = list(drawn.shape) == case.attrs["size"] and any(np.array_equal(drawn, window) for window in windows)
        return None if found else "no window of x"
    return Plan(f"random_crop(x0, {case.attrs['size']}, seed={case.attrs['seed'][0]})", judge=judge)


def sample_box(case):
    """Bounds of each sample; quantiles of many. The last position comes with us (findings 18)."""
    a = case.attrs
    boxes = [b for b in a["boxes"][0] if b]
    boxes = f"float32({[boxes]})" if boxes else "zeros([1, 0, 4])"
    options = ", ".join(f"{k}={literal(a[k])}" for k in ("min_object_covered", "aspect_ratio_range", "area_range",
                                                        "max_attempts", "use_image_if_no_bounding_boxes"))
    text = f"range({a['samples']}) | map(_ -> let (at, size, _) = sample_distorted_bounding_box({a['image_size']}, " \
           f"{boxes}, seed=7, {options}); concat(at[:2], size[:2]))"

    def judge(case, results):
        height, width = a["image_size"][:2]
        if "error" in case.record:
            codes = {r.get("error", {}).get("code") for r in results}
            return None if codes == {"INVALID_ARGUMENT"} else f"expected INVALID_ARGUMENT, got {codes}"
        y, x, h, w = np.array([r["element"][""] for r in results]).T
        if (y < 0).any() or (x < 0).any() or (y + h > height).any() or (x + w > width).any():
            return "a window outside the image"
        whole = (h == height) & (w == width)
        want = case.record["out"]
        if abs(whole.mean() - want["whole_image_fraction"]) > 0.05:
            return f"whole image: {whole.mean()}"
        if want["area_quantiles_0_5_25_50_75_95_100"] is None:
            return None
        h, w, y = h[~whole], w[~whole], y[~whole]
        area = np.quantile(h * w / (height * width), QUANTILES) - want["area_quantiles_0_5_25_50_75_95_100"]
        aspect = np.quantile(w / h, QUANTILES) - want["aspect_w_over_h_quantiles"]
        off = max(np.abs(area[1:-1]).max(), np.abs(aspect[1:-1]).max())
        return None if off <= 0.06 else f"quantiles off by {off:.3f}"
    return Plan(text, whole=True, judge=judge)


MAP = {
    "sample_distorted_bounding_box": sample_box,
    "stateless_random_crop": crop,
    "stateless_random_flip_left_right": flip, "stateless_random_flip_up_down": flip_up,
    "stateless_random_brightness": between("brightness", symmetric=True),
    "stateless_random_contrast": between("contrast"),
    "stateless_random_saturation": between("saturation"),
    "stateless_random_hue": hue,
}
