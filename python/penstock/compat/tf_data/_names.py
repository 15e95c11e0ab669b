"""The table of TensorFlow's functions that are ops of Penstock.

A line: names in tf = op(parameters in TensorFlow's order); an indented one goes on with the one before it. A parameter is
called as TensorFlow has it, `:ours` is the op's name for it (`:-`: it is accepted and ignored), `=` its default. `name` is
accepted everywhere.
"""
import inspect

from ..._calls import OPS
from . import _ops
from ._building import op_seed
from ._tensors import RaggedTensor, SparseTensor
from ._types import as_dtype

TABLE = """
math.abs abs = abs(x)
math.add add = add(x:a, y:b)
math.subtract subtract = subtract(x:a, y:b)
math.multiply multiply = multiply(x:a, y:b)
math.floordiv math.floor_div = floor_divide(x:a, y:b)
math.mod math.floormod = modulo(x:a, y:b)
math.truncatediv truncatediv = truncate_divide(x:a, y:b)
math.truncatemod truncatemod = truncate_modulo(x:a, y:b)
math.pow pow = power(x:a, y:b)
math.maximum maximum = maximum(x:a, y:b)
math.minimum minimum = minimum(x:a, y:b)
math.square square = square(x)
math.squared_difference = squared_difference(x:a, y:b)
math.divide_no_nan = divide_no_nan(x:a, y:b)
math.negative negative = negative(x)
math.sign sign = sign(x)
math.round round = round(x)
math.floor floor = floor(x)
math.ceil ceil = ceil(x)
math.sqrt sqrt = sqrt(x)
math.rsqrt = rsqrt(x)
math.reciprocal = reciprocal(x)
math.exp exp = exp(x)
math.expm1 = expm1(x)
math.log = log(x)
math.log1p = log1p(x)
math.sin sin = sin(x)
math.cos cos = cos(x)
math.tan tan = tan(x)
math.asin asin = asin(x)
math.acos acos = acos(x)
math.atan atan = atan(x)
math.atan2 atan2 = atan2(y:a, x:b)
math.sinh sinh = sinh(x)
math.cosh cosh = cosh(x)
math.tanh tanh = tanh(x)
math.asinh asinh = asinh(x)
math.acosh acosh = acosh(x)
math.atanh atanh = atanh(x)
math.sigmoid sigmoid nn.sigmoid = sigmoid(x)
math.softplus nn.softplus = softplus(features:x)
math.erf = erf(x)
math.erfc = erfc(x)
math.lgamma = lgamma(x)
math.digamma = digamma(x)
nn.relu = relu(features:x)
nn.relu6 = relu6(features:x)
nn.elu = elu(features:x)
nn.selu = selu(features:x)
nn.softmax math.softmax = softmax(logits:x, axis=-1)
nn.log_softmax math.log_softmax = log_softmax(logits:x, axis=-1)
math.is_nan = is_nan(x)
math.is_inf = is_inf(x)
math.is_finite = is_finite(x)
math.equal equal = equal(x:a, y:b)
math.not_equal not_equal = not_equal(x:a, y:b)
math.less less = less(x:a, y:b)
math.less_equal less_equal = less_equal(x:a, y:b)
math.greater greater = greater(x:a, y:b)
math.greater_equal greater_equal = greater_equal(x:a, y:b)
math.logical_and logical_and = logical_and(x:a, y:b)
math.logical_or logical_or = logical_or(x:a, y:b)
math.logical_xor = logical_xor(x:a, y:b)
math.logical_not logical_not = logical_not(x)
bitwise.bitwise_and = bitwise_and(x:a, y:b)
bitwise.bitwise_or = bitwise_or(x:a, y:b)
bitwise.bitwise_xor = bitwise_xor(x:a, y:b)
bitwise.invert = bitwise_invert(x)
bitwise.left_shift = left_shift(x:a, y:b)
bitwise.right_shift = right_shift(x:a, y:b)
math.reduce_sum reduce_sum = reduce_sum(input_tensor:x, axis=None, keepdims=None)
math.reduce_mean reduce_mean = reduce_mean(input_tensor:x, axis=None, keepdims=None)
math.reduce_max reduce_max = reduce_max(input_tensor:x, axis=None, keepdims=None)
math.reduce_min reduce_min = reduce_min(input_tensor:x, axis=None, keepdims=None)
math.reduce_prod reduce_prod = reduce_prod(input_tensor:x, axis=None, keepdims=None)
math.reduce_all reduce_all = reduce_all(input_tensor:x, axis=None, keepdims=None)
math.reduce_any reduce_any = reduce_any(input_tensor:x, axis=None, keepdims=None)
math.reduce_logsumexp reduce_logsumexp = reduce_logsumexp(input_tensor:x, axis=None, keepdims=None)
math.reduce_std = reduce_std(input_tensor:x, axis=None, keepdims=None)
math.reduce_variance = reduce_variance(input_tensor:x, axis=None, keepdims=None)
math.cumsum cumsum = cumsum(x, axis=None, exclusive=None, reverse=None)
math.cumprod = cumprod(x, axis=None, exclusive=None, reverse=None)
math.segment_sum = segment_sum(data:x, segment_ids)
math.unsorted_segment_sum = unsorted_segment_sum(data:x, segment_ids, num_segments)
math.in_top_k = in_top_k(targets, predictions, k)
linalg.matmul matmul = matmul(a, b)
linalg.tensordot tensordot = tensordot(a, b, axes)
bitcast = bitcast(input:x, type:dtype)
saturate_cast = saturate_cast(value:x, dtype)
clip_by_value = clip(t:x, clip_value_min:low, clip_value_max:high)
identity stop_gradient = identity(input:x)
reshape = reshape(tensor:x, shape)
expand_dims = expand_dims(input:x, axis)
squeeze = squeeze(input:x, axis=None)
transpose = transpose(a:x, perm=None)
tile = tile(input:x, multiples)
reverse = reverse(tensor:x, axis)
roll = roll(input:x, shift, axis)
gather = gather(params:x, indices, validate_indices:-=None, axis=None)
gather_nd = gather_nd(params:x, indices)
boolean_mask = boolean_mask(tensor:x, mask)
fill = fill(dims:shape, value)
zeros = zeros(shape, dtype=None)
ones = ones(shape, dtype=None)
zeros_like = zeros_like(input:x)
ones_like = ones_like(input:x)
linspace = linspace(start, stop, num)
slice = slice(input_:x, begin, size)
broadcast_to = broadcast_to(input:x, shape)
repeat = repeat(input:x, repeats, axis=None)
sequence_mask = sequence_mask(lengths, maxlen=None)
scatter_nd = scatter_nd(indices, updates, shape)
tensor_scatter_nd_update = tensor_scatter_update(tensor:x, indices, updates)
nn.space_to_depth = space_to_depth(input:x, block_size)
nn.depth_to_space = depth_to_space(input:x, block_size)
strings.as_string = as_string(input:x, precision=None, scientific=None, shortest=None, width=None, fill=None)
strings.lower = lower(input:s, encoding=None)
strings.upper = upper(input:s, encoding=None)
strings.strip = strip(input:s)
strings.substr = substr(input:s, pos, len, unit=None)
strings.bytes_split = bytes_split(input:s)
strings.regex_full_match = regex_full_match(input:s, pattern)
strings.regex_replace = regex_replace(input:s, pattern, rewrite, replace_global=None)
strings.to_number = to_number(input:s, out_type:dtype=None)
strings.to_hash_bucket = to_hash_bucket(input:s, num_buckets)
strings.to_hash_bucket_fast = to_hash_bucket_fast(input:s, num_buckets)
strings.to_hash_bucket_strong = to_hash_bucket_strong(input:s, num_buckets, key)
strings.reduce_join = reduce_join(inputs:s, axis=None, keepdims=None, separator=None)
strings.ngrams = ngrams(data:s, ngram_width, separator=None, pad_values=None, padding_width=None,
    preserve_short_sequences=None)
strings.unicode_split = unicode_split(input:s, input_encoding:-=None, errors=None, replacement_char=None)
strings.unicode_decode = unicode_decode(input:s, input_encoding, errors=None, replacement_char=None,
    replace_control_characters=None)
strings.unicode_encode = unicode_encode(input:codes, output_encoding, errors=None, replacement_char=None)
strings.unicode_script = unicode_script(input:codes)
strings.unicode_transcode = unicode_transcode(input:s, input_encoding, output_encoding, errors=None,
    replacement_char=None, replace_control_characters=None)
strings.unsorted_segment_join = unsorted_segment_join(inputs:s, segment_ids:ids, num_segments, separator=None)
io.read_file = read_file(filename:path)
io.decode_raw = decode_raw(input_bytes:bytes, out_type:dtype, little_endian=None, fixed_length=None)
io.decode_base64 = decode_base64(input:s)
io.encode_base64 = encode_base64(input:s, pad=None)
io.decode_json_example = decode_json_example(json_examples:s)
io.decode_compressed = decompress(bytes:s, compression_type:compression)
io.parse_tensor = parse_tensor(serialized, out_type:dtype)
io.serialize_tensor = serialize_tensor(tensor:x)
io.decode_jpeg image.decode_jpeg = decode_jpeg(contents, channels=None, ratio=None, fancy_upscaling=None,
    try_recover_truncated:-=None, acceptable_fraction:-=None, dct_method=None)
io.decode_png image.decode_png = decode_png(contents, channels=None, dtype=None)
io.decode_bmp image.decode_bmp = decode_bmp(contents, channels=None)
io.decode_gif image.decode_gif = decode_gif(contents)
io.decode_image image.decode_image = decode_image(contents, channels=None, dtype=None, expand_animations=None)
io.decode_and_crop_jpeg image.decode_and_crop_jpeg = decode_and_crop_jpeg(contents, crop_window, channels=None,
    ratio=None, fancy_upscaling=None, try_recover_truncated:-=None, acceptable_fraction:-=None, dct_method=None)
io.encode_jpeg image.encode_jpeg = encode_jpeg(image, format=None, quality=None, progressive=None,
    optimize_size=None, chroma_downsampling=None)
io.encode_png image.encode_png = encode_png(image, compression=None)
io.extract_jpeg_shape image.extract_jpeg_shape = extract_jpeg_shape(contents, output_type:dtype=None)
io.is_jpeg image.is_jpeg = is_jpeg(contents)
image.adjust_brightness = adjust_brightness(image, delta)
image.adjust_contrast = adjust_contrast(images:image, contrast_factor:factor)
image.adjust_gamma = adjust_gamma(image, gamma=None, gain=None)
image.adjust_hue = adjust_hue(image, delta)
image.adjust_jpeg_quality = adjust_jpeg_quality(image, jpeg_quality)
image.adjust_saturation = adjust_saturation(image, saturation_factor:factor)
image.central_crop = central_crop(image, central_fraction)
image.convert_image_dtype = convert_image_dtype(image, dtype, saturate:-=None)
image.crop_to_bounding_box = crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width)
image.crop_and_resize = crop_and_resize(image:images, boxes, box_indices, crop_size, method=None,
    extrapolation_value=None)
image.draw_bounding_boxes = draw_bounding_boxes(images:image, boxes, colors)
image.extract_patches = extract_patches(images:image, sizes, strides, rates, padding)
image.flip_left_right = flip_left_right(image)
image.flip_up_down = flip_up_down(image)
image.grayscale_to_rgb = grayscale_to_rgb(images:image)
image.hsv_to_rgb = hsv_to_rgb(images:image)
image.rgb_to_hsv = rgb_to_hsv(images:image)
image.rgb_to_grayscale = rgb_to_grayscale(images:image)
image.rgb_to_yiq = rgb_to_yiq(images:image)
image.yiq_to_rgb = yiq_to_rgb(images:image)
image.rgb_to_yuv = rgb_to_yuv(images:image)
image.yuv_to_rgb = yuv_to_rgb(images:image)
image.non_max_suppression = non_max_suppression(boxes, scores, max_output_size, iou_threshold=None,
    score_threshold=None)
image.pad_to_bounding_box = pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width)
image.per_image_standardization = per_image_standardization(image)
image.psnr = psnr(a:image, b:other, max_val)
image.random_brightness = random_brightness(image, max_delta, seed=None)
image.random_contrast = random_contrast(image, lower, upper, seed=None)
image.random_crop random.crop = random_crop(value:image, size, seed=None)
image.random_flip_left_right = random_flip_left_right(image, seed=None)
image.random_flip_up_down = random_flip_up_down(image, seed=None)
image.random_hue = random_hue(image, max_delta, seed=None)
image.random_saturation = random_saturation(image, lower, upper, seed=None)
image.resize = resize(images:image, size, method=None, preserve_aspect_ratio=None, antialias=None)
image.resize_with_crop_or_pad = resize_with_crop_or_pad(image, target_height, target_width)
image.resize_with_pad = resize_with_pad(image, target_height, target_width, method=None, antialias=None)
image.rot90 = rot90(image, k=None)
random.shuffle = shuffle(value:x, seed=None)
signal.frame = frame(signal, frame_length, frame_step, pad_end=None, pad_value=None)
signal.overlap_and_add = overlap_and_add(signal:frames, frame_step)
signal.hann_window = hann_window(window_length, periodic=None)
signal.hamming_window = hamming_window(window_length, periodic=None)
signal.linear_to_mel_weight_matrix = linear_to_mel_weight_matrix(num_mel_bins=None, num_spectrogram_bins=None,
    sample_rate=None, lower_edge_hertz=None, upper_edge_hertz=None)
signal.mfccs_from_log_mel_spectrograms = mfccs_from_log_mel_spectrograms(log_mel_spectrograms:log_mel)
audio.encode_wav = encode_wav(audio, sample_rate)
sparse.to_dense = to_tensor(sp_input:x, default_value:default=None)
"""

