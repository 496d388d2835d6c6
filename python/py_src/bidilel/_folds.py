"""Cross-validation over classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _bidilel
from ._inputs import classes_of
from ._running import counted, seed_of


class ClassFolds:
    """Folds in which some of the classes act as unseen ones.

    A fold trains on the instances of most classes and tests on those of the others, which it holds out: what
    ``bidilel tune`` does, by the same draw. Give it to :class:`sklearn.model_selection.GridSearchCV` as ``cv``, and the
    descriptions of the known classes as ``semantics``: those of the held-out classes are needed, those of the classes
    that are really unseen would only compete.

    Such a search refits to those descriptions, so that its ``best_estimator_`` knows no unseen class. Leave that fit out
    and fit with all descriptions::

        search = GridSearchCV(ZeroShotClassifier(), grid, cv=ClassFolds(), refit=False)
        search.fit(X, y, semantics=known)
        model = ZeroShotClassifier(**search.best_params_).fit(X, y, semantics=everything)

    Parameters
    ----------
    n_splits : int, default=5
        How many folds.
    holdout : float, default=0.2
        Share of the classes that a fold holds out; at least two are held out, and two are left.
    random_state : int or generator, optional
        Seed of the draw; 0 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from bidilel import ClassFolds
    >>> y = np.repeat(["cat", "dog", "fox", "hen", "owl"], 3)
    >>> for train, test in ClassFolds(n_splits=2, holdout=0.4).split(y, y):
    ...     print(len(set(y[train])), len(set(y[test])), set(y[train]) & set(y[test]))
    3 2 set()
    3 2 set()
    """

    def __init__(self, n_splits: int = 5, *, holdout: float = 0.2, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.holdout = holdout
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are.

        Parameters
        ----------
        X, y, groups
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits

    def split(
        self, X: Any, y: ArrayLike, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The instances of each fold, to train on and to test on.

        Parameters
        ----------
        X : array-like
            Ignored.
        y : array-like of shape (n_samples,)
            The class of every instance.
        groups : None
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Indices of instances.
        """
        if y is None:
            raise ValueError("folds of classes need y, the class of every instance")
        classes, codes = classes_of(y)
        count, seed = counted("n_splits", self.n_splits, 1), seed_of(self.random_state)
        for held_out in _bidilel.class_folds(len(classes), self.holdout, count, seed):
            out = np.isin(codes, held_out)
            yield np.flatnonzero(~out), np.flatnonzero(out)

    def __repr__(self) -> str:
        return f"ClassFolds(n_splits={self.n_splits}, holdout={self.holdout}, random_state={self.random_state})"
