"""The zero-shot classifier: its parameters, and how it is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from . import _bidilel
from ._columns import plain
from ._fitted import FittedClassifier
from ._inputs import Representation, array_of, check_width, classes_of, descriptions, names_of, native, undescribed
from ._latent import all_or_nothing
from ._model import Model
from ._running import Progress, counted_or_none, running, seed_of
from ._settings import check_representations, post_of, settings_of, to_json


class ZeroShotClassifier(ClassifierMixin, FittedClassifier, BaseEstimator):  # type: ignore[misc]
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
        The classes that compete for an instance: the unseen ones by default, the known ones where there are no others, and
        all after a fit with the setting ``generalized``, which is the same as ``"all"``. A fit for all holds known classes
        out, to choose the bias of calibrated stacking. It may be changed after a fit.
    calibrate : int, optional
        Folds of held-out known classes to which the temperature of :meth:`predict_proba` is fitted. Without it the
        temperature is 1, and probabilities say the order of the classes and little more.
    keep_instances : int, optional
        Training instances per class that the model keeps, so that :meth:`explain` can show similar ones.
    settings : dict, optional
        Any other setting of the program by name, as :func:`bidilel.settings` lists them; the ``best`` of
        :func:`bidilel.tune` is such a dict.
    n_jobs : int, optional
        Threads; all processors by default.
    random_state : int or generator, optional
        Seed of everything random; 0 by default. By default nothing is random.
    progress : bool or callable, optional
        ``True`` shows a bar per stage (by tqdm where it is installed); a function is told ``stage, done, total``.

    Attributes
    ----------
    model_ : Model
        The fitted model, which can be saved for the program. Its classes change with :meth:`add_class` and
        :meth:`remove_class` of the estimator.
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
    >>> model = bidilel.ZeroShotClassifier(dim=50, metric=emoji.metric())
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

    @all_or_nothing
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
            that ``y`` lacks are the unseen ones. Vectors that are Series are joined by the names of their dimensions, and
            distances (``metric="precomputed"``) in a DataFrame by the classes of its rows and columns.
        classes : sequence, optional
            The class of every row of ``semantics``, where that is an array.

        Returns
        -------
        ZeroShotClassifier
            This estimator.
        """
        X, y = validate_data(
            self, plain(X), y, dtype="numeric", ensure_all_finite=False, ensure_min_samples=2, multi_output=False
        )
        settings = self._settings()
        check_width(X, settings["normalize"])
        own, encoded = classes_of(y)
        check_classification_targets(y)
        representations: list[Representation] = []
        if semantics is None:
            if classes is not None:
                raise ValueError("classes names the rows of semantics, which are not given")
            labels = own.tolist()
        else:
            labels, representations = descriptions(semantics, classes, self.metric)
        present = set(own.tolist())
        place = {label: row for row, label in enumerate(labels)}
        missing = [label for label in own.tolist() if label not in place]
        if missing:
            raise ValueError(undescribed(missing[0], labels))
        check_representations(settings, [name for name, *_ in representations])
        known = [label for label in labels if label in present]
        unseen = [label for label in labels if label not in present]
        rows = [place[label] for label in known + unseen]
        position = {label: index for index, label in enumerate(known)}
        codes = np.array([position[label] for label in own.tolist()], dtype=np.int64)[encoded]
        ordered = [
            (name, metric, values[rows][:, rows] if metric == "precomputed" else values[rows], dimensions)
            for name, metric, values, dimensions in representations
        ]
        self._labels, self._known = array_of(known + unseen, own), len(known)
        names = names_of(self._labels.tolist())
        raw = _bidilel.Model.fit(
            native(X),
            codes,
            names[: len(known)],
            names[len(known) :],
            ordered,
            to_json(settings),
            seed=seed_of(self.random_state),
            columns=self.feature_names_in_.tolist() if hasattr(self, "feature_names_in_") else None,
            calibrate=counted_or_none("calibrate", self.calibrate, 1),
            keep_instances=counted_or_none("keep_instances", self.keep_instances, 1),
            running=running(self.n_jobs, self.progress),
        )
        self.model_ = Model(raw)
        self._candidates()
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
        more = settings_of(self.settings)
        # The best settings of a search name the method, too: it takes the place of the default only.
        free = ("bidilel", more.get("method"))
        twice = [name for name in more if given.get(name) is not None and (name != "method" or self.method not in free)]
        if twice:
            raise ValueError(f"{twice[0]} is given twice: as a parameter and in settings")
        return {**given, **more}
