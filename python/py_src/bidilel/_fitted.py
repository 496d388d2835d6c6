"""What a classifier does once it is fitted: recognize, explain, take and lose classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from . import _bidilel
from ._findings import Explanation
from ._inputs import array_of, names_of
from ._latent import LatentTransformer
from ._model import Model
from ._running import Progress, running

if TYPE_CHECKING:
    from typing_extensions import Self


class FittedClassifier(LatentTransformer):
    """The part of :class:`bidilel.ZeroShotClassifier` that needs a fit."""

    #: Parameters that matter after a fit, too.
    candidates: str | None
    n_jobs: int | None
    progress: Progress

    #: All classes in the order of the model, and how many of them are known: they come first.
    _labels: NDArray[Any]
    _known: int

    def _fit(self) -> _bidilel.Model:
        """The compiled model. Its answers are numbers of classes, which only mean something where these are the labels."""
        check_is_fitted(self, "model_")
        model = self.model_
        if model._labels is not self._labels:
            if (model.known + model.unseen, len(model.known)) != (names_of(self._labels.tolist()), self._known):
                raise ValueError(
                    "the classes of model_ are no longer those of this estimator: use add_class and remove_class of the "
                    "estimator, not those of its model_, or use the model by itself"
                )
            model._labels = self._labels
        return model._raw

    def _candidates(self) -> str:
        raw = self._fit()
        if self.candidates not in (None, "unseen", "known", "all"):
            raise ValueError(f"candidates must be one of unseen, known, all, found {self.candidates}")
        if self._known == len(self._labels):
            if self.candidates == "unseen":
                raise ValueError("candidates must be known or all where no class is unseen, found unseen")
            return "known"
        return self.candidates or raw.candidates

    def _columns(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The candidate classes, sorted where they can be, and the column of each among the model's scores."""
        candidates = self._candidates()
        known, unseen = self._labels[: self._known], self._labels[self._known :]
        classes = {"known": known, "unseen": unseen, "all": self._labels}[candidates]
        try:
            order = np.argsort(classes, kind="stable")
        except TypeError:
            order = np.arange(len(classes))
        return classes[order], order

    @property
    def classes_(self) -> NDArray[Any]:
        return self._columns()[0]

    @property
    def known_classes_(self) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        return self._labels[: self._known]

    @property
    def unseen_classes_(self) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        return self._labels[self._known :]

    @property
    def class_embedding_(self) -> NDArray[np.float64]:
        candidates = self._candidates()
        return self.model_._raw.class_points(candidates)[self._columns()[1]]

    @property
    def stress_(self) -> float | None:
        check_is_fitted(self, "model_")
        found = self.model_._raw.stress()
        return None if found is None else found[0]

    @property
    def temperature_(self) -> float:
        check_is_fitted(self, "model_")
        return self.model_._raw.temperature or 1.0

    def _scores(self, X: Any) -> NDArray[np.float64]:
        X = self._validated(X)
        scores = self.model_._raw.scores(X, self._candidates(), running(self.n_jobs, self.progress))
        return scores[:, self._columns()[1]]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of every row, by itself: without refiners.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._validated(X)
        candidates = self._candidates()
        indices, _ = self.model_._raw.predict(X, candidates, running(self.n_jobs, self.progress))
        first = self._known if candidates == "unseen" else 0
        return self._labels[first + indices]

    def refine(self, X: Any) -> NDArray[Any]:
        """The class of every row after the refiners of ``post``, which look at all rows together.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All test instances.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._validated(X)
        if self._candidates() != self.model_._raw.candidates:
            raise ValueError(
                f"the model was fitted for candidates `{self.model_._raw.candidates}`: refiners need a fit for those that "
                f"compete, found `{self._candidates()}`"
            )
        scores = self.model_._raw.refined(X, running(self.n_jobs, self.progress))
        first = self._known if self._candidates() == "unseen" else 0
        labels: NDArray[Any] = self._labels[first + scores.argmax(axis=1)]
        return labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores of the candidates, minus distances for methods that measure these.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Of two classes: the score of the second minus that of the first.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the candidates: the softmax of their scores at ``temperature_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X) / self.temperature_
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Coordinates in the latent space, of unit norm.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.

        Returns
        -------
        ndarray of shape (n_samples, n_latent)
        """
        X = self._validated(X)
        return self.model_._raw.project(X, True, running(self.n_jobs, self.progress))

    def explain(
        self, X: Any, *, top: int = 3, nearest: int = 3, attributes: int = 5, instances: int = 3
    ) -> list[Explanation]:
        """Why rows are taken for what they are taken for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.
        top, nearest, attributes, instances : int
            How many candidates, nearest classes, attributes and similar training instances to show.

        Returns
        -------
        list of Explanation
            One per row.
        """
        found = self.model_.explain(
            self._validated(X),
            candidates=self._candidates(),
            top=top,
            nearest=nearest,
            attributes=attributes,
            instances=instances,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )
        labels = self._labels.tolist()
        return [one._with_labels(dict(zip(names_of(labels), labels))) for one in found]

    def add_class(self, label: Any, semantics: ArrayLike | Mapping[str, ArrayLike]) -> Self:
        """Embed one more unseen class without another fit.

        Parameters
        ----------
        label : str or int
            The class.
        semantics : array-like, or dict of these by representation
            Its description: its distances to all classes, known ones first, where these were given. A Series is joined
            by the names of its dimensions, or of the classes.

        Returns
        -------
        self
            This estimator.
        """
        raw, labels = self._fit(), array_of([*self._labels.tolist(), label], self._labels)
        # Another model: copies of this estimator keep theirs.
        self.model_, self._labels = Model(raw).add_class(str(labels.tolist()[-1]), semantics), labels
        return self

    def remove_class(self, label: Any) -> Self:
        """Remove a class; everything else stays as it is.

        Parameters
        ----------
        label : str or int
            The class.

        Returns
        -------
        self
            This estimator.
        """
        name, names = str(array_of([label], self._labels).tolist()[0]), names_of(self._labels.tolist())
        # Another model: copies of this estimator keep theirs.
        self.model_ = Model(self._fit()).remove_class(name)
        index = names.index(name)
        self._labels, self._known = np.delete(self._labels, index), self._known - (index < self._known)
        return self