def _parameters(text):
    out = []
    for part in text.split(", "):
        part, _, default = part.partition("=")
        theirs, _, ours = part.partition(":")
        out.append((theirs, ours or theirs, inspect.Parameter.empty if not default else -1 if default == "-1" else None))
    return out


def function_of(line):
    """-> (names, function) of a line of the table."""
    names, _, call = line.partition(" = ")
    op, _, rest = call.rstrip(")").partition("(")
    parameters = _parameters(rest)
    kinds = {p[0]: p[1] for p in OPS[op][3]}
    order = [p[0] for p in OPS[op][3]]
    P = inspect.Parameter
    signature = inspect.Signature([*(P(theirs, P.POSITIONAL_OR_KEYWORD, default=default)
                                     for theirs, _, default in parameters),
                                   P("name", P.POSITIONAL_OR_KEYWORD, default=None)])

    def function(*args, **named):
        bound = signature.bind(*args, **named).arguments
        given = {ours: bound[theirs] for theirs, ours, _ in parameters
                 if ours != "-" and bound.get(theirs) is not None}
        if "seed" in kinds:
            given["seed"] = op_seed(given.get("seed"))
        return called(op, kinds, order, given)
    function.__name__ = function.__qualname__ = names.split()[0].rpartition(".")[2]
    function.__signature__, function.__doc__ = signature, f"{OPS[op][2]}\n\nThe op `{op}`."
    return names.split(), function


def called(op, kinds, order, given):
    """An op of given arguments by name: leading tensors by place, dtypes as Penstock's."""
    place, named = [], {}
    for name in order:
        if name not in given:
            continue
        x = given[name]
        if name == "dtype":
            x = as_dtype(x).ps
        if kinds[name] == "tensor" and len(place) == order.index(name):
            place.append(x)
        else:
            named[name] = _plain(x)
    return _ops.either(op, *place, **named)


def _plain(x):
    """An option: NumPy's numbers and arrays as Python's."""
    if hasattr(x, "tolist") and not isinstance(x, (RaggedTensor, SparseTensor)):
        x = x.tolist()
    return x.decode() if isinstance(x, bytes) else x


def functions():
    """-> {name in tf: function}."""
    return {name: function for line in TABLE.strip().replace("\n    ", " ").split("\n")
            for names, function in [function_of(line)] for name in names}
