"""Where datasets come from: folders of the program, what ships inside the package, the generator."""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import Any

from . import _bidilel
from ._dataset import Dataset
from ._findings import Inspection
from ._running import Progress, running, seed_of
from ._settings import to_json


def open(path: str | PathLike[str], *, seed: int = 0, progress: Progress = None) -> Dataset:
    """Open a dataset.

    Parameters
    ----------
    path : str or path-like
        A folder with a ``dataset.toml`` or of a known benchmark, ``builtin:emoji``, or ``synthetic:PRESET``.
    seed : int, default=0
        Seed of a synthetic dataset.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import bidilel
    >>> bidilel.open("synthetic:small")
    Dataset('small': 1000 instances of 25 classes)
    """
    return Dataset(_bidilel.Dataset.open(os.fspath(path), seed_of(seed, "seed"), running(progress=progress)))


def emoji(name: str = "emoji") -> Dataset:
    """The dataset that ships inside the package: pictures of animals by several artists.

    Parameters
    ----------
    name : {"emoji", "emoji-things"}, default="emoji"
        Animals, or all else.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import bidilel
    >>> bidilel.emoji().visual
    ['efficientnet-lite0']
    """
    return open(f"builtin:{name}")


def generate(preset: str = "small", *, seed: int = 0, **settings: Any) -> Dataset:
    """Draw a synthetic dataset.

    Parameters
    ----------
    preset : {"small", "awa", "cub"}, default="small"
        Its sizes.
    seed : int, default=0
        Seed of the draw.
    **settings
        What differs from the preset: ``known``, ``unseen``, ``semantic_gap``, ``domain_shift``, ``spread``, ``scale``,
        and others of the same names as in the library.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import bidilel
    >>> len(bidilel.generate(known=8, unseen=3, validation=2).classes)
    11
    """
    return Dataset(_bidilel.Dataset.generate(preset, to_json(settings), seed_of(seed, "seed"), running()))


def inspect(dataset: Dataset | str | PathLike[str]) -> Inspection:
    """What is in a dataset, and what is wrong with it.

    Parameters
    ----------
    dataset : Dataset, str or path-like
        A dataset, or what :func:`bidilel.open` takes; a folder that cannot be opened is described, too.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> import bidilel
    >>> bidilel.inspect("builtin:emoji").ok
    True
    """
    if isinstance(dataset, Dataset):
        return dataset.inspect()
    return Inspection(json.loads(_bidilel.Dataset.inspect(os.fspath(dataset), running())))


def opened(dataset: Dataset | str | PathLike[str], seed: int = 0) -> Dataset:
    """A dataset, opened where it is named."""
    return dataset if isinstance(dataset, Dataset) else open(dataset, seed=seed)
