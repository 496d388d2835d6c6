"""Prediction over batches of Arrow: what engines such as Ray and Spark call on their workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ._inputs import native
from ._model import Model
from ._running import running

__all__ = ["Recognizer", "matrix"]

#: The columns that a recognizer adds.
RESULT = ("label", "distance")


def matrix(table: pa.Table | pa.RecordBatch, features: str | Sequence[str]) -> NDArray[Any]:
    """The features of a table as rows.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        The table.
    features : str or sequence of str
        A column of lists of equal length, or a column per feature.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Without a copy where one column has lists of fixed size in one piece.
    """
    if not isinstance(features, str):
        return native(np.column_stack([_numbers(table, name).to_numpy(zero_copy_only=False) for name in features]))
    column = _column(table, features)
    if isinstance(column.type, pa.ExtensionType):
        column = column.storage
    kind = column.type
    if not _is_lists(kind):
        raise ValueError(f"column `{features}`: expected lists of numbers, found {kind}; name a column per feature in a list")
    if column.null_count:
        raise ValueError(f"column `{features}`: {column.null_count} of {len(column)} rows are null")
    if not _is_number(kind.value_type):
        raise ValueError(f"column `{features}`: expected lists of numbers, found {kind}")
    values = column.flatten()
    if values.null_count:
        raise ValueError(f"column `{features}`: {values.null_count} numbers are null")
    width = len(values) // max(len(column), 1)
    if not pa.types.is_fixed_size_list(kind):
        lengths = column.value_lengths().to_numpy(zero_copy_only=False)
        if len(lengths) and (lengths != width).any():
            odd = int(np.flatnonzero(lengths != lengths[0])[0])
            raise ValueError(f"column `{features}`: expected {lengths[0]} numbers in row {odd}, found {lengths[odd]}")
    return native(values.to_numpy(zero_copy_only=False).reshape(len(column), width))


def _ordered(features: str | list[str], model: Model) -> str | list[str]:
    """Columns in the order of the features of a model that was fitted to columns of these names."""
    names = model.columns
    if isinstance(features, str) or names is None or features == names:
        return features
    given = set(features)
    for one, other, where in ((names, given, "features"), (features, set(names), "the features of the model")):
        odd = next((name for name in one if name not in other), None)
        if odd is not None:
            raise ValueError(f"features: expected the {len(names)} columns that the model was fitted to: `{odd}` is not among {where}")
    if len(features) != len(names):
        raise ValueError(f"features: expected {len(names)} columns, found {len(features)}: one is given twice")
    return names


def _is_lists(kind: pa.DataType) -> bool:
    """Whether a column of this type has a list in every row, as :func:`matrix` reads it."""
    if isinstance(kind, pa.ExtensionType):
        kind = kind.storage_type
    return bool(pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_number(kind: pa.DataType) -> bool:
    """Whether values are numbers, or true and false: NumPy would also make numbers of dates and of strings of digits."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind))


def _numbers(table: pa.Table | pa.RecordBatch, name: str) -> Any:
    column = _column(table, name)
    if not _is_number(column.type):
        raise ValueError(f"column `{name}`: expected numbers, found {column.type}")
    return column


def _column(table: pa.Table | pa.RecordBatch, name: str) -> Any:
    if name not in table.schema.names:
        raise ValueError(f"no column `{name}` among {', '.join(table.schema.names)}")
    column = table.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    return column


class Recognizer:
    """A model that takes tables and returns tables: ids and other columns, then ``label`` and ``distance``.

    Parameters
    ----------
    model : str, path-like, bytes or Model
        A model file, its bytes, or a model. A path is opened where the recognizer is called first.
    features : str or sequence of str, default="features"
        The column of feature lists, or a column per feature: in any order where the model knows their names.
    keep : sequence of str, optional
        Other columns of the result; all but the features by default.
    candidates : {"unseen", "known", "all"}, optional
        The classes that compete, as in :meth:`bidilel.Model.predict`.
    n_jobs : int, default=1
        Threads. Engines run a process per core, so that one is enough.

    Examples
    --------
    >>> import bidilel, pyarrow as pa
    >>> from bidilel.arrow import Recognizer
    >>> emoji = bidilel.emoji()
    >>> rows = emoji.features(instances=emoji.trials()[0].test[:3])
    >>> table = pa.table({"id": [7, 8, 9], "features": list(rows)})
    >>> Recognizer(emoji.fit())(table).column_names
    ['id', 'label', 'distance']
    """

    def __init__(
        self,
        model: str | PathLike[str] | bytes | Model,
        *,
        features: str | Sequence[str] = "features",
        keep: Sequence[str] | None = None,
        candidates: str | None = None,
        n_jobs: int = 1,
    ) -> None:
        self._source = model if isinstance(model, (bytes, Model)) else fspath(model)
        self._model: Model | None = None
        self._features = features if isinstance(features, str) else list(features)
        self._keep = None if keep is None else list(keep)
        self._candidates, self._n_jobs = candidates, n_jobs

    def __getstate__(self) -> dict[str, Any]:
        # What was opened here is opened again elsewhere.
        return {**self.__dict__, "_model": None}

    @property
    def model(self) -> Model:
        """The model, opened at its first use."""
        if self._model is None:
            source = self._source
            if isinstance(source, Model):
                self._model = source
            else:
                self._model = Model.from_bytes(source) if isinstance(source, bytes) else Model.load(source)
            self._features = _ordered(self._features, self._model)
        return self._model

    def kept(self, names: Sequence[str]) -> list[str]:
        """The columns of the result that are those of the input.

        Parameters
        ----------
        names : sequence of str
            The columns of the input.

        Returns
        -------
        list of str
        """
        if self._keep is not None:
            return self._keep
        features = {self._features} if isinstance(self._features, str) else set(self._features)
        return [name for name in names if name not in features]

    def __call__(self, table: pa.Table) -> pa.Table:
        """Recognize the rows of a table.

        Parameters
        ----------
        table : pyarrow.Table
            Features, and columns to keep.

        Returns
        -------
        pyarrow.Table
            The same rows in the same order.
        """
        model, rows = self.model, matrix(table, self._features)
        names = self.kept(table.column_names)
        twice = [name for name in names if name in RESULT]
        if twice:
            raise ValueError(f"the table has a column `{twice[0]}` already: name the columns to keep, without it, or rename it")
        kept = table.select(names)
        if not len(rows):
            labels, distances = np.array([], dtype=object), np.array([], dtype=np.float64)
        else:
            indices, distances = model._raw.predict(rows, self._candidates, running(self._n_jobs))
            labels = np.asarray(model.classes(self._candidates), dtype=object)[indices]
        label, distance = RESULT
        return kept.append_column(label, pa.array(labels, pa.string())).append_column(distance, pa.array(distances))

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Recognize record batches one by one, as Spark's ``mapInArrow`` wants it.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            Batches of rows.

        Yields
        ------
        pyarrow.RecordBatch
        """
        for batch in batches:
            yield from self(pa.Table.from_batches([batch])).combine_chunks().to_batches()
