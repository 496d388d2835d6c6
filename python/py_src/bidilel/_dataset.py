"""A dataset and its trials."""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _bidilel
from ._findings import Inspection
from ._model import Model
from ._running import Progress, counted, running, seed_of
from ._settings import experiment_settings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Trial:
    """One division of a dataset into known and unseen classes, by indices.

    Attributes
    ----------
    name : str
        The split's name, with the trial's number where it is one of a family.
    known, unseen : ndarray of int
        Classes.
    train, test, test_seen : ndarray of int
        Instances to learn from, of unseen classes, and of known classes that are tested, too.
    validation : ndarray of int
        Known classes that the split names for tuning.
    """

    name: str
    known: NDArray[np.int64]
    unseen: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    test_seen: NDArray[np.int64]
    validation: NDArray[np.int64]


class Dataset:
    """A dataset as it was read: nothing chosen, nothing normalized, features where they are stored.

    Make one with :func:`bidilel.open`, :func:`bidilel.emoji` or :func:`bidilel.generate`.

    Attributes
    ----------
    name : str
        Its name.
    classes : list of str
        Names of the classes; a class's index is its position.
    labels : ndarray of int
        The class of every instance.
    visual, semantic, splits : list of str
        Names of the representations and splits; the first of each is the default.
    characters : list of str or None
        A character for every class, of built-in datasets.

    Examples
    --------
    >>> import bidilel
    >>> emoji = bidilel.emoji()
    >>> emoji.features().shape[0] == len(emoji.labels)
    True
    """

    def __init__(self, raw: _bidilel.Dataset) -> None:
        self._raw = raw

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}: {len(self.labels)} instances of {len(self.classes)} classes)"

    def _repr_html_(self) -> str:
        return self.inspect()._repr_html_()

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def name(self) -> str:
        return self._raw.name

    @property
    def classes(self) -> list[str]:
        return self._raw.classes

    @property
    def labels(self) -> NDArray[np.int64]:
        return self._raw.labels

    @property
    def visual(self) -> list[str]:
        return [name for name, _, _ in self._raw.visual]

    @property
    def semantic(self) -> list[str]:
        return [name for name, _, _ in self._raw.semantic]

    @property
    def splits(self) -> list[str]:
        return [name for name, _, _ in self._raw.splits]

    @property
    def characters(self) -> list[str] | None:
        return self._raw.characters

    def class_names(self) -> NDArray[Any]:
        """The name of every instance's class.

        Returns
        -------
        ndarray of str of shape (n_samples,)
        """
        return np.asarray(self.classes)[self.labels]

    def features(self, visual: str | None = None, instances: ArrayLike | None = None) -> NDArray[np.float32]:
        """Features of some instances, or of all.

        Parameters
        ----------
        visual : str, optional
            The visual representation; the first by default.
        instances : array-like of int, optional
            Which instances, by index or by a mask; all by default.

        Returns
        -------
        ndarray of float32 of shape (n_samples, n_features)
        """
        return self._raw.features(visual, None if instances is None else self._instances(instances), running())

    def _instances(self, instances: ArrayLike) -> list[int]:
        """Indices of instances."""
        wanted, count = np.asarray(instances), len(self)
        if wanted.dtype == np.bool_ and wanted.shape == (count,):
            wanted = np.flatnonzero(wanted)
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            found = f"{wanted.dtype} of shape {wanted.shape}"
            raise ValueError(f"instances must be a list of indices or a mask of {count}, found {found}")
        if wanted.size and wanted.min() < 0:
            raise ValueError(f"instance {wanted.min()} does not exist: there are {count}, counted from 0")
        return cast("list[int]", wanted.tolist())

    def semantics(self, semantic: str | None = None) -> pd.DataFrame | dict[str, NDArray[np.float64]]:
        """Descriptions of all classes, as ``fit`` of :class:`bidilel.ZeroShotClassifier` takes them.

        They have no metric with them: that is for the estimator, ``ZeroShotClassifier(metric=dataset.metric())``.

        Parameters
        ----------
        semantic : str, optional
            The semantic representation; the first by default.

        Returns
        -------
        DataFrame by class where pandas is installed, otherwise dict by class
        """
        values, dimensions = self._raw.semantics(semantic)
        try:
            import pandas as pd
        except ImportError:
            return dict(zip(self.classes, values))
        return pd.DataFrame(values, index=self.classes, columns=dimensions)

    def metric(self, semantic: str | None = None) -> str:
        """The distance that goes with a semantic representation.

        Parameters
        ----------
        semantic : str, optional
            The semantic representation; the first by default.

        Returns
        -------
        str
        """
        for name, _, metric in self._raw.semantic:
            if semantic in (None, name):
                return metric
        raise ValueError(f"no semantic representation `{semantic}` among {', '.join(self.semantic)}")

    def trials(self, split: str | None = None) -> list[Trial]:
        """The trials of a split.

        Parameters
        ----------
        split : str, optional
            A name, ``NAME:TRIAL``, or the name of a family; the first by default.

        Returns
        -------
        list of Trial
        """
        return [Trial(**trial) for trial in self._raw.trials(split)]

    def picture(self, instance: int) -> bytes:
        """The picture of an instance as a WebP file, of built-in datasets.

        Parameters
        ----------
        instance : int
            Its index.

        Returns
        -------
        bytes
        """
        return self._raw.picture(counted("instance", instance))

    def inspect(self) -> Inspection:
        """What is there, and what is wrong with it.

        Returns
        -------
        Inspection
        """
        return Inspection(json.loads(self._raw.inspected(running())))

    def save(self, folder: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write it as a folder that the program opens.

        An interrupt leaves nothing of it.

        Parameters
        ----------
        folder : str or path-like
            The folder, which must not exist.
        overwrite : bool, default=False
            Whether one that exists is replaced.
        """
        self._raw.write(folder, overwrite, running())

    def fit(
        self,
        *,
        split: str | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: Progress = None,
        **settings: Any,
    ) -> Model:
        """Fit a model to the known classes of a trial, as ``bidilel fit`` does.

        Parameters
        ----------
        split : str, optional
            A split, or one trial of a family; the first by default.
        seed : int, default=0
            Seed of everything random.
        n_jobs : int, optional
            Threads; all processors by default.
        progress : bool or callable, optional
            Shows progress, or is told ``stage, done, total``.
        **settings
            Settings of the method by name, as :func:`bidilel.settings` lists them.

        Returns
        -------
        Model
        """
        return Model(self._raw.fit(experiment_settings(settings), split, seed_of(seed, "seed"), running(n_jobs, progress)))
