"""Fitted models: the files of the program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _bidilel
from ._findings import Explanation
from ._columns import column_names, plain, selected
from ._inputs import by_name, features, index_of, refuse_sparse
from ._running import Progress, running


class Model:
    """A fitted model, as ``bidilel fit`` writes it and ``bidilel predict`` reads it.

    Make one with :meth:`load`, with :meth:`bidilel.Dataset.fit`, or take the ``model_`` of a fitted
    :class:`bidilel.ZeroShotClassifier`.

    Attributes
    ----------
    known, unseen : list of str
        Names of the classes that had labeled instances, and of those that are only described.
    n_features : int
        How many features an instance has.
    columns : list of str or None
        Names of the features, where the model was fitted to columns that have some.
    method : str
        The name of the method.
    header : dict
        All that the file says about the model.

    Examples
    --------
    >>> import bidilel
    >>> emoji = bidilel.emoji()
    >>> model = emoji.fit()
    >>> trial = emoji.trials()[0]
    >>> model.predict(emoji.features(instances=trial.test[:2])).shape
    (2,)
    """

    def __init__(self, raw: _bidilel.Model) -> None:
        self._raw = raw
        #: The labels of an estimator that were found to be those of these classes.
        self._labels: NDArray[Any] | None = None

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Model:
        """Read a model file.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        Model
        """
        return cls(_bidilel.Model.load(path, running()))

    @classmethod
    def from_bytes(cls, bytes: bytes) -> Model:
        """Read the bytes of a model file.

        Parameters
        ----------
        bytes : bytes
            What :meth:`to_bytes` returns.

        Returns
        -------
        Model
        """
        return cls(_bidilel.Model.from_bytes(bytes, running()))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model file, whole or not at all; an interrupt leaves what was there.

        Parameters
        ----------
        path : str or path-like
            The file; one that exists is replaced.
        """
        self._raw.save(path, running())

    def to_bytes(self) -> bytes:
        """The bytes of the model file.

        Returns
        -------
        bytes
        """
        return self._raw.to_bytes(running())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Model.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return (
            f"Model({self.method}, {len(self.known)} known and {len(self.unseen)} unseen classes, "
            f"{self.n_features} features)"
        )

    @property
    def known(self) -> list[str]:
        return self._raw.known

    @property
    def unseen(self) -> list[str]:
        return self._raw.unseen

    @property
    def n_features(self) -> int:
        return self._raw.features

    @property
    def method(self) -> str:
        return self._raw.method

    @property
    def columns(self) -> list[str] | None:
        views = [view.get("columns") for view in self.header["visual"]]
        return None if None in views else [name for view in views for name in view]

    @property
    def header(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._raw.header())
        return found

    def classes(self, candidates: str | None = None) -> list[str]:
        """Names of candidate classes, in the order of their scores.

        Parameters
        ----------
        candidates : {"unseen", "known", "all"}, optional
            Which; those of the model by default.

        Returns
        -------
        list of str
        """
        if candidates not in (None, "unseen", "known", "all"):
            raise ValueError(f"candidates must be one of unseen, known, all, found {candidates}")
        candidates = candidates or self._raw.candidates
        return (self.known if candidates != "unseen" else []) + (self.unseen if candidates != "known" else [])

    def predict(
        self, X: Any, *, candidates: str | None = None, n_jobs: int | None = None, progress: Progress = None
    ) -> NDArray[Any]:
        """The best class of every row, without refiners.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows, raw as they were for the fit.
        candidates : {"unseen", "known", "all"}, optional
            The classes that compete: the unseen ones by default, or all for a model that was fitted so.
        n_jobs : int, optional
            Threads; all processors by default.
        progress : bool or callable, optional
            Shows progress, or is told ``stage, done, total``.

        Returns
        -------
        ndarray of str of shape (n_samples,)
        """
        indices, _ = self._raw.predict(self._rows(X), candidates, running(n_jobs, progress))
        return np.asarray(self.classes(candidates))[indices]

    def scores(
        self, X: Any, *, candidates: str | None = None, n_jobs: int | None = None, progress: Progress = None
    ) -> NDArray[np.float64]:
        """Scores of the candidates, minus distances for methods that measure these.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.
        candidates : {"unseen", "known", "all"}, optional
            As in :meth:`predict`.
        n_jobs, progress
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of :meth:`classes`.
        """
        return self._raw.scores(self._rows(X), candidates, running(n_jobs, progress))

    def refine(self, X: Any, *, n_jobs: int | None = None, progress: Progress = None) -> NDArray[Any]:
        """The best class of every row after the refiners of the fit, which look at all rows together.

        ``bidilel predict`` gives these; without refiners they are those of :meth:`predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All test instances.
        n_jobs, progress
            As in :meth:`predict`.

        Returns
        -------
        ndarray of str of shape (n_samples,)
        """
        scores = self._raw.refined(self._rows(X), running(n_jobs, progress))
        labels: NDArray[Any] = np.asarray(self.classes())[scores.argmax(axis=1)]
        return labels

    def transform(self, X: Any, *, n_jobs: int | None = None, progress: Progress = None) -> NDArray[np.float64]:
        """Coordinates in the latent space, of unit norm.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.
        n_jobs, progress
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_latent)
        """
        return self._raw.project(self._rows(X), True, running(n_jobs, progress))

    def explain(
        self,
        X: Any,
        *,
        candidates: str | None = None,
        top: int = 3,
        nearest: int = 3,
        attributes: int = 5,
        instances: int = 3,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> list[Explanation]:
        """Why rows are taken for what they are taken for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.
        candidates : {"unseen", "known", "all"}, optional
            As in :meth:`predict`.
        top, nearest, attributes, instances : int
            How many candidates, nearest classes, attributes and similar training instances to show.
        n_jobs, progress
            As in :meth:`predict`.

        Returns
        -------
        list of Explanation
            One per row.
        """
        extent = (top, nearest, attributes, instances)
        rows = self._rows(X)
        return [Explanation(one) for one in json.loads(self._raw.explain(rows, candidates, extent, running(n_jobs, progress)))]

    def add_class(self, name: str, semantics: ArrayLike | Mapping[str, ArrayLike]) -> Model:
        """Embed one more unseen class without another fit.

        Parameters
        ----------
        name : str
            Its name.
        semantics : array-like, or dict of these by representation
            Its description: its distances to all classes, known ones first, where these were given. A Series is joined
            by the names of its dimensions, or of the classes.

        Returns
        -------
        Model
            This model, changed.
        """
        self._raw, self._labels = self._raw.with_class(name, self._vectors(semantics), running()), None
        return self

    def remove_class(self, name: str) -> Model:
        """Remove a class; everything else stays as it is.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        Model
            This model, changed.
        """
        self._raw, self._labels = self._raw.without_classes([name], running()), None
        return self

    def _rows(self, X: Any) -> NDArray[Any]:
        """Rows as the compiled half takes them; of a table the columns that the model was fitted to, by their names."""
        X = plain(X)
        if column_names(X) is not None:
            X = selected(X, self.columns)
        return features(X, self.n_features)

    def _vectors(self, semantics: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, list[float]]:
        if not isinstance(semantics, Mapping):
            names = [name for name, _ in self._raw.semantics]
            if len(names) > 1:
                raise ValueError(f"the model has several semantic representations: give a dict by {', '.join(names)}")
            semantics = dict.fromkeys(names, semantics)
        return {str(name): self._vector(str(name), vector) for name, vector in semantics.items()}

    def _vector(self, name: str, vector: ArrayLike) -> list[float]:
        """The numbers of a description, in the order of the model's dimensions where both name these."""
        refuse_sparse(vector, f"`{name}`")
        if index_of(vector) is not None:
            found = {one["name"]: one for one in self.header["semantic"]}.get(name, {})
            own = self.classes("all") if found.get("metric") == "precomputed" else found.get("names")
            if own is not None:
                vector = by_name(vector, own, f"`{name}`")
        numbers: list[float] = np.ravel(np.asarray(vector, dtype=float)).tolist()
        return numbers
