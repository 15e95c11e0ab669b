"""HTML for notebooks: fragments that need nothing from outside and are read on a light and on a dark page."""
from ._quantities import shortened

# Colours of text and lines are the page's own; those of bars are of middle brightness.
_STYLE = """<style>
.penstock{font-family:system-ui,sans-serif;font-size:13px;line-height:1.45;max-width:60em}
.penstock p{margin:.4em 0}
.penstock table{border-collapse:collapse;margin:.4em 0;font-size:12px}
.penstock th,.penstock td{padding:.15em .6em;text-align:right;border:0;border-bottom:1px solid rgba(128,128,128,.3);white-space:nowrap;\
background:none;color:inherit}
.penstock th{font-weight:600;opacity:.75}
.penstock .l{text-align:left}
.penstock .note{opacity:.75;font-size:12px}
.penstock .bar{display:inline-flex;width:8em;height:.8em;background:rgba(128,128,128,.2);vertical-align:middle}
.penstock .bar i{height:100%;display:block}
.penstock pre{margin:.4em 0;padding:.5em .7em;background:rgba(128,128,128,.12);color:inherit;overflow-x:auto;font-size:12px}
.penstock b.swatch{display:inline-block;width:.8em;height:.8em;vertical-align:-.1em}
</style>"""
BUSY, STARVED, BLOCKED, CEILING = "#2f8f6b", "#8a8f98", "#d08427", "#4a7fc1"


def _escape(text):  # html.escape, without loading html
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def fragment(*parts):
    """The parts in one element with its own style."""
    return f'<div class="penstock">{_STYLE}{"".join(parts)}</div>'


def paragraph(text, strong=False, note=False):
    """A line of text; ``strong``: in bold, ``note``: small."""
    text = _escape(text)
    return f"<p{' class=note' if note else ''}>{f'<b>{text}</b>' if strong else text}</p>"


def program(text):
    """The text of a pipeline; long lines are shortened."""
    return f"<pre>{_escape(shortened(text))}</pre>"


def bar(*parts):
    """A bar of (share, colour)s of its whole width."""
    pieces = (f'<i style="width:{100 * min(max(share, 0), 1):.1f}%;background:{colour}"></i>' for share, colour in parts)
    return Raw(f'<span class="bar">{"".join(pieces)}</span>')


def legend(*entries):
    """A line that names the colours of bars: (name, colour)s."""
    items = (f'<b class="swatch" style="background:{colour}"></b> {_escape(name)}' for name, colour in entries)
    return f'<p class="note">{" &nbsp; ".join(items)}</p>'


class Raw(str):
    """HTML, not to be escaped."""


def grid(heads, rows, left=(0,)):
    """A table; cells are texts, or HTML that bar() gives; columns in ``left`` are aligned to the left."""
    def cells(row, tag):
        return "".join(f"<{tag}{' class=l' if i in left else ''}>{c if isinstance(c, Raw) else _escape(c)}</{tag}>"
                       for i, c in enumerate(row))
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{cells(heads, 'th')}</tr></thead><tbody>{body}</tbody></table>"
