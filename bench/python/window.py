"""The random box of a training image."""
import random


def window(width, height):
    """-> left, top, right, bottom of 8 to 100 % of the area, its sides 3:4 to 4:3."""
    for _ in range(10):
        area, ratio = width * height * random.uniform(0.08, 1), random.uniform(3 / 4, 4 / 3)
        w, h = round((area * ratio) ** 0.5), round((area / ratio) ** 0.5)
        if w <= width and h <= height:
            x, y = random.randint(0, width - w), random.randint(0, height - h)
            return x, y, x + w, y + h
    return 0, 0, width, height
