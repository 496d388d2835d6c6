"""Sammon mappings against their formula and against known optima."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from bidilel import LandmarkSammon, Sammon, ZeroShotClassifier


def stress(points: np.ndarray, distances: np.ndarray) -> float:
    upper = np.triu_indices(len(points), 1)
    wanted, found = distances[upper], pairwise_distances(points)[upper]
    return float(((wanted - found) ** 2 / wanted).sum() / wanted.sum())


@pytest.fixture(scope="module")
def flowers() -> np.ndarray:
    return np.unique(load_iris().data, axis=0)


def test_the_stress_is_that_of_the_formula_and_not_above_classical_scaling(flowers: np.ndarray) -> None:
    distances = pairwise_distances(flowers)
    mapping = Sammon().fit(flowers)
    assert mapping.stress_ == pytest.approx(stress(mapping.embedding_, distances), rel=1e-6)
    centered = flowers - flowers.mean(axis=0)
    plane = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    assert mapping.stress_ < stress(plane, distances)
    again = Sammon(metric="precomputed").fit(distances)
    assert again.stress_ == pytest.approx(mapping.stress_, rel=1e-6)


def test_distances_of_a_plane_are_kept(rng: np.random.Generator = np.random.default_rng(0)) -> None:
    points = rng.normal(size=(30, 2))
    found = Sammon().fit_transform(points)
    assert np.allclose(pairwise_distances(found), pairwise_distances(points), atol=1e-3)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e4, 1e6])
def test_the_unit_makes_no_difference(flowers: np.ndarray, unit: float) -> None:
    """Of a space of ten dimensions a plane keeps no more than a part of the distances, whatever they are measured in."""
    cloud = np.random.default_rng(0).normal(size=(80, 10))
    expected, found = Sammon().fit(cloud), Sammon().fit(unit * cloud)
    assert found.stress_ == pytest.approx(expected.stress_, rel=1e-6)
    assert np.allclose(found.embedding_ / unit, expected.embedding_, atol=1e-3)
    for joint in (False, True):
        here, there = (LandmarkSammon(joint=joint).fit(scale * flowers[::2]) for scale in (1, unit))
        there.landmark_points_ = unit * here.landmark_points_
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            points = there.transform(unit * flowers[1::2])
        assert np.allclose(points / unit, here.transform(flowers[1::2]), atol=1e-6)


def test_distances_that_are_raised_to_the_floor_are_told(flowers: np.ndarray) -> None:
    mapping = LandmarkSammon().fit(flowers)
    near = flowers[:3] + 4e-7
    with pytest.warns(UserWarning, match="3 distances are far below those of the landmarks; they count as [0-9.]+e-6") as told:
        found = mapping.transform(near)
    assert told[0].filename == __file__
    assert np.allclose(found, mapping.landmark_points_[:3], atol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(mapping.transform(flowers[:3]), found, atol=1e-5), "a landmark is where it is"


def test_new_points_are_at_the_optimum_of_an_independent_minimizer(flowers: np.ndarray) -> None:
    mapping = LandmarkSammon().fit(flowers[::2])
    new = flowers[1:8:2]
    found = mapping.transform(new)
    for point, row in zip(found, pairwise_distances(new, mapping.landmarks_)):
        def cost(at: np.ndarray, row: np.ndarray = row) -> float:
            away = np.linalg.norm(mapping.landmark_points_ - at, axis=1)
            return float(((away - row) ** 2 / row).mean())

        best = min(minimize(cost, point + shift).fun for shift in (0.0, [0.3, -0.2], [-0.4, 0.1]))
        assert cost(point) <= best + 1e-6


def test_a_point_by_itself_does_not_depend_on_the_others_and_jointly_it_does(flowers: np.ndarray) -> None:
    alone = LandmarkSammon(n_landmarks=50, random_state=1).fit(flowers)
    assert len(alone.landmarks_) == 50 and alone.stress_ < 0.05
    assert np.allclose(alone.transform(flowers[:5])[2:3], alone.transform(flowers[2:3]))
    joint = LandmarkSammon(n_landmarks=50, random_state=1, joint=True).fit(flowers)
    assert not np.allclose(joint.transform(flowers[:5])[2:3], joint.transform(flowers[2:3]))


def test_the_classifier_embeds_unseen_classes_by_it(zoo) -> None:  # noqa: ANN001
    model = ZeroShotClassifier(dim=8).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    unit = zoo.semantics.div(np.linalg.norm(zoo.semantics, axis=1), axis=0)
    mapping = LandmarkSammon(joint=True)
    mapping.fit(unit.loc[model.known_classes_].to_numpy(), points=model.model_._raw.class_points("known"))
    found = mapping.transform(unit.loc[model.unseen_classes_].to_numpy())
    assert np.allclose(found, model.model_._raw.class_points("unseen"), atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "X", "words"),
    [
        (Sammon(metric="precomputed"), np.ones((3, 4)), "square"),
        (Sammon(metric="precomputed"), np.array([[0.0, 1.0], [2.0, 0.0]]), "not symmetric"),
        (Sammon(metric="precomputed"), np.array([[0.0, -1.0], [-1.0, 0.0]]), "which is no distance"),
        (Sammon(metric="precomputed"), np.ones((3, 3)), "the diagonal is not zero"),
        (Sammon(n_components=0), np.eye(3), "n_components must be at least 1"),
        (LandmarkSammon(n_landmarks=9), np.eye(3), "n_landmarks must be between 2 and the 3 rows"),
        (LandmarkSammon(metric="precomputed"), np.eye(3), "found precomputed"),
    ],
)
def test_what_makes_no_sense_is_refused(estimator: object, X: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        estimator.fit(X)  # type: ignore[attr-defined]
