"""Sammon mappings: of all points, and of new points among landmarks."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _bidilel
from ._columns import plain
from ._latent import all_or_nothing
from ._running import Progress, running, seed_of


def _check_dim(n_components: Any) -> int:
    if not isinstance(n_components, numbers.Integral) or n_components < 1:
        raise ValueError(f"n_components must be at least 1, found {n_components!r}")
    return int(n_components)


def _check_distances(distances: NDArray[Any], what: str) -> NDArray[np.float64]:
    wrong = ~np.isfinite(distances) | (distances < 0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(f"{what}: row {row}, column {column} is {distances[row, column]}, which is no distance")
    return np.require(distances, np.float64, ["C", "A"])


def _square(X: NDArray[Any], metric: str) -> NDArray[np.float64]:
    """Distances between all rows."""
    if metric != "precomputed":
        distances = pairwise_distances(X, metric=metric)
        np.fill_diagonal(distances, 0.0)
        return _check_distances(distances, "the distances")
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"precomputed distances: expected a square matrix, found {X.shape[0]} x {X.shape[1]}")
    distances = _check_distances(X, "the distances")
    if not np.allclose(distances, distances.T):
        raise ValueError("precomputed distances: the matrix is not symmetric")
    # Of computed distances some are not quite zero; similarities are one.
    if (np.diagonal(distances) > 1e-6 * distances.max()).any():
        raise ValueError("precomputed distances: the diagonal is not zero, which it is of distances and not of similarities")
    return distances


class Sammon(BaseEstimator):  # type: ignore[misc]
    r"""Sammon mapping: points of few dimensions whose distances follow given ones.

    Minimizes :math:`E = \frac{1}{\sum_{i<j} \delta_{ij}} \sum_{i<j} (\delta_{ij} - d_{ij})^2 / \delta_{ij}`, which weighs
    near pairs more than metric scaling does, by L-BFGS from classical scaling.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    metric : str, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`, or ``"precomputed"`` where ``X`` holds the distances.
    n_jobs : int, optional
        Threads; all processors by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points, their mean at the origin.
    stress_ : float
        The cost that is left: 0 for distances of so many dimensions.
    n_features_in_ : int
        Features of an instance.

    References
    ----------
    J. Sammon, *A nonlinear mapping for data structure analysis*, 1969.

    Examples
    --------
    >>> import numpy as np
    >>> from bidilel import Sammon
    >>> corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> mapping = Sammon(n_components=2).fit(corners)
    >>> mapping.embedding_.shape, bool(mapping.stress_ < 1e-9)
    ((4, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str = "euclidean",
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.n_jobs = n_jobs
        self.progress = progress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike | None = None) -> Sammon:
        """Map all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of distances
            Rows, or distances between them.
        y : None
            Ignored.

        Returns
        -------
        Sammon
            This estimator.
        """
        X = validate_data(self, plain(X), dtype=[np.float64, np.float32], ensure_min_samples=2)
        distances = _square(X, self.metric)
        self.embedding_, self.stress_ = _bidilel.sammon(
            distances, _check_dim(self.n_components), running(self.n_jobs, self.progress)
        )
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> NDArray[np.float64]:
        """Map all rows and return the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) of distances
            Rows, or distances between them.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        return self.fit(X).embedding_


class LandmarkSammon(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Landmark-based Sammon mapping: new points among landmarks that stay where they are.

    A fit maps the landmarks by :class:`Sammon`, or takes the points that are given for them. A new point is placed so
    that its distances to the landmarks, and with ``joint`` those to the other new points, follow the given ones. With the
    descriptions of known classes and their points in a latent space as landmarks, and ``joint=True``, this is how
    :class:`ZeroShotClassifier` embeds unseen classes.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map, where no points are given.
    metric : str, default="euclidean"
        Any metric of :func:`sklearn.metrics.pairwise_distances`.
    joint : bool, default=False
        Whether new points are placed together, which then depend on each other, or each by itself.
    n_landmarks : int, optional
        How many rows become landmarks, drawn at random; all by default.
    n_jobs : int, optional
        Threads; all processors by default.
    random_state : int or generator, optional
        Seed of the draw of landmarks; 0 by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Attributes
    ----------
    landmark_indices_ : ndarray of int
        Rows that are landmarks.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Their features.
    landmark_points_ : ndarray of shape (n_landmarks, n_components)
        Their points.
    stress_ : float or None
        The cost of the landmarks' own map; none where their points were given.
    n_features_in_ : int
        Features of an instance.

    References
    ----------
    Q. Wang and K. Chen, *Zero-shot visual recognition via bidirectional latent embedding*, 2017, equation 7.

    Examples
    --------
    >>> import numpy as np
    >>> from bidilel import LandmarkSammon
    >>> landmarks = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> mapping = LandmarkSammon().fit(landmarks, points=landmarks)
    >>> bool(np.allclose(mapping.transform([[0.25, 0.5]]), [[0.25, 0.5]], atol=1e-4))
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str = "euclidean",
        joint: bool = False,
        n_landmarks: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        progress: Progress = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.joint = joint
        self.n_landmarks = n_landmarks
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike | None = None, points: ArrayLike | None = None) -> LandmarkSammon:
        """Map the landmarks, or take their points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, all or some of which become landmarks.
        y : None
            Ignored.
        points : array-like of shape (n_samples, n_components), optional
            Where the rows are in the map.

        Returns
        -------
        LandmarkSammon
            This estimator.
        """
        X = validate_data(self, plain(X), dtype=[np.float64, np.float32], ensure_min_samples=2)
        if self.metric == "precomputed":
            raise ValueError("metric must be one between rows, found precomputed: new rows need distances, too")
        dim, count = _check_dim(self.n_components), len(X)
        if self.n_landmarks is None:
            indices = np.arange(count)
        elif isinstance(self.n_landmarks, numbers.Integral) and 2 <= self.n_landmarks <= count:
            drawn = np.random.default_rng(seed_of(self.random_state)).choice(count, self.n_landmarks, replace=False)
            indices = np.sort(drawn)
        else:
            raise ValueError(f"n_landmarks must be between 2 and the {count} rows, found {self.n_landmarks!r}")
        self.landmark_indices_, self.landmarks_ = indices, X[indices]
        self.stress_: float | None
        if points is None:
            distances = _square(self.landmarks_, self.metric)
            found = _bidilel.sammon(distances, dim, running(self.n_jobs, self.progress))
            self.landmark_points_, self.stress_ = found
        else:
            given = np.asarray(points, dtype=np.float64)
            if given.ndim != 2 or len(given) != count or not np.isfinite(given).all():
                raise ValueError(f"points: expected {count} finite rows, found shape {given.shape}")
            self.landmark_points_, self.stress_ = np.ascontiguousarray(given[indices]), None
        return self

    @property
    def _n_features_out(self) -> int:
        return int(self.landmark_points_.shape[1])

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Place new rows among the landmarks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "landmark_points_")
        X = validate_data(self, plain(X), dtype=[np.float64, np.float32], reset=False)
        outer = _check_distances(pairwise_distances(X, self.landmarks_, metric=self.metric), "the distances")
        inner = _square(X, self.metric) if self.joint else None
        found, _ = _bidilel.landmark_sammon(
            self.landmark_points_, outer, inner, seed=None, running=running(self.n_jobs, self.progress)
        )
        return found
