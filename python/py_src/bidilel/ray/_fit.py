"""An exact fit over Ray Data: functions of partitions as tasks, their values in the object store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import ray
import ray.data
from ray.data.block import BlockAccessor
from ray.exceptions import RayError

from .. import distributed
from .._model import Model
from .._running import Progress
from ..arrow import _column, matrix
from ._predict import _paths, again, check_retries, original_exceptions

#: How often Ray repeats a task whose worker died.
_TASK_RETRIES = 16

#: Tasks that are remembered before those that have finished are looked for.
_MARKS = 1000


class _Tasks:
    """The engine that runs functions as tasks. They keep nothing: what a lost worker had is computed again."""

    def __init__(self, num_cpus: float) -> None:
        self._num_cpus = num_cpus
        self._remote: dict[tuple[Any, int], Any] = {}
        # Of every task one more value, which is nothing: to remember the others would keep them in the object store.
        self._marks: list[Any] = []
        self._most_marks = _MARKS

    def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
        key = (function, returns)
        if key not in self._remote:
            self._remote[key] = ray.remote(
                num_cpus=self._num_cpus, num_returns=returns + 1, max_retries=_TASK_RETRIES
            )(_marked(function, returns))
        *found, mark = self._remote[key].remote(*arguments)
        self._marks.append(mark)
        if len(self._marks) > self._most_marks:
            self._marks = self._unfinished()
            self._most_marks = max(_MARKS, 2 * len(self._marks))
        return found[0] if returns == 1 else found

    def get(self, handle: Any) -> Any:
        return ray.get(handle)

    def cancel(self) -> None:
        """End the tasks that have not finished. Where Ray itself has ended, they have, too."""
        with suppress(RayError):
            for mark in self._unfinished():
                ray.cancel(mark)
        self._marks = []

    def _unfinished(self) -> list[Any]:
        if not self._marks:
            return []
        _, unfinished = ray.wait(self._marks, num_returns=len(self._marks), timeout=0, fetch_local=False)
        return list(unfinished)


def _marked(function: Callable[..., Any], returns: int) -> Callable[..., Any]:
    """A function of Python, for Ray takes none of NumPy, which returns nothing after its values."""
    if returns == 1:
        return lambda *arguments: (function(*arguments), None)
    return lambda *arguments: (*function(*arguments), None)


def fit(
    dataset: Any,
    semantics: Any = None,
    classes: Sequence[Any] | None = None,
    *,
    features: str | Sequence[str] = "features",
    label: str = "label",
    partitions: int | None = None,
    metric: str | Mapping[str, str] = "euclidean",
    settings: Mapping[str, Any] | None = None,
    random_state: Any = None,
    num_cpus: float = 1,
    retries: int = 3,
    progress: Progress = None,
) -> Model:
    """Fit the paper's method to a dataset that stays on the workers.

    The result is that of a fit on one machine, whatever the partitions: only sums are rounded in another order.

    Parameters
    ----------
    dataset : ray.data.Dataset, path or list of paths
        Labeled rows of the known classes; paths are of Parquet files or folders.
    semantics, classes, metric
        Descriptions of all classes, as for :meth:`bidilel.ZeroShotClassifier.fit`.
    features : str or sequence of str, default="features"
        The column of feature lists, or a column per feature.
    label : str, default="label"
        The column of classes.
    partitions : int, optional
        Partitions of about as many rows; those of the dataset by default. A worker holds two at a time.
    settings : dict, optional
        Settings by name, such as ``neighbors``, ``alpha``, ``weights``, ``neighborhood``, ``dim`` and ``normalize``.
    random_state : int, optional
        The seed of what is random in the embedding of unseen classes.
    num_cpus : float, default=1
        Processors of a task.
    retries : int, default=3
        How often a job that failed because of Ray is started again.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Returns
    -------
    Model
        An ordinary model, as a fit on one machine gives it.

    Examples
    --------
    >>> import bidilel.ray  # doctest: +SKIP
    >>> model = bidilel.ray.fit("train/", semantics, settings={"neighborhood": "within-class"})  # doctest: +SKIP
    >>> model.save("model.bidilel")  # doctest: +SKIP
    """
    found = fitted(
        dataset,
        semantics,
        classes,
        features=features,
        label=label,
        partitions=partitions,
        num_cpus=num_cpus,
        retries=retries,
        metric=metric,
        settings=settings,
        random_state=random_state,
        progress=progress,
    )
    return found.model


def fitted(
    dataset: Any,
    semantics: Any = None,
    classes: Sequence[Any] | None = None,
    *,
    features: str | Sequence[str] = "features",
    label: str = "label",
    partitions: int | None = None,
    num_cpus: float = 1,
    retries: int = 3,
    **how: Any,
) -> distributed.Fit:
    """Fit as :func:`fit` does it, with the scatter matrices and eigenvalues that led to the model.

    Parameters
    ----------
    dataset, semantics, classes, features, label, partitions, num_cpus, retries
        As for :func:`fit`.
    **how
        What :func:`bidilel.distributed.fit` takes, too.

    Returns
    -------
    bidilel.distributed.Fit
    """
    check_retries(retries)
    columns = [features] if isinstance(features, str) else list(features)
    engine = _Tasks(num_cpus)

    def job() -> distributed.Fit:
        try:
            return work()
        except BaseException:
            # An interrupt, too: nobody waits for what has not finished.
            engine.cancel()
            raise

    def work() -> distributed.Fit:
        rows = dataset if isinstance(dataset, ray.data.Dataset) else ray.data.read_parquet(_paths(dataset))
        rows = rows.select_columns([*columns, label])
        if partitions is not None:
            rows = rows.repartition(partitions)
        blocks = _blocks(rows)
        found = ray.get([engine.submit(_labels, block, label) for block in blocks])
        blocks = [block for block, (count, _) in zip(blocks, found) if count]
        firsts = np.cumsum([0] + [count for count, _ in found if count])
        parts = [(_rows, block, features, label, int(first)) for block, first in zip(blocks, firsts)]
        every = [name for _, names in found for name in names]
        if not parts:
            raise ValueError("the dataset has no rows")
        names = None if isinstance(features, str) else columns
        return distributed.fit(engine, parts, every, semantics, classes, columns=names, **how)

    return again(job, retries)


def _blocks(rows: Any) -> list[Any]:
    """The blocks of a dataset in the order of its rows, so that a fit is repeatable."""
    options = rows.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        with original_exceptions(rows):
            bundles = rows.materialize().iter_internal_ref_bundles()
        return [block for bundle in bundles for block in bundle.block_refs]
    finally:
        options.preserve_order = before


def _table(block: Any) -> pa.Table:
    """A block as a table of Arrow: after a function over batches of pandas it is a DataFrame."""
    return BlockAccessor.for_block(block).to_arrow()


def _labels(block: Any, label: str) -> tuple[int, list[Any]]:
    """How many rows a block has, and their classes."""
    table = _table(block)
    if not len(table):
        return 0, []
    column = _column(table, label)
    if column.null_count:
        raise ValueError(f"column `{label}`: {column.null_count} of {len(column)} rows are null: leave them out")
    return len(table), column.unique().to_pylist()


def _rows(block: Any, features: str | Sequence[str], label: str, first: int) -> distributed.Rows:
    table = _table(block)
    y = _column(table, label).to_numpy(zero_copy_only=False)
    return distributed.Rows(matrix(table, features), y, np.arange(first, first + len(table)))
