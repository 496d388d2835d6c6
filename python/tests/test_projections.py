"""SLPP and LPP against an independent computation, and in pipelines."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from bidilel import LPP, SLPP


def reference(X: np.ndarray, y: np.ndarray | None, *, dim: int, alpha: float, neighbors: int) -> np.ndarray:
    """The eigenproblem of He and Niyogi over a dense graph."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    graph = np.zeros_like(distances)
    for i, row in enumerate(distances):
        graph[i, np.argsort(row, kind="stable")[:neighbors]] = 1
    graph = np.maximum(graph, graph.T)
    if y is not None:
        graph *= y[:, None] == y[None]
    np.fill_diagonal(distances, 0)
    weights = graph * np.exp(-distances / 2)
    degrees = np.diag(weights.sum(axis=1))
    left = X.T @ degrees @ X
    right = X.T @ (degrees - weights) @ X + alpha * np.eye(X.shape[1])
    _, vectors = eigh(left, right)
    return vectors[:, ::-1][:, :dim].T


@pytest.mark.parametrize("supervised", [True, False])
def test_the_map_solves_the_eigenproblem(supervised: bool) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:400].astype(np.float32), y[:400]
    learner = SLPP(dim=6, neighbors=8, alpha=2.0) if supervised else LPP(dim=6, neighbors=8, alpha=2.0)
    points = learner.fit(X, y).transform(X)
    expected = reference(X.astype(float), y if supervised else None, dim=6, alpha=2.0, neighbors=8)
    found = learner.components_
    signs = np.sign((found * expected).sum(axis=1))
    assert np.allclose(found * signs[:, None], expected, atol=1e-4 * np.abs(expected).max())
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.allclose(points, unit @ found.T - learner.mean_, atol=1e-5)
    assert np.allclose(points.mean(axis=0), 0, atol=1e-5)


def test_points_of_unit_norm_are_those_of_the_method() -> None:
    X, y = load_digits(return_X_y=True)
    plain, unit = (SLPP(dim=9, unit_norm=unit).fit(X, y) for unit in (False, True))
    points = plain.transform(X)
    assert np.allclose(unit.transform(X), points / np.linalg.norm(points, axis=1, keepdims=True))
    assert unit.landmarks_.shape == (10, 9) and np.allclose(np.linalg.norm(unit.landmarks_, axis=1), 1)


def test_supervision_helps_a_classifier_of_few_dimensions() -> None:
    X, y = load_digits(return_X_y=True)
    score = lambda one: cross_val_score(make_pipeline(one, KNeighborsClassifier()), X, y, cv=3).mean()
    assert score(SLPP(dim=5)) > 0.8


def test_clones_pickles_and_output(zoo) -> None:  # noqa: ANN001
    learner = SLPP(dim=4).set_output(transform="pandas").fit(zoo.X, zoo.y)
    assert list(learner.transform(zoo.X).columns) == ["slpp0", "slpp1", "slpp2", "slpp3"]
    again = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(again.transform(zoo.X), learner.transform(zoo.X))
    with pytest.raises(ValueError, match="dim must be between 1 and"):
        SLPP(dim=1000).fit(zoo.X, zoo.y)
