"""Plots with matplotlib, which need not be there."""
from ._quantities import scaled


def axes(ax, size):
    """``ax``, or axes of a new figure of that size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot
    except ImportError as e:
        raise ImportError("plot: matplotlib is not installed: pip install matplotlib") from e
    return matplotlib.pyplot.subplots(figsize=size, layout="constrained")[1]


def ceilings(explanation, ax):
    """The measured rate and the ceilings above it, as bars."""
    known = [c for c in explanation.data["ceilings"] if c["rate"] is not None]
    names = ["measured", *(c["name"] for c in known)]
    rates = [explanation.data["rate"], *(c["rate"] for c in known)]
    ax = axes(ax, (7, 1 + 0.35 * len(names)))
    bars = ax.barh(names, rates, color=["#2f8f6b"] + ["#4a7fc1"] * len(known))
    ax.bar_label(bars, list(map(scaled, rates)), padding=3)
    if min(rates) > 0 and max(rates) > 30 * min(rates):
        ax.set_xscale("log")
    ax.margins(x=0.15)
    ax.invert_yaxis()
    ax.set_xlabel("elements per second")
    ax.set_title("ceilings of the rate", loc="left")
    return ax


def prediction(points, ax):
    """Steps per second over workers, with intervals: a line for each number of servers."""
    ax = axes(ax, (7, 4))
    for servers in sorted({p.servers for p in points}):
        line = sorted((p for p in points if p.servers == servers), key=lambda p: p.workers)
        x = [p.workers for p in line]
        [drawn] = ax.plot(x, [p.steps_per_second for p in line], marker="o", markersize=3,
                          label=f"{servers} server{'s' * (servers != 1)}" if servers else "all-reduce")
        ax.fill_between(x, [p.low for p in line], [p.high for p in line], alpha=0.2, color=drawn.get_color(), linewidth=0)
    ax.set_xlabel("workers")
    ax.set_ylabel("steps per second of all workers")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax
