"""Published tables again: our numbers, the published ones, differences, and what is missing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ._cells import Cell, Figure, MissingData, cell_of, figure_of
from ._result import Result, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Below these a difference has as many stars.
_SIGNIFICANCE = (0.05, 0.01, 0.001)


class Reproduction(Result):
    """What ``reproduce`` made: a published table again.

    Its keys are those of ``bidilel reproduce --format json``. As a DataFrame it has one row per cell.
    """

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return str(self["experiment"])

    @property
    def rows(self) -> list[str]:
        """Labels of the rows."""
        return [" ".join(row["labels"]) for row in self["rows"]]

    @property
    def columns(self) -> list[str]:
        """Labels of the columns."""
        return [" ".join(column["labels"]) for column in self["columns"]]

    @property
    def cells(self) -> list[Cell]:
        """Every cell, row after row."""
        return [
            cell_of(label, column, cell)
            for label, row in zip(self.rows, self["rows"])
            for column, cell in zip(self.columns, row["cells"])
        ]

    @property
    def figures(self) -> list[Figure]:
        """Curves, where the experiment has some."""
        return [figure_of(figure) for figure in self["figures"]]

    @property
    def missing(self) -> list[MissingData]:
        """Data that would fill the cells that are missing."""
        return [MissingData(**one) for one in self["missing"]]

    @property
    def notes(self) -> list[str]:
        """Remarks on data that were taken, and on what failed."""
        found: list[str] = self["notes"]
        return found

    @property
    def manifest(self) -> dict[str, Any]:
        """Where the numbers come from: version, seed, what was reduced, data with fingerprints, machine."""
        found: dict[str, Any] = self["manifest"]
        return found

    def cell(self, row: str, column: str) -> Cell:
        """One cell by its labels.

        Parameters
        ----------
        row, column : str
            Labels of its row and of its column, as ``rows`` and ``columns`` have them.

        Returns
        -------
        Cell
        """
        for cell in self.cells:
            if (cell.row, cell.column) == (row, column):
                return cell
        raise KeyError(f"no cell in row {row!r} and column {column!r}: rows are {self.rows}, columns {self.columns}")

    def _rows(self) -> list[dict[str, Any]]:
        names = (
            "row column status unit mean spread published published_spread difference p_value best substitute note".split()
        )
        return [{name: getattr(cell, name) for name in names} for cell in self.cells if cell.status != "empty"]

    def _title(self) -> str:
        cells = [cell for cell in self.cells if cell.status != "empty"]
        measured = sum(cell.status == "measured" for cell in cells)
        paper = f"{self['published']}: " if self["published"] else ""
        return f"{paper}{self['title']}, {measured} of {len(cells)} cells measured"

    def _repr_html_(self) -> str:
        stub = "".join(f"<th>{escape(header)}</th>" for header in self["stub"])
        head = "".join(f"<th>{escape(column)}</th>" for column in self.columns)
        cells, width = self.cells, len(self.columns)
        body = ""
        for number, row in enumerate(self["rows"]):
            labels = "".join(f"<th>{escape(label)}</th>" for label in row["labels"])
            own = cells[number * width : (number + 1) * width]
            body += f"<tr>{labels}{''.join(map(_html, own))}</tr>"
        remarks = [f"missing: {one.what}; get {one.get}; put it at {one.put}" for one in self.missing] + self.notes
        below = "".join(f"<li>{escape(remark)}</li>" for remark in remarks)
        return (
            f"<p>{escape(self._title())}; ours (published, difference)</p>"
            f"<table><thead><tr>{stub}{head}</tr></thead><tbody>{body}</tbody></table><ul>{below}</ul>"
        )

    def plot(self, ax: Axes | None = None, *, figure: int = 0) -> Axes:
        """Draw the curves of a figure; without curves, our numbers beside the published ones.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        figure : int, default=0
            Which of ``figures``.

        Returns
        -------
        matplotlib axes
        """
        figures = self.figures
        if figures and not 0 <= figure < len(figures):
            raise IndexError(f"figure must be below {len(figures)}, found {figure}")
        ax = axes_of(ax)
        if figures:
            return _draw_curves(ax, figures[figure])
        cells = [cell for cell in self.cells if cell.mean is not None or cell.published is not None][::-1]
        places = range(len(cells))
        ours = [(place, cell) for place, cell in zip(places, cells) if cell.mean is not None]
        theirs = [(place, cell) for place, cell in zip(places, cells) if cell.published is not None]
        spreads = [cell.spread or 0.0 for _, cell in ours]
        ax.errorbar([cell.mean or 0.0 for _, cell in ours], [p for p, _ in ours], xerr=spreads, fmt="o", label="ours")
        ax.plot([cell.published or 0.0 for _, cell in theirs], [p for p, _ in theirs], "x", label="published")
        ax.set_yticks(list(places), [f"{cell.row} · {cell.column}" for cell in cells])
        ax.set_title(self._title())
        ax.legend()
        return ax


def _draw_curves(ax: Axes, figure: Figure) -> Axes:
    for curve in figure.curves:
        ax.errorbar(curve.x, curve.y, yerr=[error or 0.0 for error in curve.error], marker=".", label=curve.name)
    ax.set_xlabel(figure.x_label)
    ax.set_ylabel(figure.y_label)
    ax.set_title(figure.title)
    ax.legend()
    return ax


def _html(cell: Cell) -> str:
    """A cell as the program's table has it: ours ± spread (published, difference)."""
    scale, digits = (100.0, 1) if cell.unit == "accuracy" else (1.0, 4)

    def number(value: float, sign: str = "") -> str:
        return f"{scale * value:{sign}.{digits}{'f' if cell.unit == 'accuracy' else 'g'}}"

    if cell.mean is None:
        text = {"missing": "n/a", "failed": "failed"}.get(cell.status, "")
    else:
        text = number(cell.mean) + (f" ± {number(cell.spread)}" if cell.spread is not None else "")
    if cell.published is not None:
        known = [number(cell.published)] + ([number(cell.difference, "+")] if cell.difference is not None else [])
        text += f" ({', '.join(known)})"
    if cell.p_value is not None:
        text += "*" * sum(cell.p_value < bound for bound in _SIGNIFICANCE)
    text = escape(text + (" §" if cell.substitute else ""))
    note = f' title="{escape(cell.note, quote=True)}"' if cell.note else ""
    return f"<td{note}>{f'<b>{text}</b>' if cell.best else text}</td>"
