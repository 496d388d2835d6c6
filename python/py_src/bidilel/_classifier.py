"""The zero-shot classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _bidilel
from ._inputs import Representation, array_of, check_width, descriptions, names_of, native, plain
from ._model import Model
from ._results import Explanation
from ._running import Progress, running, seed_of
from ._settings import post_of, to_json


class ZeroShotClassifier(
    ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator  # type: ignore[misc]
):
    """Recognizes classes that have no labeled instance, by their descriptions.

    The latent space is learned from the labeled instances of the known classes (bottom-up, SLPP by default). Classes that
    ``y`` lacks are embedded in it so that latent distances follow semantic ones (top-down, landmark-based Sammon mapping
    by default). An instance gets the class whose embedding is nearest. Any method that ``bidilel compare`` knows can
    take the place of the paper's.

    Without ``semantics``, or where all classes have instances, the known classes are told apart by their landmarks.

    Parameters
    ----------
    method : str, default="bidilel"
        The paper's method, ``"best"`` for a pipeline of it that does well on several datasets, or a compared method such
        as ``"eszsl"``; :func:`bidilel.methods` lists all. Transductive ones need their test instances and are for
        :func:`bidilel.evaluate` and :func:`bidilel.compare`.
    bottom_up : str, optional
        How the latent space is learned: ``"slpp"`` (default), ``"lpp"``, ``"pca"``, ``"lda"``, ``"cca"``, ``"cca+lda"``,
        ``"sje"``, ``"latem"`` or ``"none"``.
    top_down : str, optional
        How unseen classes are embedded: ``"lsm"`` (default), ``"svr"``, ``"lsm+svr"``, ``"krr"`` or ``"lsm+krr"``.
    alpha : float, optional
        Weight of the regularizer of SLPP and LPP; 10 by default.
    dim : int, optional
        Latent dimensions; up to 100 by default.
    neighbors : int, optional
        Neighbors of an instance in the graph; 10 by default.
    weights : {"exp", "heat", "binary"}, optional
        Weights of edges; ``"exp"`` by default.
    normalize : {"l2", "power", "none"}, optional
        Normalization of every instance; ``"l2"`` by default.
    post : str or list of str, optional
        Refiners for :meth:`refine`: ``"self-training"``, ``"structured"``, ``"balanced"``, ``"propagation"``,
        hubness remedies.
    self_training_neighbors : int, optional
        Instances that self-training moves a class to.
    metric : {"euclidean", "cosine", "precomputed"} or dict, default="euclidean"
        Distance of semantic vectors: Euclidean between unit vectors, one minus the cosine, or ``semantics`` that are
        distances. A dict gives one per representation.
    gamma : float, optional
        Weight of the second of two semantic representations.
    candidates : {"unseen", "known", "all"}, optional
        The classes that compete for an instance: the unseen ones by default, the known ones where there are no others.
        A fit for all holds known classes out, to choose the bias of calibrated stacking. It may be changed after a fit.
    calibrate : int, optional
        Folds of held-out known classes to which the temperature of :meth:`predict_proba` is fitted. Without it the
        temperature is 1, and probabilities say the order of the classes and little more.
    keep_instances : int, optional
        Training instances per class that the model keeps, so that :meth:`explain` can show similar ones.
    settings : dict, optional
        Any other setting of the program by name, as :func:`bidilel.settings` lists them.
    n_jobs : int, optional
        Threads; all processors by default.
    random_state : int or generator, optional
        Seed of everything random; 0 by default. By default nothing is random.
    progress : bool or callable, optional
        ``True`` shows a bar per stage (by tqdm where it is installed); a function is told ``stage, done, total``.

    Attributes
    ----------
    model_ : Model
        The fitted model, which can be saved for the program.
    classes_ : ndarray
        The candidate classes, sorted: the columns of scores and probabilities.
    known_classes_, unseen_classes_ : ndarray
        The classes with and without labeled instances.
    class_embedding_ : ndarray of shape (n_classes, n_latent)
        Points of ``classes_`` in the latent space, for methods that have one.
    stress_ : float
        Cost of the mapping at the embedding of the unseen classes.
    temperature_ : float
        Temperature of probabilities.
    n_features_in_ : int
        Features of an instance.
    feature_names_in_ : ndarray of str
        Their names, where ``X`` has such.

    References
    ----------
    Q. Wang and K. Chen, *Zero-shot visual recognition via bidirectional latent embedding*, 2017.

    Examples
    --------
    >>> import bidilel
    >>> emoji = bidilel.emoji()
    >>> trial = emoji.trials()[0]
    >>> names = emoji.classes
    >>> X, y = emoji.features(), emoji.class_names()
    >>> model = bidilel.ZeroShotClassifier(dim=50)
    >>> model = model.fit(X[trial.train], y[trial.train], semantics=emoji.semantics())
    >>> bool(model.score(X[trial.test], y[trial.test]) > 0.3)
    True
    >>> len(model.unseen_classes_) == len(trial.unseen)
    True
    """

    def __init__(
        self,
        method: str = "bidilel",
        *,
        bottom_up: str | None = None,
        top_down: str | None = None,
        alpha: float | None = None,
        dim: int | None = None,
        neighbors: int | None = None,
        weights: str | None = None,
        normalize: str | None = None,
        post: str | Sequence[str] | None = None,
        self_training_neighbors: int | None = None,
        metric: str | Mapping[str, str] = "euclidean",
        gamma: float | None = None,
        candidates: str | None = None,
        calibrate: int | None = None,
        keep_instances: int | None = None,
        settings: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: Progress = None,
    ) -> None:
        self.method = method
        self.bottom_up = bottom_up
        self.top_down = top_down
        self.alpha = alpha
        self.dim = dim
        self.neighbors = neighbors
        self.weights = weights
        self.normalize = normalize
        self.post = post
        self.self_training_neighbors = self_training_neighbors
        self.metric = metric
        self.gamma = gamma
        self.candidates = candidates
        self.calibrate = calibrate
        self.keep_instances = keep_instances
        self.settings = settings
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def fit(
        self, X: Any, y: ArrayLike, semantics: Any = None, classes: Sequence[Any] | None = None
    ) -> ZeroShotClassifier:
        """Learn from labeled instances of the known classes and descriptions of all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows. Contiguous ``float32`` is read where it is; other types are converted row by row.
        y : array-like of shape (n_samples,)
            The class of every row.
        semantics : dict, DataFrame or array, optional
            Descriptions of all classes, known and unseen: a vector per class in a dict or in the rows of a DataFrame, or
            an array with ``classes``. A dict of such dicts or DataFrames gives several representations by name. Classes
            that ``y`` lacks are the unseen ones.
        classes : sequence, optional
            The class of every row of ``semantics``, where that is an array.

        Returns
        -------
        ZeroShotClassifier
            This estimator.
        """
        columns = _column_names(X)
        X, y = validate_data(
            self, plain(X), y, dtype="numeric", ensure_all_finite=False, ensure_min_samples=2, multi_output=False
        )
        check_classification_targets(y)
        check_width(X, (self.settings or {}).get("normalize", self.normalize))
        own, encoded = np.unique(np.asarray(y), return_inverse=True)
        representations: list[Representation] = []
        if semantics is None:
            if classes is not None:
                raise ValueError("classes names the rows of semantics, which are not given")
            labels = own.tolist()
        else:
            labels, representations = descriptions(semantics, classes, self.metric)
        present = set(own.tolist())
        missing = [label for label in own.tolist() if label not in set(labels)]
        if missing:
            raise ValueError(f"class `{missing[0]}` has instances, but no description in semantics")
        known = [label for label in labels if label in present]
        unseen = [label for label in labels if label not in present]
        rows = [labels.index(label) for label in known + unseen]
        position = {label: index for index, label in enumerate(known)}
        codes = np.array([position[label] for label in own.tolist()], dtype=np.int64)[encoded]
        ordered = [
            (name, metric, values[rows][:, rows] if metric == "precomputed" else values[rows], dimensions)
            for name, metric, values, dimensions in representations
        ]
        self._labels = array_of(known + unseen, own)
        self._known = len(known)
        raw = _bidilel.Model.fit(
            native(X),
            codes,
            names_of(known),
            names_of(known + unseen)[len(known) :],
            ordered,
            to_json(self._settings()),
            seed=seed_of(self.random_state),
            columns=columns,
            calibrate=self.calibrate,
            keep_instances=self.keep_instances,
            running=running(self.n_jobs, self.progress),
        )
        self.model_ = Model(raw)
        return self

    def _settings(self) -> dict[str, Any]:
        if self.candidates not in (None, "unseen", "known", "all"):
            raise ValueError(f"candidates must be one of unseen, known, all, found {self.candidates}")
        given = {
            "method": self.method,
            "bottom_up": self.bottom_up,
            "top_down": self.top_down,
            "alpha": self.alpha,
            "dim": self.dim,
            "neighbors": self.neighbors,
            "weights": self.weights,
            "normalize": self.normalize,
            "post": post_of(self.post),
            "self_training_neighbors": self.self_training_neighbors,
            "gamma": self.gamma,
            "generalized": True if self.candidates == "all" else None,
        }
        more = dict(self.settings or {})
        twice = [name for name in more if given.get(name) is not None and name != "method"]
        if twice:
            raise ValueError(f"{twice[0]} is given twice: as a parameter and in settings")
        return {**given, **more}

    def _candidates(self) -> str:
        check_is_fitted(self, "model_")
        if self._known == len(self._labels):
            return "known"
        return self.candidates or "unseen"

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
        if not hasattr(self, "model_"):
            raise AttributeError("classes_: this estimator is not fitted")
        return self._columns()[0]

    @property
    def known_classes_(self) -> NDArray[Any]:
        return self._labels[: self._known]

    @property
    def unseen_classes_(self) -> NDArray[Any]:
        return self._labels[self._known :]

    @property
    def class_embedding_(self) -> NDArray[np.float64]:
        return self.model_._raw.class_points(self._candidates())[self._columns()[1]]

    @property
    def stress_(self) -> float | None:
        found = self.model_._raw.stress()
        return None if found is None else found[0]

    @property
    def temperature_(self) -> float:
        return self.model_._raw.temperature or 1.0

    @property
    def _n_features_out(self) -> int:
        return int(self.model_._raw.class_points("known").shape[1])

    def _validated(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self, "model_")
        return native(validate_data(self, plain(X), dtype="numeric", ensure_all_finite=False, reset=False))

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
        return self.model_.explain(
            self._validated(X),
            candidates=self._candidates(),
            top=top,
            nearest=nearest,
            attributes=attributes,
            instances=instances,
            n_jobs=self.n_jobs,
        )

    def add_class(self, label: Any, semantics: ArrayLike | Mapping[str, ArrayLike]) -> ZeroShotClassifier:
        """Embed one more unseen class without another fit.

        Parameters
        ----------
        label : str or int
            The class.
        semantics : array-like, or dict of these by representation
            Its description.

        Returns
        -------
        ZeroShotClassifier
            This estimator.
        """
        check_is_fitted(self, "model_")
        self.model_.add_class(str(label), semantics)
        self._labels = array_of([*self._labels.tolist(), label], self._labels)
        return self

    def remove_class(self, label: Any) -> ZeroShotClassifier:
        """Remove a class; everything else stays as it is.

        Parameters
        ----------
        label : str or int
            The class.

        Returns
        -------
        ZeroShotClassifier
            This estimator.
        """
        check_is_fitted(self, "model_")
        labels = self._labels.tolist()
        self.model_.remove_class(str(label))
        index = [str(one) for one in labels].index(str(label))
        self._labels = np.delete(self._labels, index)
        self._known -= index < self._known
        return self


def _column_names(X: Any) -> list[str] | None:
    """Names of the columns of a table, as a model file keeps them."""
    columns = getattr(X, "columns", None)
    if columns is None or type(X).__module__.partition(".")[0] not in ("pandas", "polars"):
        return None
    names = list(columns)
    return names if all(isinstance(name, str) for name in names) else None
