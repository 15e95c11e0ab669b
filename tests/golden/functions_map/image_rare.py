"""Images: ops of other libraries that stand rarely in functions of rows, as expressions over ours."""
import itertools
import math

from functions_case import Plan, literal

SOBEL = ([[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


def sobel(case):
    """[batch, height, width, channels, 2]: the picture mirrored at its border, and shifted."""
    rows, columns = case.shape("x0")[1:3]
    def part(kernel):
        terms = [f"float32({kernel[i][j]}) * p[:, {i}:{i + rows}, {j}:{j + columns}]"
                 for i, j in itertools.product(range(3), range(3)) if kernel[i][j]]
        return " + ".join(terms).replace("float32", case.dtype("x0"))
    mirrored = "pad(x0, [[0, 0], [1, 1], [1, 1], [0, 0]], mode=\"reflect\")"
    return f"let p = {mirrored}; stack({part(SOBEL[0])}, {part(SOBEL[1])}, axis=-1)"


def total_variation(case):
    """Of one picture, or of each."""
    rank, d = len(case.shape("x0")), case.dtype("x0")
    down, right = ("x0[1:] - x0[:-1]", "x0[:, 1:] - x0[:, :-1]") if rank == 3 else \
        ("x0[:, 1:] - x0[:, :-1]", "x0[:, :, 1:] - x0[:, :, :-1]")
    over = "" if rank == 3 else ", axis=[1, 2, 3]"
    return f"{d}(sum(abs({down}){over})) + {d}(sum(abs({right}){over}))"


def with_scores(case):
    """The boxes picked and their scores."""
    a = case.attrs
    options = "".join(f", {k}={literal(a[k])}" for k in ("iou_threshold", "score_threshold") if a.get(k) is not None)
    boxes, scores = list(case.inputs)[:2]
    return (f"let at = non_max_suppression({boxes}, {scores}, {a['max_output_size']}{options}); "
            f"(at, gather({scores}, at))")


def random_quality(case):
    """Any quality in the range: as large as the picture, and not far from it."""
    a = case.attrs
    low, high = a.get("min_jpeg_quality", 75), a.get("max_jpeg_quality", 95)

    def judge(case, results):
        if "error" in results[0]:
            return str(results[0])
        shape = list(results[0]["element"][""].shape)
        return None if shape == case.shape("x0") else f"expected {case.shape('x0')}, got {shape}"
    if not 0 <= low < high <= 100:
        return "adjust_jpeg_quality(x0, 101)"
    return Plan(f"adjust_jpeg_quality(x0, {(low + high) // 2})", judge=judge)


def overlaps(case):
    """non_max_suppression by a given table of overlaps has no op: by falling score, those that overlap none kept."""
    a = case.attrs
    most, least = a.get("overlap_threshold", 0.5), a.get("score_threshold", float("-inf"))
    n = case.shape("x0")[0]
    return (f"let order = argsort(x1, descending=true); let kept = reduce(order, fill([{n}], false), (kept, i) -> "
            f"let bad = any(kept and x0[i] > {most}) or x1[i] < {least}; "
            f"if bad then kept else kept or arange({n}) == i); "
            f"int32(boolean_mask(order, gather(kept, order)))[:{a['max_output_size']}]")


def ssim(case):
    """Means under an 11 x 11 Gaussian that lie inside, of images in [0, max_val]."""
    a, rank = case.attrs, len(case.shape("x0"))
    size, sigma = a.get("filter_size", 11), a.get("filter_sigma", 1.5)
    weights = [math.exp(-((i - (size - 1) / 2) / sigma) ** 2 / 2) for i in range(size)]
    weights = [w / sum(weights) for w in weights]
    lead = ":, " * (rank - 3)

    def blur(x):
        rows, columns = (case.shape("x0")[axis] - size + 1 for axis in (-3, -2))
        down = " + ".join(f"float32({w!r}) * v[{lead}{i}:{i + rows}]" for i, w in enumerate(weights))
        across = " + ".join(f"float32({w!r}) * h[{lead}:, {i}:{i + columns}]" for i, w in enumerate(weights))
        return f"(let v = {x}; let h = {down}; {across})"
    top = {"uint8": 255, "uint16": 65535}.get(case.dtype("x0"), 1)
    c1, c2 = ((a.get(k, otherwise) * a["max_val"] / top) ** 2 for k, otherwise in (("k1", 0.01), ("k2", 0.03)))
    return (f"let (x, y) = (convert_image_dtype(x0, float32), convert_image_dtype(x1, float32)); "
            f"let (a, b) = ({blur('x')}, {blur('y')}); let (n, d) = (a * b * 2.0, a * a + b * b); "
            f"let light = (n + {c1}) / (d + {c1}); "
            f"let shape = ({blur('x * y')} * 2.0 - n + {c2}) / ({blur('x * x + y * y')} - d + {c2}); "
            "mean(mean(light * shape, axis=[-3, -2]), axis=-1)")


MAP = {
    "ssim": ssim,
    "sobel_edges": sobel, "total_variation": total_variation, "non_max_suppression_with_scores": with_scores,
    "non_max_suppression_overlaps": overlaps,
    "random_jpeg_quality": random_quality, "stateless_random_jpeg_quality": random_quality,
    "flip": lambda c: "flip_left_right(x0)", "rgb_to_bgr": lambda c: "x0[..., ::-1]",
    "image_crop": lambda c: f"crop(x0, {[c.attrs[k] for k in ('y', 'x', 'height', 'width')]})",
    "mean_squared_error": lambda c: "mean(square(float32(x0) - float32(x1)))",
}
