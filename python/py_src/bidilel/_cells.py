"""What published tables are made of: cells, curves, data that are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Cell:
    """One number of a table, by its row and column.

    Attributes
    ----------
    row, column : str
        Labels of its row and of its column.
    status : {"measured", "missing", "failed", "empty"}
        What became of it: ``note`` says what is missing or why it failed; an empty one is none of the published table.
    unit : {"accuracy", "setting"}
        A per-class accuracy as a fraction of one, or the value of a setting.
    mean, spread : float or None
        Our number, a mean over trials and starts or the median of a setting, and what stands after ±.
    published, published_spread : float or None
        The published number in the same unit.
    difference, p_value : float or None
        Ours minus the published one, and how likely a difference so large is by chance.
    tested_over : {"trials", "classes"} or None
        What that test is over.
    best : bool
        Whether it is the best of its row or column, or cannot be told from it.
    substitute : bool
        Whether other data than the published ones stand in.
    note : str or None
        What is missing, or why it failed.
    visual, semantic : tuple of str
        Representations as the dataset calls them.
    runs : list of dict
        Every run, with ``trial``, ``seed``, ``per_class``, ``per_image`` and ``settings``.
    """

    row: str
    column: str
    status: Literal["measured", "missing", "failed", "empty"]
    unit: Literal["accuracy", "setting"]
    mean: float | None
    spread: float | None
    published: float | None
    published_spread: float | None
    difference: float | None
    p_value: float | None
    tested_over: Literal["trials", "classes"] | None
    best: bool
    substitute: bool
    note: str | None
    visual: tuple[str, ...]
    semantic: tuple[str, ...]
    runs: list[dict[str, Any]]


@dataclass(frozen=True)
class Curve:
    """One curve of a figure.

    Attributes
    ----------
    name : str
        Its name in the legend.
    x, y : list of float
        The values that are varied, and means there.
    error : list of float or None
        Standard errors; None where there is a single measurement.
    """

    name: str
    x: list[float]
    y: list[float]
    error: list[float | None]


@dataclass(frozen=True)
class Figure:
    """Curves with one pair of axes.

    Attributes
    ----------
    title, x_label, y_label : str
        What is shown, varied and measured.
    curves : list of Curve
        The curves.
    """

    title: str
    x_label: str
    y_label: str
    curves: list[Curve]


@dataclass(frozen=True)
class MissingData:
    """Data that a table would need.

    Attributes
    ----------
    what, get, put : str
        What is missing, what to get, and where to put it.
    """

    what: str
    get: str
    put: str


def cell_of(row: str, column: str, data: dict[str, Any]) -> Cell:
    """A cell of the program's JSON."""
    published = data["published"] or {}
    return Cell(
        row=row,
        column=column,
        status=data["status"],
        unit=data["unit"],
        mean=data["value"],
        spread=data["spread"],
        published=published.get("value"),
        published_spread=published.get("spread"),
        difference=data["difference"],
        p_value=data["p_value"],
        tested_over=data["over"],
        best=data["best"],
        substitute=data["substitute"],
        note=data["note"],
        visual=tuple(data["visual"]),
        semantic=tuple(data["semantic"]),
        runs=data["runs"],
    )


def figure_of(data: dict[str, Any]) -> Figure:
    """A figure of the program's JSON."""
    curves = [
        Curve(
            one["name"],
            [point["x"] for point in one["points"]],
            [point["y"] for point in one["points"]],
            [point["error"] for point in one["points"]],
        )
        for one in data["series"]
    ]
    return Figure(data["title"], data["x_label"], data["y_label"], curves)
