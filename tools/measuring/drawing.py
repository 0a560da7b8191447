"""Plots of RESULTS.md, drawn from its tables, so that they show what stands there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import floor, log10
from pathlib import Path
from typing import Any

from tools.measuring.results import number, read

Table = list[dict[str, str]]
OURS, PEERS = "#0b6e99", ("#b0b7bf", "#7d8791", "#d6a15c", "#a5647a", "#8fb08c", "#5c6770")
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "tauform", "font.size": 9, "axes.spines.top": False}
NANO = 1e9
NEWTON_EULER = "time of Pinocchio's Newton-Euler / ours"


def draw_all(results: Path) -> list[Path]:
    """Draw every plot whose section is there, into plots/ beside the results."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder = results.parent / "plots"
    folder.mkdir(exist_ok=True)
    drawn = []
    with plt.rc_context({**SETTINGS, "axes.spines.right": False}):
        for name, table in read(results).items():
            if name in DRAWN:
                figure = DRAWN[name](table)
                path = folder / f"{name}.svg"
                figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
                plt.close(figure)
                drawn.append(path)
    return drawn


def speed(table: Table) -> Any:
    """One call in C: inverse dynamics of every arm, then every function of one arm."""
    return _one_call(table, NANO, "ns per call")


def instructions(table: Table) -> Any:
    """The same in executed instructions."""
    return _one_call(table, 1.0, "instructions per call")


def _one_call(table: Table, scale: float, unit: str) -> Any:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), width_ratios=(1, 1), layout="constrained")
    keys = [tuple(row["what"].split(", ")[:2]) for row in table]
    arms = list(dict.fromkeys(arm for arm, _ in keys))
    functions = list(dict.fromkeys(function for _, function in keys))
    arm = "panda" if "panda" in arms else arms[0]
    for axes, wanted, labels in (
        (left, [(name, "inverse_dynamics") for name in arms], arms),
        (right, [(arm, function) for function in functions], [text.replace("_", "\n") for text in functions]),
    ):
        chosen = {key: [row for row, found in zip(table, keys, strict=True) if found == key] for key in wanted}
        _bars(axes, labels, _series(chosen, scale), unit)
    left.set_title("inverse dynamics", loc="left")
    right.set_title(arm, loc="left")
    return _with_legend(figure, left)


def python_peers(table: Table) -> Any:
    """Inverse dynamics from Python: nanoseconds per state, alone and in a batch."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
    for axes, kind in zip(panels, ("one state", "states"), strict=True):
        rows = [r for r in table if "inverse_dynamics" in r["what"] and r["what"].endswith(f" {kind}")]
        size = _count(rows[0]["what"])
        arms = list(dict.fromkeys(row["what"].split(",")[0] for row in rows))
        chosen = {arm: [row for row in rows if row["what"].startswith(f"{arm},")] for arm in arms}
        _bars(axes, arms, _series(chosen, NANO / size), "ns per state")
        axes.set_title("one state" if size == 1 else f"a batch of {size:,} states", loc="left")
    return _with_legend(figure, panels[0])


def derive(table: Table) -> Any:
    """Seconds of a derivation over the number of joints."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.2, 3.4), layout="constrained")
    for kind, color in (("usual geometry", OURS), ("generic geometry", PEERS[2])):
        rows = [(re.match(rf"derive (\d) joints, {kind}", row["what"]), row) for row in table]
        points = [(int(found[1]), number(row["ours"])) for found, row in rows if found]
        axes.plot(*zip(*points, strict=True), "o-", color=color, label=kind)
    for name, n, label in (("kr6_r700", 6, "KR6"), ("lbr7", 7, "LBR7")):
        row = next(row for row in table if row["what"] == f"derive {name}")
        ours, paper = number(row["ours"]), number(row["peer"])
        axes.plot([n, n], [ours, paper], ":", color=PEERS[1], lw=1)
        axes.plot(n, paper, "s", color=PEERS[1], label="Lloyd2021" if n == 6 else None)
        axes.plot(n, ours, "D", color="black", ms=4, label="those arms here" if n == 6 else None)
        axes.annotate(label, (n, paper), xytext=(6, -3), textcoords="offset points", fontsize=8)
    axes.set(yscale="log", xlabel="joints", ylabel="seconds")
    axes.legend(frameon=False, fontsize=8)
    return figure


def reduction(table: Table) -> Any:
    """Time of reduced models as a share of the exact one, ours and the paper's."""
    import matplotlib.pyplot as plt

    arms = list(dict.fromkeys(row["what"].split(",")[0] for row in table))
    figure, panels = plt.subplots(1, len(arms), figsize=(9.5, 3.6), sharey=True, layout="constrained")
    for axes, arm in zip(panels, arms, strict=True):
        rows = [row for row in table if row["what"].startswith(f"{arm},")]
        labels = [row["what"].split(", ", 1)[1].replace(", ", "\n") for row in rows]
        ours = [_value(row["ours"]) / _value(row["peer"]) for row in rows]
        found = [re.search(r"paper ([\d.]+) of ([\d.]+) us", row["note"]) for row in rows]
        paper = [float(text[1]) / float(text[2]) if text else float("nan") for text in found]
        _bars(axes, labels, {"tauform": ours, "Lloyd2021": paper}, "time beside the own exact program", log=False)
        axes.set_title(arm, loc="left")
        axes.tick_params(axis="x", labelsize=7)
    return _with_legend(figure, panels[0])


