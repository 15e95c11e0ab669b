"""Images: recorded op -> an expression over the inputs' names."""
from functions_map.call import call

MAP = {
    "flip_left_right": call("flip_left_right"),
    "flip_up_down": call("flip_up_down"),
    "extract_jpeg_shape": call("extract_jpeg_shape"),
    "resize": call("resize", "size", "method", "antialias"),
}
OWN = {}
