"""Locality preserving projections, supervised and not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _bidilel
from ._columns import plain
from ._inputs import check_width, classes_of, names_of, native
from ._latent import LatentTransformer, all_or_nothing
from ._model import Model
from ._running import Progress, running
from ._settings import to_json


class _Projection(LatentTransformer, BaseEstimator):  # type: ignore[misc]
    """What both have in common: the parameters, and the map."""

    _bottom_up = ""

    def __init__(
        self,
        dim: int | None = None,
        *,
        alpha: float = 10.0,
        neighbors: int = 10,
        weights: str = "exp",
        normalize: str = "l2",
        search: str = "exact",
        unit_norm: bool = False,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        self.dim = dim
        self.alpha = alpha
        self.neighbors = neighbors
        self.weights = weights
        self.normalize = normalize
        self.search = search
        self.unit_norm = unit_norm
        self.n_jobs = n_jobs
        self.progress = progress

    def _learn(self, X: NDArray[Any], codes: NDArray[np.int64], names: list[str]) -> None:
        check_width(X, self.normalize)
        settings = {
            "bottom_up": self._bottom_up,
            "dim": self.dim,
            "alpha": self.alpha,
            "neighbors": self.neighbors,
            "weights": self.weights,
            "normalize": self.normalize,
            "search": self.search if self.search != "exact" else None,
        }
        settings.update(self._more())
        raw = _bidilel.Model.fit(
            native(X),
            codes,
            names,
            [],
            [],
            to_json(settings),
            seed=0,
            columns=None,
            calibrate=None,
            keep_instances=None,
            running=running(self.n_jobs, self.progress),
        )
        self.model_ = Model(raw)

    def _more(self) -> dict[str, Any]:
        return {}

    @property
    def components_(self) -> NDArray[np.float64]:
        return self._map()[0]

    @property
    def mean_(self) -> NDArray[np.float64]:
        return self._map()[1]

    def _map(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        check_is_fitted(self, "model_")
        found = self.model_._raw.components()
        assert found is not None, "both learners find linear maps"
        return found

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Project rows into the latent space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.

        Returns
        -------
        ndarray of shape (n_samples, n_latent)
            Centered on the mean of the training instances; of unit norm with ``unit_norm``.
        """
        X = self._validated(X)
        return self.model_._raw.project(X, self.unit_norm, running(self.n_jobs, self.progress))


class SLPP(_Projection):
    r"""Supervised locality preserving projection.

    Over a graph :math:`W` of near neighbors of one class, with degrees :math:`D` and Laplacian :math:`L`, the leading
    eigenvectors of :math:`X D X^\top p = \lambda (X L X^\top + \alpha I) p` keep instances of one class together.

    Parameters
    ----------
    dim : int, optional
        Latent dimensions; up to 100 by default.
    alpha : float, default=10.0
        Weight of the regularizer.
    neighbors : int, default=10
        Neighbors of an instance in the graph.
    weights : {"exp", "heat", "binary"}, default="exp"
        Weights of edges: ``exp(-d/2)``, scaled to the data, or 1.
    neighborhood : {"global", "within-class"}, default="global"
        Whether neighbors are searched for among all instances, of which those of one class are joined, or within classes.
    normalize : {"l2", "power", "none"}, default="l2"
        Normalization of every instance before all else.
    search : {"exact", "approximate"}, default="exact"
        How neighbors are searched for.
    unit_norm : bool, default=False
        Whether :meth:`transform` returns points of unit norm, as the paper's method compares them.
    n_jobs : int, optional
        Threads; all processors by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Attributes
    ----------
    components_ : ndarray of shape (n_latent, n_features)
        The map.
    mean_ : ndarray of shape (n_latent,)
        The mean of the projected training instances, which is subtracted.
    classes_ : ndarray
        The classes.
    landmarks_ : ndarray of shape (n_classes, n_latent)
        Unit vectors in the directions of the classes.
    n_features_in_ : int
        Features of an instance.

    References
    ----------
    X. He and P. Niyogi, *Locality preserving projections*, 2004. J. Cheng et al., *Supervised kernel locality preserving
    projections for face recognition*, 2005.

    Examples
    --------
    >>> from bidilel import SLPP
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> SLPP(dim=9).fit(X, y).transform(X).shape
    (1797, 9)
    """

    _bottom_up = "slpp"

    def __init__(
        self,
        dim: int | None = None,
        *,
        alpha: float = 10.0,
        neighbors: int = 10,
        weights: str = "exp",
        neighborhood: str = "global",
        normalize: str = "l2",
        search: str = "exact",
        unit_norm: bool = False,
        n_jobs: int | None = None,
        progress: Progress = None,
    ) -> None:
        super().__init__(
            dim,
            alpha=alpha,
            neighbors=neighbors,
            weights=weights,
            normalize=normalize,
            search=search,
            unit_norm=unit_norm,
            n_jobs=n_jobs,
            progress=progress,
        )
        self.neighborhood = neighborhood

    def _more(self) -> dict[str, Any]:
        return {"neighborhood": self.neighborhood if self.neighborhood != "global" else None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def landmarks_(self) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        return self.model_._raw.class_points("known")

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike) -> SLPP:
        """Learn the map from labeled instances.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.
        y : array-like of shape (n_samples,)
            The class of every row.

        Returns
        -------
        SLPP
            This estimator.
        """
        X, y = validate_data(self, plain(X), y, dtype="numeric", ensure_all_finite=False, ensure_min_samples=2)
        self.classes_, codes = classes_of(y)
        check_classification_targets(y)
        self._learn(X, codes.astype(np.int64), names_of(self.classes_.tolist()))
        return self


class LPP(_Projection):
    r"""Locality preserving projection, without labels.

    As :class:`SLPP`, over the graph of all near neighbors.

    Parameters
    ----------
    dim : int, optional
        Latent dimensions; up to 100 by default.
    alpha : float, default=10.0
        Weight of the regularizer.
    neighbors : int, default=10
        Neighbors of an instance in the graph.
    weights : {"exp", "heat", "binary"}, default="exp"
        Weights of edges.
    normalize : {"l2", "power", "none"}, default="l2"
        Normalization of every instance before all else.
    search : {"exact", "approximate"}, default="exact"
        How neighbors are searched for.
    unit_norm : bool, default=False
        Whether :meth:`transform` returns points of unit norm.
    n_jobs : int, optional
        Threads; all processors by default.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Attributes
    ----------
    components_ : ndarray of shape (n_latent, n_features)
        The map.
    mean_ : ndarray of shape (n_latent,)
        The mean of the projected training instances, which is subtracted.
    n_features_in_ : int
        Features of an instance.

    References
    ----------
    X. He and P. Niyogi, *Locality preserving projections*, 2004.

    Examples
    --------
    >>> from bidilel import LPP
    >>> from sklearn.datasets import load_digits
    >>> X, _ = load_digits(return_X_y=True)
    >>> LPP(dim=2).fit_transform(X).shape
    (1797, 2)
    """

    _bottom_up = "lpp"

    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike | None = None) -> LPP:
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Feature rows.
        y : None
            Ignored.

        Returns
        -------
        LPP
            This estimator.
        """
        X = validate_data(self, plain(X), dtype="numeric", ensure_all_finite=False, ensure_min_samples=2)
        self._learn(X, np.zeros(len(X), dtype=np.int64), ["all"])
        return self
