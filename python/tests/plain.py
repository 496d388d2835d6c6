"""Fits by the book, in NumPy and SciPy alone: all distances, a dense graph, a full eigendecomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist


class Plain(NamedTuple):
    """Both scatter matrices, and the leading eigenvalues, descending."""

    degree: np.ndarray
    laplacian: np.ndarray
    eigenvalues: np.ndarray


def plain_fit(
    X: np.ndarray, y: np.ndarray, *, neighbors: int, weights: str, neighborhood: str, alpha: float, dim: int
) -> Plain:
    """SLPP of rows that need no normalization."""
    X = X.astype(np.float64)
    distances = cdist(X, X)
    near = np.zeros((len(X), len(X)), dtype=bool)
    for i, row in enumerate(distances):
        ranked = np.argsort(row, kind="stable")
        ranked = ranked[(ranked != i) & ((y[ranked] == y[i]) | (neighborhood == "global"))][:neighbors]
        near[i, ranked] = y[ranked] == y[i]
    scale = distances[near].mean()
    W = {"exp": np.exp(-distances / 2), "heat": np.exp(-(distances**2) / (2 * scale**2)), "binary": np.ones_like(distances)}[weights]
    W = np.where(near | near.T, W, 0.0)
    sums = W.sum(axis=1)
    degree = X.T @ (sums[:, None] * X)
    laplacian = X.T @ (sums[:, None] * X - W @ X)
    right = laplacian + alpha * np.eye(X.shape[1])
    values = scipy.linalg.eigh(degree, right, eigvals_only=True, subset_by_index=(X.shape[1] - dim, X.shape[1] - 1))
    return Plain(degree, laplacian, values[::-1])
