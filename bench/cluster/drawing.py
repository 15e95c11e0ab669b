"""SVG charts of bench/cluster/paper.py: plain strings, no dependencies, colours that suit light and dark pages."""
import html
import math

COLORS = ("#2a78d6", "#eb6834", "#008300", "#8a4fc8", "#b02a2a", "#0a8f8f", "#a08000")
WIDTH, HEIGHT = 460, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 22, 38


def text(x, y, s, anchor="start", size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{html.escape(str(s))}</text>'


def tick_step(whole, ticks=5):
    """A step of 1, 2 or 5 times a power of ten, for `ticks` ticks at most."""
    power = 10.0 ** (math.floor(math.log10(whole)) - 1)
    while True:
        for digit in (1, 2, 5):
            if whole <= ticks * digit * power:
                return digit * power
        power *= 10


class Chart:
    """Axes from 0 to `most_x` and `most_y`, and what is drawn in them."""

    def __init__(self, most_x, most_y, x, y, width=WIDTH, height=HEIGHT, whole_x=False):
        self.most_x, self.most_y, self.width, self.height = most_x or 1, most_y or 1, width, height
        self.parts = [text(4, 13, y), text((LEFT + width - RIGHT) / 2, height - 4, x, "middle")]
        step = tick_step(self.most_y)
        for k in range(int(self.most_y / step + 1e-9) + 1):
            at = self.y(k * step)
            self.parts.append(f'<path d="M{LEFT} {at:.1f}H{width - RIGHT}" class="grid"/>')
            self.parts.append(text(LEFT - 5, at + 4, f"{k * step:.4g}", "end"))
        step = tick_step(self.most_x, 6)
        step = max(1, round(step)) if whole_x else step
        for k in range(int(self.most_x / step + 1e-9) + 1):
            self.parts.append(text(self.x(k * step), height - BOTTOM + 16, f"{k * step:.4g}", "middle"))

    def x(self, v):
        return LEFT + (self.width - LEFT - RIGHT) * v / self.most_x

    def y(self, v):
        return self.height - BOTTOM - (self.height - BOTTOM - TOP) * v / self.most_y

    def path(self, points):
        return "".join(f"{'L' if i else 'M'}{self.x(a):.1f} {self.y(b):.1f}" for i, (a, b) in enumerate(points))

    def line(self, points, color, dashed=False, dots=True):
        dash = ' stroke-dasharray="5 3"' if dashed else ""
        self.parts.append(f'<path d="{self.path(points)}" fill="none" stroke="{color}" stroke-width="1.8"{dash}/>')
        for a, b in points if dots else ():
            self.parts.append(f'<circle cx="{self.x(a):.1f}" cy="{self.y(b):.1f}" r="2.5" fill="{color}"/>')

    def band(self, low, high, color):
        self.parts.append(f'<path d="{self.path(high + low[::-1])}Z" fill="{color}" opacity="0.16"/>')

    def area(self, points, color):
        edge = [(points[0][0], 0), *points, (points[-1][0], 0)]
        self.parts.append(f'<path d="{self.path(edge)}Z" fill="{color}" opacity="0.55"/>')

    def cross(self, a, b, color, what=""):
        x, y, r = self.x(a), self.y(b), 4.5
        self.parts.append(f'<path d="M{x - r:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}M{x - r:.1f} {y + r:.1f}L{x + r:.1f} {y - r:.1f}" '
                          f'stroke="{color}" stroke-width="1.8"><title>{html.escape(what)}</title></path>')

    def svg(self, what):
        return (f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" role="img" aria-label="{html.escape(what)}">'
                + "".join(self.parts) + "</svg>")


def bars(rows, most, unit, label_width=190, width=940):
    """Bars on a time axis. rows: [(label, [(start, end, color, filled)])]."""
    line, top = 15, 8
    height = top + line * len(rows) + 34
    scale = (width - label_width - 12) / (most or 1)
    out = []
    step = tick_step(most)
    for k in range(int(most / step + 1e-9) + 1):
        x = label_width + k * step * scale
        out.append(f'<path d="M{x:.1f} {top}V{height - 32}" class="grid"/>' + text(x, height - 17, f"{k * step:.4g}", "middle"))
    out.append(text((label_width + width) / 2, height - 2, unit, "middle"))
    for i, (label, spans) in enumerate(rows):
        y = top + line * i
        out.append(text(label_width - 6, y + 11, label if len(label) < 29 else label[:12] + "…" + label[-15:], "end", 11))
        for start, end, color, filled in spans:
            style = f'fill="{color}"' if filled else f'fill="none" stroke="{color}" stroke-opacity="0.8"'
            out.append(f'<rect x="{label_width + start * scale:.1f}" y="{y + (3.5 if filled else 1.5):.1f}" '
                       f'width="{max(1.0, (end - start) * scale):.1f}" height="{6 if filled else 10}" {style}/>')
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img">' + "".join(out) + "</svg>"


def table(head, rows):
    def cell(tag, v, i):
        return f'<{tag}{"" if i else " class=first"}>{html.escape(str(v))}</{tag}>'
    body = "".join("<tr>" + "".join(cell("td", v, i) for i, v in enumerate(r)) + "</tr>" for r in rows)
    return ("<div class=scroll><table><thead><tr>" + "".join(cell("th", v, i) for i, v in enumerate(head)) + f"</tr></thead><tbody>{body}"
            "</tbody></table></div>")


def legend(names):
    return "<p class=legend>" + " ".join(f'<span><i style="background:{c}"></i>{html.escape(n)}</span>' for n, c in names) + "</p>"


STYLE = """
:root { color-scheme: light dark; --page: #f9f9f7; --card: #fcfcfb; --ink: #0b0b0b; --ink2: #52514e; --line: #e1e0d9; }
@media (prefers-color-scheme: dark) { :root { --page: #0d0d0d; --card: #1a1a19; --ink: #fff; --ink2: #c3c2b7; --line: #2c2c2a; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1020px; margin: 0 auto; padding: 22px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px 20px; margin-top: 16px; }
h1 { font-size: 22px; } h2 { font-size: 16px; margin: 2px 0 8px; } h3 { font-size: 13px; font-weight: 500; margin: 8px 0 2px; color: var(--ink2); }
p { margin: 4px 0 8px; } .legend, .caption { color: var(--ink2); font-size: 13px; }
.legend span { margin-right: 14px; white-space: nowrap; } .legend i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 2px; }
.grid2 { display: grid; grid-template-columns: repeat(auto-fit, minmax(400px, 1fr)); gap: 4px 18px; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink2); font-family: system-ui, sans-serif; } .grid { stroke: var(--line); }
table { border-collapse: collapse; font-size: 13px; } th { font-weight: 500; color: var(--ink2); }
th, td { text-align: right; padding: 4px 9px; border-bottom: 1px solid var(--line); white-space: nowrap; font-variant-numeric: tabular-nums; }
.first { text-align: left; } .scroll { overflow-x: auto; } pre { overflow-x: auto; font-size: 12px; }
"""