def papers(table: Table) -> Any:
    """Figures 4, 5 and 6 of Lloyd2021 and Figure 4 of Safeea2018, as ratios to a peer."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 2, figsize=(9.5, 7), layout="constrained")
    derived, arms, chains, matrices = panels.ravel()
    for name, color in (("kr6_r700", OURS), ("lbr7", PEERS[2])):
        rows = _numbered(table, rf"Lloyd2021 4, first (\d+) joints of {name}")
        found = [(n, _ratio(row)) for n, row in rows]
        derived.plot(*zip(*found, strict=True), "o", color=color, label=name)
    derived.set(yscale="log", xlabel="first joints", ylabel="time of the paper's search / ours")
    derived.set_title("Lloyd2021, Figure 4: derivation")
    kinds = {"closed form": PEERS[2], "recursive program": OURS}
    rows = [(0, row) for row in table if row["what"].startswith("Lloyd2021 5")]
    names = list(dict.fromkeys(row["what"].split(", ")[1] for _, row in rows))
    _bars(arms, names, {kind: _ratios(rows, kind) for kind in kinds}, NEWTON_EULER, log=False)
    arms.set_title("Lloyd2021, Figure 5: evaluation")
    rows = _numbered(table, r"Lloyd2021 6, first (\d+) joints of lbr7")
    for kind, color in kinds.items():
        chains.plot(sorted({n for n, _ in rows}), _ratios(rows, kind), "o-", color=color, label=kind)
    chains.set(xlabel="first joints of lbr7", ylabel=NEWTON_EULER, ylim=(0, None))
    chains.set_title("Lloyd2021, Figure 6: evaluation")
    chains.xaxis.get_major_locator().set_params(integer=True)
    found = [(n, _ratio(row)) for n, row in _numbered(table, r"Safeea2018 4, (\d+) joints")]
    matrices.plot(*zip(*found, strict=True), "o-", color=OURS)
    matrices.axhline(1, color=PEERS[1], lw=0.8)
    matrices.set(xlabel="joints", ylabel="time of CRBA / GDAHJ", ylim=(0, None), title="Safeea2018, Figure 4")
    for axes in (derived, arms, chains):
        axes.legend(frameon=False, fontsize=8)
    return figure


def _numbered(table: Table, pattern: str) -> list[tuple[int, dict[str, str]]]:
    """Rows whose name begins so, with the number in it."""
    found = [(re.match(pattern, row["what"]), row) for row in table]
    return [(int(match[1]), row) for match, row in found if match]


def _ratio(row: dict[str, str]) -> float:
    return _value(row["peer"]) / _value(row["ours"])


def _ratios(rows: Iterable[tuple[int, dict[str, str]]], kind: str) -> list[float]:
    return [_ratio(row) for _, row in rows if row["what"].endswith(kind)]


def _series(chosen: Mapping[Any, Iterable[dict[str, str]]], scale: float) -> dict[str, list[float]]:
    """Label -> a figure for each group; ours first."""
    groups = [list(rows) for rows in chosen.values()]
    labels = list(dict.fromkeys(row["the peer"] for rows in groups for row in rows))
    series = {"tauform": [_value(rows[0]["ours"]) * scale for rows in groups]}
    for label in labels:
        found = [next((row for row in rows if row["the peer"] == label), None) for rows in groups]
        series[label] = [_value(row["peer"]) * scale if row else float("nan") for row in found]
    return series


def _bars(axes: Any, labels: Sequence[str], series: Mapping[str, Sequence[float]], unit: str, log: bool = True) -> None:
    width = 0.82 / len(series)
    for k, (label, values) in enumerate(series.items()):
        places = [i - 0.41 + (k + 0.5) * width for i in range(len(labels))]
        axes.bar(places, values, width, color=OURS if k == 0 else PEERS[(k - 1) % len(PEERS)], label=label)
    axes.set_xticks(range(len(labels)), labels, fontsize=7.5)
    axes.set(ylabel=unit, yscale="log" if log else "linear")
    if log:  # whole decades: the length of a bar would mean something else in every plot
        shown = [value for values in series.values() for value in values if value > 0]
        axes.set_ylim(10 ** floor(log10(min(shown))), None)


def _with_legend(figure: Any, axes: Any) -> Any:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    return figure


def _value(text: str) -> float:
    found = number(text)
    return float("nan") if found is None else found


def _count(what: str) -> int:
    found = re.search(r"([\d,]+) states$", what)
    return int(found[1].replace(",", "")) if found else 1


DRAWN: dict[str, Callable[[Table], Any]] = {
    "speed": speed,
    "instructions": instructions,
    "python_peers": python_peers,
    "derive": derive,
    "reduction": reduction,
    "papers": papers,
}
