"""What results have in common: the object that the program prints, a table, a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Result(Mapping[str, Any]):
    """An object that the program prints, by its keys; subclasses name what matters.

    Parameters
    ----------
    data : dict
        The object.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--format json`` prints.

        Returns
        -------
        dict
        """
        return self._data

    def _rows(self) -> list[dict[str, Any]]:
        """The rows of the table."""
        raise NotImplementedError

    def _title(self) -> str:
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """The table as a DataFrame.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("tables need pandas: pip install './python[pandas]'") from error
        return pd.DataFrame(self._rows())

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what the class says, with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes_of(ax)
        self._draw(ax)
        ax.set_title(self._title())
        return ax

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._title()}>"

    def _repr_html_(self) -> str:
        rows = self._rows()
        columns = list(rows[0]) if rows else []
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(shown(row.get(column)))}</td>" for column in columns) + "</tr>"
            for row in rows
        )
        return (
            f"<p>{escape(self._title())}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def shown(value: Any) -> str:
    """A value as a cell of a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def axes_of(ax: Axes | None) -> Axes:
    """The axes that were given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install './python[plot]'") from error
    import matplotlib.pyplot as plt

    figure: Figure = plt.figure(layout="constrained")
    return figure.add_subplot()
