"""Tables: as arrays where one column holds all features, and columns by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def plain(X: Any) -> Any:
    """One column of lists of Arrow or Polars as an array, without a copy where it can be; anything else as it is.

    Tables with a column per feature stay tables: scikit-learn reads them, and checks the names of their columns.
    """
    module = type(X).__module__.partition(".")[0]
    if module == "pyarrow":
        return _from_arrow(X)
    if module == "polars":
        return _from_polars(X)
    return X


def _from_arrow(X: Any) -> Any:
    import pyarrow as pa

    from .arrow import _is_lists, matrix

    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    if isinstance(X, (pa.Array, pa.ChunkedArray)):
        if not _is_lists(X.type):
            raise ValueError(f"expected columns of numbers or one column of lists of equal length, found {X.type}")
        X = pa.table({"X": X})
    if isinstance(X, pa.Table) and X.num_columns == 1 and _is_lists(X.schema.types[0]):
        return matrix(X, X.column_names[0])
    return X


def _from_polars(X: Any) -> Any:
    import polars as pl

    if isinstance(X, pl.DataFrame) and X.width == 1 and X.dtypes[0].is_nested():
        X = X.to_series()
    # Whether lists of a variable type have one length is found by Arrow, another package.
    if isinstance(X, pl.Series):
        return _from_arrow(X.to_arrow()) if isinstance(X.dtype, pl.List) else X.to_numpy()
    return X


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a table; none where it has no names, or others than strings."""
    if type(X).__module__.partition(".")[0] not in ("pandas", "polars", "pyarrow"):
        return None
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)
    names = None if names is None else list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def selected(X: Any, names: Sequence[str] | None) -> Any:
    """The columns of a table in the order of these names, as the program reads tables; anything else as it is."""
    own = column_names(X)
    if names is None or own is None or own == list(names):
        return X
    missing = [name for name in names if name not in own]
    if missing:
        raise ValueError(f"X has no column `{missing[0]}`; the model was fitted to columns of these names")
    return X.select(list(names)) if hasattr(X, "select") else X[list(names)]
