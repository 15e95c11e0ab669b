"""Images: recorded op -> an expression over the inputs' names."""
from functions_map import image_files
from functions_map.call import call

MAP = {
    **image_files.MAP,
    "flip_left_right": call("flip_left_right"),
    "flip_up_down": call("flip_up_down"),
    "resize": call("resize", "size", "method", "antialias"),
}
OWN = {}
