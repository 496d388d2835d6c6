"""Tables and figures of the paper, made again."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from os import PathLike
from typing import Any, overload

from . import _bidilel
from ._running import Progress, counted_or_none, running, seed_of
from ._tables import Reproduction


@overload
def reproduce(  # type: ignore[overload-overlap]  # A string is a sequence of strings, too, and one table.
    tables: str | PathLike[str],
    *,
    data: str | PathLike[str] | None = ...,
    scale: float | None = ...,
    out: str | PathLike[str] | None = ...,
    resume: bool = ...,
    splits: int | None = ...,
    folds: int | None = ...,
    starts: int | None = ...,
    seed: int = ...,
    n_jobs: int | None = ...,
    progress: Progress = ...,
) -> Reproduction: ...
@overload
def reproduce(
    tables: Sequence[str | PathLike[str]],
    *,
    data: str | PathLike[str] | None = ...,
    scale: float | None = ...,
    out: str | PathLike[str] | None = ...,
    resume: bool = ...,
    splits: int | None = ...,
    folds: int | None = ...,
    starts: int | None = ...,
    seed: int = ...,
    n_jobs: int | None = ...,
    progress: Progress = ...,
) -> list[Reproduction]: ...
def reproduce(
    tables: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    data: str | PathLike[str] | None = None,
    scale: float | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    splits: int | None = None,
    folds: int | None = None,
    starts: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Reproduction | list[Reproduction]:
    """Make tables and figures of the paper from your copy of the data, as ``bidilel reproduce`` does.

    Parameters
    ----------
    tables : str, path-like, or sequence of these
        A name that :func:`bidilel.reproductions` lists, or a file of your own in the same form (``.toml``). Several tables
        share what they have in common; ``["all"]`` stands for all of the paper.
    data : path-like, optional
        The folder with a folder per dataset: ``awa``, ``cub``, ``ucf101``, ``hmdb51``. Cells whose data are missing say what to get.
    scale : float, optional
        Instead of ``data``: generated stand-ins, whose instances and features are this share of the real ones.
    out : path-like, optional
        The folder to write to: every table as ``.txt``, ``.md``, ``.tex``, ``.csv`` and ``.json``, curves, and the journal.
    resume : bool, default=False
        Whether to go on from the journal in ``out``.
    splits : int, optional
        At most so many divisions of the classes, instead of the paper's 30.
    folds : int, optional
        At most so many folds of the known classes, by which settings are chosen. With 0
        there is no search, and every cell has the default settings.
    starts : int, optional
        At most so many random starts, instead of the paper's five.
    seed : int, default=0
        Seed of folds, of divisions that are drawn, of stand-ins and of the first start.
    n_jobs : int, optional
        Threads; all processors by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``: trials of cells.

    Returns
    -------
    Reproduction, or a list of these for a sequence

    Examples
    --------
    >>> import bidilel, tempfile
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     table = bidilel.reproduce("gamma", data=empty)
    >>> [one.what for one in table.missing if "," not in one.what]
    ['AwA', 'CUB-200-2011']
    >>> table.cell("AwA Vgg19", "ST").published
    0.3
    """
    if (data is None) == (scale is None):
        raise ValueError("say where the data are: data, a folder with a folder per dataset, or scale for generated stand-ins")
    single = isinstance(tables, (str, PathLike))
    if single and tables == "all":
        raise ValueError('all is several tables: give a list, ["all"]')
    wanted = [tables] if isinstance(tables, (str, PathLike)) else list(tables)
    if not wanted:
        raise ValueError("name a table; bidilel.reproductions() lists those of the paper")
    found = _bidilel.reproduce(
        [os.fspath(table) for table in wanted],
        data=data,
        scale=scale or 0.0,
        out=out,
        resume=resume,
        extent={
            "splits": counted_or_none("splits", splits, 1),
            "folds": counted_or_none("folds", folds),
            "starts": counted_or_none("starts", starts, 1),
        },
        seed=seed_of(seed, "seed"),
        running=running(n_jobs, progress),
    )
    made = [Reproduction(table) for table in json.loads(found)]
    return made[0] if single else made


def reproductions() -> list[dict[str, Any]]:
    """The tables and figures of the paper that :func:`bidilel.reproduce` makes.

    Returns
    -------
    list of dict
        Each with ``name``, its label in the paper (``published``), ``title`` and the ``datasets`` that it needs.

    Examples
    --------
    >>> import bidilel
    >>> "gamma" in {table["name"] for table in bidilel.reproductions()}
    True
    """
    found: list[dict[str, Any]] = json.loads(_bidilel.reproductions())
    return found
