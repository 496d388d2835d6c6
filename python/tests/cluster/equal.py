"""A fit on Ray against a fit on one machine, for several partitionings: the largest differences.

    tests/cluster/run python equal.py

Scatter matrices are compared with dense ones by NumPy over all rows, eigenvalues with those of SciPy and with those of the map that
the estimator finds on one machine, latent distances and labels with the estimator's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import ray
import ray.data
from scipy.spatial.distance import pdist

import bidilel
from bidilel.ray._fit import _blocks, fitted

from local import cluster
from plain import Plain, plain_fit

Cut = Callable[[np.ndarray], "list[np.ndarray]"]


def uneven(y: np.ndarray) -> list[np.ndarray]:
    """One row, two, nearly all, and a few."""
    rows = np.arange(len(y))
    return [rows[:1], rows[1:3], rows[3:-7], rows[-7:]]


def shuffled(y: np.ndarray) -> list[np.ndarray]:
    owner = np.random.default_rng(5).choice(5, len(y), p=[0.5, 0.3, 0.1, 0.07, 0.03])
    return [np.random.default_rng(part).permutation(np.flatnonzero(owner == part)) for part in range(5)]


#: Row numbers of every partition.
CUTS: dict[str, Cut] = {
    "one": lambda y: [np.arange(len(y))],
    "four alike": lambda y: np.array_split(np.arange(len(y)), 4),
    "1, 2, nearly all and 7 rows": uneven,
    "shuffled, from 3 to 50 %": shuffled,
    "sorted by class, 6 parts": lambda y: np.array_split(np.argsort(y, kind="stable"), 6),
    "a class each": lambda y: [np.flatnonzero(y == label) for label in np.unique(y)],
}


class Differences(NamedTuple):
    """The largest ones; of matrices relative to their largest entry, of eigenvalues relative to each."""

    degree: float
    laplacian: float
    eigenvalues: float
    eigenvalues_here: float
    distances: float
    labels: int


class Reference(NamedTuple):
    """The rows, and the fits on one machine."""

    X: np.ndarray
    y: np.ndarray
    how: dict[str, Any]
    here: bidilel.Model
    plain: Plain


def reference(X: np.ndarray, y: np.ndarray, **how: Any) -> Reference:
    how = {"alpha": 10.0, **how}
    here = bidilel.ZeroShotClassifier(settings={**how, "normalize": "none"}).fit(X, y).model_
    return Reference(X, y, how, here, plain_fit(X, y, **how))


def differences(one: Reference, cut: Cut) -> Differences:
    """Fits on Ray with these partitions, and compares."""
    tables = [
        pa.table({"features": pa.FixedSizeListArray.from_arrays(pa.array(one.X[rows].ravel()), one.X.shape[1]), "label": one.y[rows]})
        for rows in cut(one.y)
    ]
    dataset = ray.data.from_arrow(tables)
    parts = [len(block) for block in ray.get(_blocks(dataset.select_columns(["features", "label"])))]
    assert parts == [len(table) for table in tables], "Ray has cut the rows in another way"
    found = fitted(dataset, settings={**one.how, "normalize": "none"})

    def relative(value: np.ndarray, expected: np.ndarray) -> float:
        return float(np.abs(value - expected).max() / np.abs(expected).max())

    components, _ = one.here._raw.components()
    own = np.einsum("ij,ij->i", components @ one.plain.degree, components)
    some = one.X[:: max(1, len(one.X) // 1000)]
    same = found.model.predict(one.X, candidates="known") == one.here.predict(one.X, candidates="known")
    return Differences(
        relative(found.degree, one.plain.degree),
        relative(found.laplacian, one.plain.laplacian),
        float(np.abs(found.eigenvalues / one.plain.eigenvalues - 1).max()),
        float(np.abs(found.eigenvalues / own - 1).max()),
        float(np.abs(pdist(found.model.transform(some)) - pdist(one.here.transform(some))).max()),
        int((~same).sum()),
    )


def generated() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    y = draw.integers(0, 8, 3000)
    centers = draw.standard_normal((8, 24))
    return (centers[y] + draw.standard_normal((3000, 24))).astype(np.float32), y


def pictures() -> tuple[np.ndarray, np.ndarray]:
    """Real features, of unit norm: those of the known classes of `emoji-things`."""
    dataset = bidilel.emoji("emoji-things")
    rows = dataset.trials()[0].train
    X = dataset.features(instances=rows)
    _, y = np.unique(dataset.class_names()[rows], return_inverse=True)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def main() -> None:
    how = dict(neighbors=7, dim=12)
    data = [
        ("generated", generated(), dict(**how, weights="exp", neighborhood="global"), list(CUTS)),
        ("generated", generated(), dict(**how, weights="heat", neighborhood="within-class"), list(CUTS)),
        # Hundreds of classes: a partition for each would be as many tasks squared.
        ("emoji-things", pictures(), dict(neighbors=10, dim=100, weights="exp", neighborhood="global"), list(CUTS)[:-1]),
    ]
    with cluster(workers=2, store_gib=1.0):
        for name, (X, y), settings, cuts in data:
            one = reference(X, y, **settings)
            print(f"{name}, {len(X)} x {X.shape[1]}, {len(np.unique(y))} classes, {settings}")
            for cut in cuts:
                found = differences(one, CUTS[cut])
                print(f"  {cut}: XDX' {found.degree:.1e}, XLX' {found.laplacian:.1e}, eigenvalues {found.eigenvalues:.1e} and "
                      f"{found.eigenvalues_here:.1e}, distances {found.distances:.1e}, other labels {found.labels}", flush=True)


if __name__ == "__main__":
    main()
