"""SLPP and Sammon against the nearest relatives in scikit-learn, in one run: seconds and accuracy.

    python benchmarks/relatives.py [DATASET]

Projections learn from half of the instances of every class; the other half is classified by the nearest class mean in
the projected space. Mappings place the same points; their cost is Sammon's. Without a dataset, features and classes are
those of ``bidilel.emoji("emoji-things")``.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import MDS
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestCentroid, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import LabelBinarizer, Normalizer

import bidilel


class OneHotCCA:
    """CCA with indicators of the classes."""

    def __init__(self, dim: int) -> None:
        self.inner = CCA(n_components=dim, max_iter=500)

    def fit(self, X: np.ndarray, y: np.ndarray) -> OneHotCCA:
        self.inner.fit(X, LabelBinarizer().fit_transform(y))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return self.inner.transform(X)


def projections(name: str, X: np.ndarray, y: np.ndarray, dim: int, *, slow: bool) -> None:
    X = Normalizer().fit_transform(X).astype(np.float32)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    print(f"\n{name}: {X_train.shape[0]} x {X_train.shape[1]} to learn from, {len(np.unique(y))} classes, {dim} dimensions\n")
    print("| | fit, s | transform, s | nearest class mean, % |\n| --- | --- | --- | --- |")
    contenders = {
        "`SLPP`": bidilel.SLPP(dim, unit_norm=True),
        "`LPP`": bidilel.LPP(dim, unit_norm=True),
        "`LinearDiscriminantAnalysis(\"eigen\", shrinkage=\"auto\")`": LinearDiscriminantAnalysis(
            solver="eigen", shrinkage="auto", n_components=min(dim, len(np.unique(y)) - 1)
        ),
    }
    if slow:
        contenders["`NeighborhoodComponentsAnalysis`"] = NeighborhoodComponentsAnalysis(dim, random_state=0)
        contenders["`CCA` with classes"] = OneHotCCA(dim)
    for label, one in contenders.items():
        began = time.perf_counter()
        one.fit(X_train, y_train)
        fitted = time.perf_counter()
        train, test = one.transform(X_train), one.transform(X_test)
        done = time.perf_counter()
        score = NearestCentroid().fit(train, y_train).score(test, y_test)
        print(f"| {label} | {fitted - began:.2f} | {done - fitted:.3f} | {100 * score:.1f} |", flush=True)


def mappings(X: np.ndarray) -> None:
    distances = pairwise_distances(X)
    upper = np.triu_indices(len(X), 1)
    wanted = distances[upper]

    def stress(points: np.ndarray) -> float:
        found = pairwise_distances(points)[upper]
        return float(((wanted - found) ** 2 / wanted).sum() / wanted.sum())

    def raw(points: np.ndarray) -> float:
        return float(((wanted - pairwise_distances(points)[upper]) ** 2).sum() / (wanted**2).sum())

    print(f"\ndigits: {len(X)} points on a plane\n")
    print("| | s | Sammon's cost | cost of metric scaling |\n| --- | --- | --- | --- |")
    for label, one in {
        "`Sammon`": bidilel.Sammon(metric="precomputed"),
        "`MDS`": MDS(metric="precomputed", n_init=1, init="random", random_state=0),
    }.items():
        began = time.perf_counter()
        points = one.fit_transform(distances)
        seconds = time.perf_counter() - began
        print(f"| {label} | {seconds:.2f} | {stress(points):.4f} | {raw(points):.4f} |", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    projections("digits", X, y, 9, slow=True)
    data = bidilel.open(sys.argv[1]) if len(sys.argv) > 1 else bidilel.emoji("emoji-things")
    labels, X = data.labels, data.features()
    enough = np.isin(labels, np.flatnonzero(np.bincount(labels) > 3))
    projections(data.name, X[enough], labels[enough], 100, slow=False)
    digits = np.unique(load_digits().data[:800], axis=0)
    mappings(digits)


if __name__ == "__main__":
    main()
