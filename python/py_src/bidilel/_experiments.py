"""Experiments: evaluate, tune, compare."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from . import _bidilel
from ._dataset import Dataset
from ._datasets import opened
from ._results import Comparison, Evaluation, Tuning
from ._running import Progress, counted, counted_or_none, running, seed_of
from ._settings import experiment_settings, to_json


def _splits(
    split: str | None, random_splits: Any, random_unseen: Any = None, test_seen_share: float | None = None, generalized: Any = None
) -> _bidilel._Splits:
    """Which trials; what goes without what is refused as the program refuses it."""
    if split is not None and random_splits is not None:
        raise ValueError("split names trials and random_splits draws others: give one of them")
    if random_unseen is not None:
        if random_splits is None:
            raise ValueError("random_unseen is for random splits: give random_splits, too")
        if not (0 < random_unseen < 1 or float(random_unseen).is_integer() and random_unseen >= 1):
            expected = "a number of classes of at least 1, or a share between 0 and 1"
            raise ValueError(f"random_unseen must be {expected}, found {random_unseen!r}")
    if test_seen_share is not None and not generalized:
        raise ValueError("test_seen_share tests known classes, which are candidates with generalized=True only: give it, too")
    return {"split": split, "random": counted_or_none("random_splits", random_splits, 1), "unseen": random_unseen}


def evaluate(
    dataset: Dataset | str | PathLike[str],
    *,
    split: str | None = None,
    random_splits: int | None = None,
    random_unseen: float | None = None,
    test_seen_share: float | None = None,
    seed: int = 0,
    repeats: int = 1,
    top: Sequence[int] = (1, 5),
    n_jobs: int | None = None,
    progress: Progress = None,
    **settings: Any,
) -> Evaluation:
    """Fit on the known classes, recognize the unseen ones, and score, as ``bidilel evaluate`` does.

    Parameters
    ----------
    dataset : Dataset, str or path-like
        A dataset, or what :func:`bidilel.open` takes.
    split : str, optional
        A name, ``NAME:TRIAL``, or the name of a family for all its trials; the first by default.
    random_splits : int, optional
        Instead of a split: this many random divisions of the classes.
    random_unseen : int or float, optional
        Unseen classes of a random split: a number, or a share.
    test_seen_share : float, optional
        With ``generalized=True``: share of every known class's instances that is tested.
    seed : int, default=0
        Seed of everything random.
    repeats : int, default=1
        Runs of every trial, with seeds counting up.
    top : sequence of int, default=(1, 5)
        The ``k`` for which the right class among the ``k`` best is counted.
    n_jobs : int, optional
        Threads; all processors by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.
    **settings
        Settings of the method by name, as :func:`bidilel.settings` lists them.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import bidilel
    >>> result = bidilel.evaluate("builtin:emoji", dim=50)
    >>> result.accuracy > result.chance
    True
    """
    seed = seed_of(seed, "seed")
    found = _bidilel.evaluate(
        opened(dataset, seed)._raw,
        experiment_settings(settings),
        splits=_splits(split, random_splits, random_unseen, test_seen_share, settings.get("generalized")),
        test_seen_share=test_seen_share,
        seed=seed,
        repeats=counted("repeats", repeats, 1, 2**16 - 1),
        top=[counted("top", each, 1) for each in top],
        running=running(n_jobs, progress),
    )
    return Evaluation(json.loads(found))


def tune(
    dataset: Dataset | str | PathLike[str],
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    strategy: str = "paper",
    samples: int = 30,
    auto: bool = False,
    holdout: float | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    evaluations: int | None = None,
    split: str | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    **settings: Any,
) -> Tuning:
    """Choose settings on held-out known classes, as ``bidilel tune`` does. Nothing of the unseen classes is looked at.

    Parameters
    ----------
    dataset : Dataset, str or path-like
        A dataset, or what :func:`bidilel.open` takes.
    grid : dict of lists, optional
        Values to try, by setting; those of the strategy by default.
    strategy : {"paper", "grid", "random", "halving"}, default="paper"
        The order in which settings are tried.
    samples : int, default=30
        Settings that the random strategy tries.
    auto : bool, default=False
        Whether the whole pipeline is chosen, too.
    holdout : float, optional
        Share of the known classes that is held out; 0.2 by default.
    trials : int, optional
        How many times.
    seconds, evaluations : optional
        When to stop.
    split : str, optional
        A split, or one trial of a family; the first by default.
    seed : int, default=0
        Seed of everything random.
    n_jobs : int, optional
        Threads; all processors by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.
    **settings
        Settings that are fixed, as :func:`bidilel.settings` lists them.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> import bidilel
    >>> data = bidilel.generate(scale=0.3)
    >>> found = bidilel.tune(data, {"alpha": [1.0, 10.0], "dim": [5, 10]}, strategy="grid", trials=2)
    >>> len(found.trials) >= 4
    True
    """
    if seconds is not None and not seconds > 0:
        raise ValueError(f"seconds must be above 0, found {seconds}")
    if auto and (strategy, samples) != ("paper", 30):
        raise ValueError("auto=True searches in its own way: leave strategy and samples out")
    seed = seed_of(seed, "seed")
    found = _bidilel.tune(
        opened(dataset, seed)._raw,
        experiment_settings(settings),
        to_json(grid or {}),
        splits=_splits(split, None),
        search={
            "strategy": strategy,
            "samples": counted("samples", samples, 1),
            "auto": auto,
            "holdout": holdout,
            "trials": counted_or_none("trials", trials, 1),
            "seconds": seconds,
            "evaluations": counted_or_none("evaluations", evaluations, 1),
        },
        seed=seed,
        running=running(n_jobs, progress),
    )
    return Tuning(json.loads(found))


def compare(
    dataset: Dataset | str | PathLike[str],
    methods: str | Sequence[str] = "all",
    *,
    tune: bool = False,
    holdout: float | None = None,
    trials: int | None = None,
    split: str | None = None,
    random_splits: int | None = None,
    random_unseen: float | None = None,
    test_seen_share: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    **settings: Any,
) -> Comparison:
    """Run several methods on the same trials, as ``bidilel compare`` does.

    Parameters
    ----------
    dataset : Dataset, str or path-like
        A dataset, or what :func:`bidilel.open` takes.
    methods : str or list of str, default="all"
        Names, with settings and refiners as in ``"bidilel:dim=50+structured"``; ``"all"``, ``"inductive"`` or
        ``"transductive"``.
    tune : bool, default=False
        Whether the settings of each are chosen on held-out known classes first.
    holdout, trials : optional
        How known classes are held out, as in :func:`bidilel.tune`.
    split, random_splits, random_unseen, test_seen_share, seed, n_jobs, progress : optional
        As in :func:`bidilel.evaluate`.
    **settings
        Settings that all of them have, as :func:`bidilel.settings` lists them.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import bidilel
    >>> bidilel.compare(bidilel.generate(scale=0.3), ["eszsl", "rr"]).to_pandas().shape
    (2, 8)
    """
    wanted = [one.strip() for one in methods.split(",")] if isinstance(methods, str) else list(methods)
    if not wanted:
        raise ValueError("name a method; bidilel.methods() lists all")
    seed = seed_of(seed, "seed")
    found = _bidilel.compare(
        opened(dataset, seed)._raw,
        wanted,
        experiment_settings(settings),
        splits=_splits(split, random_splits, random_unseen, test_seen_share, settings.get("generalized")),
        test_seen_share=test_seen_share,
        tune=tune,
        search={
            "strategy": "paper",
            "samples": 0,
            "auto": False,
            "holdout": holdout,
            "trials": counted_or_none("trials", trials, 1),
            "seconds": None,
            "evaluations": None,
        },
        seed=seed,
        running=running(n_jobs, progress),
    )
    return Comparison(json.loads(found))


def methods() -> list[dict[str, Any]]:
    """Every method with its year, kind, reference and settings.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import bidilel
    >>> bidilel.methods()[0]["name"]
    'bidilel'
    """
    found: list[dict[str, Any]] = json.loads(_bidilel.methods())["methods"]
    return found


def settings() -> list[dict[str, Any]]:
    """Every setting with its type, names, help and default.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> import bidilel
    >>> {"alpha", "dim", "neighbors"} <= {row["name"] for row in bidilel.settings()}
    True
    """
    found: list[dict[str, Any]] = json.loads(_bidilel.settings_table())
    return found
