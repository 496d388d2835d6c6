"""Prediction over Ray Data: Parquet in, Parquet out."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import ray
import ray.data
from ray.exceptions import RayError, RayTaskError

from .._model import Model
from ..arrow import Recognizer

T = TypeVar("T")

#: Seconds before a job is tried again, times the number of failures.
_PAUSE = 1.0

#: Exceptions in tasks that are mistakes of the user: another attempt would end with them, too.
_MISTAKES = (ValueError, TypeError, LookupError, OSError)

_log = logging.getLogger(__name__)


@lru_cache(maxsize=4)
def _recognizer(source: Any, stamp: tuple[int, int] | None, how: str) -> Recognizer:
    """The recognizer of a worker, which opens the model once: that of another stamp is another model."""
    recognizer = Recognizer(ray.get(source) if isinstance(source, ray.ObjectRef) else source, **json.loads(how))
    _ = recognizer.model
    return recognizer


def _recognize(table: pa.Table, source: tuple[Any], how: str) -> pa.Table:
    return _recognizer(source[0], _stamp(source[0]), how)(table)


def _stamp(source: Any) -> tuple[int, int] | None:
    """What tells a file from one that was there before it: workers outlive a job, and paths are used again."""
    if not isinstance(source, str):
        return None
    found = os.stat(source)
    return found.st_size, found.st_mtime_ns


def predict(
    dataset: Any,
    model: str | PathLike[str] | bytes | Model,
    *,
    output: str | PathLike[str] | None = None,
    features: str | Sequence[str] = "features",
    keep: Sequence[str] | None = None,
    candidates: str | None = None,
    batch_size: int = 8192,
    concurrency: int | None = None,
    num_cpus: float = 1,
    retries: int = 3,
) -> Any:
    """Recognize the rows of a dataset.

    Parameters
    ----------
    dataset : ray.data.Dataset, path or list of paths
        The rows; paths are of Parquet files or folders.
    model : str, path-like, bytes or Model
        A model file that every worker can open, its bytes, or a model: the latter are put into the object store once.
    output : path-like, optional
        A folder for Parquet files, which must not exist. It appears when all rows are there.
    features : str or sequence of str, default="features"
        The column of feature lists, or a column per feature.
    keep : sequence of str, optional
        Columns to keep, such as ids; all but the features by default.
    candidates : {"unseen", "known", "all"}, optional
        The classes that compete, as in :meth:`bidilel.Model.predict`.
    batch_size : int, default=8192
        Rows that a task recognizes at a time.
    concurrency : int, optional
        The most tasks at a time; as many as there are processors for by default.
    num_cpus : float, default=1
        Processors of a task; it uses as many threads.
    retries : int, default=3
        With ``output``: how often a job that failed because of Ray (a lost node, say) is started again. A dataset that is
        computed when it is used is not: Ray itself repeats single tasks.

    Returns
    -------
    ray.data.Dataset
        Kept columns, ``label`` and ``distance``. It is computed when it is used, or read from ``output``.

    Examples
    --------
    >>> import bidilel.ray  # doctest: +SKIP
    >>> bidilel.ray.predict("features/", "model.bidilel", output="labels/", keep=["id"])  # doctest: +SKIP
    """
    check_retries(retries)
    folder = None if output is None else _folder(output)
    if isinstance(model, (bytes, Model)):
        source: Any = ray.put(model if isinstance(model, bytes) else model.to_bytes())
    else:
        source = os.path.abspath(fspath(model))
        Model.load(source)  # What is wrong with it is said here, not by an actor.
    how = {
        "features": features if isinstance(features, str) else list(features),
        "keep": None if keep is None else list(keep),
        "candidates": candidates,
        "n_jobs": max(1, int(num_cpus)),
    }

    def lazily() -> Any:
        rows = dataset if isinstance(dataset, ray.data.Dataset) else ray.data.read_parquet(_paths(dataset))
        return rows.map_batches(
            _recognize,
            # Within a tuple, a reference is passed on as one: the model is fetched once per worker, not once per task.
            fn_args=((source,), json.dumps(how)),
            batch_size=batch_size,
            batch_format="pyarrow",
            zero_copy_batch=True,
            # Tasks, no actors: a pool of actors on all processors would leave none for those that read and write.
            compute=ray.data.TaskPoolStrategy(concurrency),
            num_cpus=num_cpus,
        )

    if folder is None:
        return lazily()
    again(lambda: _write(lazily(), folder), retries)
    return ray.data.read_parquet(str(folder))


def check_retries(retries: int) -> None:
    """Refuse a number of retries below zero.

    Parameters
    ----------
    retries : int
        The number.
    """
    if retries < 0:
        raise ValueError(f"retries must be at least 0, found {retries}")


def again(job: Callable[[], T], retries: int) -> T:
    """Run a job, and again where Ray fails; other exceptions are raised as they are, those of tasks included.

    Parameters
    ----------
    job : callable
        The job.
    retries : int
        How often it is started again.

    Returns
    -------
    object
        What it returns.
    """
    failures = 0
    while True:
        try:
            return job()
        except RayError as error:
            mistake = _mistake(error)
            if mistake is not None:
                raise mistake from error
            failures += 1
            if failures > retries:
                raise
            _log.warning("failure %d of the job, which is started again: %s", failures, error)
            time.sleep(_PAUSE * failures)


def _mistake(error: BaseException) -> BaseException | None:
    """The mistake of the user that ended a task, where it was one."""
    while isinstance(error, RayTaskError):
        error = error.cause
    # Some failures of Ray are an OSError, too.
    return error if isinstance(error, _MISTAKES) and not isinstance(error, RayError) else None


@contextmanager
def original_exceptions(rows: Any) -> Iterator[None]:
    """Exceptions in functions over a dataset arrive as they are: what Ray Data wraps them in has lost what they were.

    Parameters
    ----------
    rows : ray.data.Dataset
        The dataset.
    """
    context = rows.context
    before, context.raise_original_map_exception = context.raise_original_map_exception, True
    try:
        yield
    finally:
        context.raise_original_map_exception = before


def _write(rows: Any, folder: Path) -> None:
    """Write all rows, or nothing."""
    # Another name for every attempt: a task of an earlier one may still be alive, and write rows of its own.
    part = folder.with_name(f".{folder.name}.part-{uuid.uuid4().hex}")
    try:
        with original_exceptions(rows):
            rows.write_parquet(str(part))
        # Ray may leave no folder, or an empty one, which cannot be read.
        if not any(part.glob("*.parquet")):
            raise ValueError(f"the dataset has no rows: `{folder}` was not written")
        os.rename(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _folder(output: str | PathLike[str]) -> Path:
    text = fspath(output)
    if "://" in text:
        raise ValueError(f"output must be a folder that all workers share, found {text}: write the result without output there")
    folder = Path(text).absolute()
    if folder.exists():
        raise FileExistsError(f"`{folder}` exists already")
    folder.parent.mkdir(parents=True, exist_ok=True)
    return folder


def _paths(dataset: Any) -> Any:
    if isinstance(dataset, (str, PathLike)):
        return fspath(dataset)
    return [fspath(path) for path in dataset]
