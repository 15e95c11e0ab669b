"""Numbers as people read them: three digits and a unit."""

_THOUSANDS = ("", "k", "M", "G", "T")


def scaled(x, step=1000.0):
    """'999', '1.23k', '45.6M': at most three digits.

    >>> scaled(1234.5), scaled(0.25), scaled(98_765_432)
    ('1.23k', '0.25', '98.8M')
    """
    for unit in _THOUSANDS:
        if abs(x) < 0.9995 * step or unit == _THOUSANDS[-1]:
            return f"{x:.3g}{unit}"
        x /= step


def rate_text(x):
    """Per second; '-' for an unknown or unlimited one.

    >>> rate_text(1234.5), rate_text(None)
    ('1.23k/s', '-')
    """
    return "-" if x is None else f"{scaled(x)}/s"


def seconds_text(x):
    """A time with its unit.

    >>> seconds_text(0.00012), seconds_text(1.5), seconds_text(None)
    ('120 us', '1.5 s', '-')
    """
    if x is None:
        return "-"
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if x >= 0.9995 * size:
            return f"{x / size:.3g} {unit}"
    return f"{x * 1e9:.3g} ns"


def bytes_text(x):
    """A size with its unit.

    >>> bytes_text(602112), bytes_text(12), bytes_text(None)
    ('602 kB', '12 B', '-')
    """
    if x is None:
        return "-"
    text = scaled(x)
    return f"{text[:-1]} {text[-1]}B" if text[-1].isalpha() else f"{text} B"


def shortened(text, columns=240, lines=40):
    """The text with the middle left out of long lines, and of many lines: those of arrays of numbers.

    >>> shortened("a" * 10 + "b" * 10, columns=9)
    'aaaa…bbbb'
    >>> shortened("a\\nb\\nc\\nd\\ne\\nf", lines=4)
    'a\\n…\\nd\\ne\\nf'
    """
    rows, half = text.split("\n"), columns // 2
    if len(rows) > lines:
        rows[lines // 4:len(rows) - (lines - lines // 4)] = ["…"]
    return "\n".join(row if len(row) <= columns else f"{row[:half]}…{row[-half:]}" for row in rows)


def table(rows, left=(0,)):
    """Lines of a table of texts, columns aligned: those in ``left`` to the left.

    >>> print(table([("a", "1"), ("bcd", "20")]))
    a     1
    bcd  20
    """
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths)))
             for row in rows]
    return "\n".join(line.rstrip() for line in lines)
