"""A fit over partitions is the fit: whatever the partitions, and compared with plain NumPy."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist

import bidilel
from bidilel import _parts, distributed

from conftest import Arrays
from plain import plain_fit

Cut = Callable[[int], "list[np.ndarray]"]


def contiguous(parts: int) -> Cut:
    return lambda count: np.array_split(np.arange(count), parts)


def interleaved(count: int) -> list[np.ndarray]:
    return [np.arange(first, count, 3) for first in range(3)]


def shuffled(count: int) -> list[np.ndarray]:
    owner = np.random.default_rng(5).integers(0, 5, count)
    return [np.random.default_rng(part).permutation(np.flatnonzero(owner == part)) for part in range(5)]


def uneven(count: int) -> list[np.ndarray]:
    """One row, none, nearly all, and a few."""
    return [np.arange(1), np.arange(0), np.arange(1, count - 3), np.arange(count - 3, count)]


CUTS = {
    "one": contiguous(1),
    "two": contiguous(2),
    "seven": contiguous(7),
    "interleaved": interleaved,
    "shuffled": shuffled,
    "uneven": uneven,
}


def fit_parts(X: np.ndarray, y: np.ndarray, cut: Cut, semantics: Any = None, **settings: Any) -> distributed.Fit:
    parts = [(distributed.Rows, X[rows], y[rows], rows) for rows in cut(len(X))]
    return distributed.fit(distributed.Here(), parts, np.unique(y).tolist(), semantics, settings=settings)


def equal_matrices(found: np.ndarray, expected: np.ndarray) -> None:
    """Every entry, to a part of the largest one: small ones are differences of large ones."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """A coarse grid, so that duplicates and equal distances are common."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 4, 150)
    return (draw.integers(0, 4, (150, 6)) + y[:, None] / 2).astype(np.float32), y


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize(
    ("weights", "neighborhood"), [("exp", "global"), ("heat", "global"), ("binary", "within-class"), ("heat", "within-class")]
)
def test_scatters_and_eigenvalues_are_those_of_dense_matrices(
    rows: tuple[np.ndarray, np.ndarray], cut: str, weights: str, neighborhood: str
) -> None:
    X, y = rows
    how: dict[str, Any] = dict(weights=weights, neighborhood=neighborhood, neighbors=5, alpha=0.5, dim=4)
    found = fit_parts(X, y, CUTS[cut], normalize="none", **how)
    plain = plain_fit(X, y, **how)
    equal_matrices(found.degree, plain.degree)
    equal_matrices(found.laplacian, plain.laplacian)
    np.testing.assert_allclose(found.eigenvalues, plain.eigenvalues, rtol=1e-8)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("neighborhood", ["global", "within-class"])
def test_latent_distances_labels_and_header_are_those_of_a_fit_on_one_machine(
    zoo: Arrays, cut: str, neighborhood: str
) -> None:
    settings = {"neighborhood": neighborhood, "neighbors": 6, "dim": 10}
    here = bidilel.ZeroShotClassifier(settings=settings).fit(zoo.X, zoo.y, zoo.semantics).model_
    found = fit_parts(zoo.X, zoo.y, CUTS[cut], zoo.semantics, **settings).model
    here_points, points = here.transform(zoo.X_test), found.transform(zoo.X_test)
    np.testing.assert_allclose(pdist(points), pdist(here_points), rtol=0, atol=1e-8)
    for candidates in ["unseen", "known", "all"]:
        assert found.predict(zoo.X_test, candidates=candidates).tolist() == here.predict(
            zoo.X_test, candidates=candidates
        ).tolist()
    one, other = found.header, here.header
    exact = {key for key in other if one.get(key) == other[key]}
    assert set(one) == set(other)
    assert set(other) - exact <= {"fingerprint", "stress"}, set(other) - exact
    assert one["stress"] == pytest.approx(other["stress"], rel=1e-8)


def test_names_of_columns_are_those_of_a_fit_to_a_table(zoo: Arrays) -> None:
    names = [f"x{i}" for i in range(zoo.X.shape[1])]
    table = pd.DataFrame(zoo.X, columns=names)
    here = bidilel.ZeroShotClassifier(dim=10).fit(table, zoo.y, zoo.semantics).model_
    cut = np.array_split(np.arange(len(zoo.X)), 2)
    # One partition has its columns in another order.
    parts = [(distributed.Rows, table.iloc[cut[0]], zoo.y[cut[0]], cut[0])]
    parts += [(distributed.Rows, table[names[::-1]].iloc[cut[1]], zoo.y[cut[1]], cut[1])]
    labels = np.unique(zoo.y).tolist()
    found = distributed.fit(distributed.Here(), parts, labels, zoo.semantics, settings={"dim": 10}, columns=names).model
    assert found.header["visual"] == here.header["visual"] and found.columns == names
    assert found.predict(table[names[::-1]]).tolist() == here.predict(table).tolist()


def test_settings_are_those_of_the_classifier(zoo: Arrays) -> None:
    """A weight is that of the second representation, whose name goes with it; refiners may be joined in one text."""
    described = {"attributes": zoo.semantics, "words": zoo.semantics.iloc[:, ::-1] ** 2}
    settings = {"semantic": ["words", "attributes"], "gamma": 0.3, "dim": 10, "post": "self-training+structured"}
    with pytest.raises(ValueError, match="semantic must be attributes, words, as semantics has it, found words, attributes"):
        fit_parts(zoo.X, zoo.y, CUTS["two"], described, **settings)
    described = {name: described[name] for name in settings["semantic"]}
    found = fit_parts(zoo.X, zoo.y, CUTS["two"], described, **settings).model
    here = bidilel.ZeroShotClassifier(settings=settings).fit(zoo.X, zoo.y, described).model_
    assert [one["weight"] for one in found.header["semantic"]] == [0.7, 0.3]
    assert found.header["semantic"] == here.header["semantic"] and found.header["method"] == here.header["method"]
    assert found.refine(zoo.X_test).tolist() == here.refine(zoo.X_test).tolist()


@pytest.mark.parametrize(("first", "second"), [([0, 1, 2, 1], [4, 5]), ([0, 1, 2, 3], [5, 2]), ([9, 4, 1, 3], [2, 4])])
def test_an_index_of_two_rows_is_refused(rows: tuple[np.ndarray, np.ndarray], first: list[int], second: list[int]) -> None:
    """Neighbors are told apart by it: the graph would be another one."""
    X, y = rows
    counts, part = np.arange(len(X)), distributed.Rows
    parts = [(part, X[:4], y[:4], np.array(first)), (part, X[4:6], y[4:6], np.array(second)), (part, X[6:], y[6:], 10 + counts[6:])]
    with pytest.raises(ValueError, match="indices: [124] is the index of two rows"):
        distributed.fit(distributed.Here(), parts, np.unique(y).tolist())


def test_runs_of_indices_are_joined_over_partitions() -> None:
    X, y = np.ones((6, 2), dtype=np.float32), np.zeros(6, dtype=np.int64)
    cut = [_parts.Part(0, X[:4], y[:4], np.array([7, 0, 2, 1])), _parts.Part(1, X[:2], y[:2], np.array([3, 9]))]
    none = _parts.Part(2, X[:0], y[:0], np.arange(0))
    one, other, nothing = (_parts.summarize(part) for part in [*cut, none])
    assert one.runs.tolist() == [[0, 2], [7, 7]]
    for both in (_parts.add_summaries(one, other), _parts.add_summaries(other, _parts.add_summaries(nothing, one))):
        assert both.runs.tolist() == [[0, 3], [7, 7], [9, 9]]


def test_classes_that_are_null_or_of_several_types_are_refused(zoo: Arrays) -> None:
    for labels, words in {("a", None): "a class is null", ("a", float("nan")): "a class is null", ("a", 1): "int, str"}.items():
        with pytest.raises(ValueError, match=f"labels: .*{words}"):
            distributed.order_classes(labels, None, None, "euclidean")


def test_the_order_of_many_classes_takes_no_time_of_their_square() -> None:
    """Fifty thousand classes: their square, at a nanosecond each, would be seconds."""
    described = {f"c{i}": [1.0, float(i)] for i in range(50_000)}
    began = time.process_time()
    known, unseen, _ = distributed.order_classes(list(described)[::2], described, None, "euclidean")
    assert (len(known), len(unseen)) == (25_000, 25_000)
    assert time.process_time() - began < 5


def test_the_same_rows_have_one_fingerprint_and_other_rows_another(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    prints = {fit_parts(X, y, cut, normalize="none").model.header["fingerprint"] for cut in CUTS.values()}
    assert len(prints) == 1
    assert fit_parts(X[1:], y[1:], CUTS["two"], normalize="none").model.header["fingerprint"] not in prints
    changed = np.where(np.arange(len(y)) == 3, (y + 1) % 4, y)
    assert fit_parts(X, changed, CUTS["two"], normalize="none").model.header["fingerprint"] not in prints


def test_merged_candidates_are_those_of_one_search(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    graph = _parts.Graph(9, False, "exp")
    whole = _parts.candidates(graph, _parts.Part(0, X, y, np.arange(150)))[0]
    cut = [_parts.Part(number, X[at], y[at], at) for number, at in enumerate(interleaved(150))]
    first, second = _parts.candidates(graph, cut[0], cut[1])[0], _parts.candidates(graph, cut[0], cut[2])[0]
    for merged in [_parts.merge(first, second), _parts.merge(_parts.merge(second, first), second)]:
        for name in ["index", "distance", "same"]:
            np.testing.assert_array_equal(merged[name], whole[name][::3])


class Counting(distributed.Here):
    """Counts tasks by their functions."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
        self.calls[function.__name__] += 1
        return super().submit(function, *arguments, returns=returns)


def test_tasks_of_rows_that_are_sorted_by_class_are_as_many_as_partitions() -> None:
    """Not as many as their square: a thousand partitions would be millions of tasks."""
    tasks = {}
    for count in (20, 40):
        draw, y = np.random.default_rng(0), np.repeat(np.arange(count), 9)
        X = draw.standard_normal((len(y), 6)).astype(np.float32)
        engine = Counting()
        # A class ends in the middle of the next partition, so that neighboring ones have one in common.
        cut = np.split(np.arange(len(y)), range(5, len(y), 9))
        parts = [(distributed.Rows, X[rows], y[rows], rows) for rows in cut]
        distributed.fit(engine, parts, list(range(count)), settings={"neighborhood": "within-class", "normalize": "none"})
        tasks[count] = engine.calls
    for name, calls in tasks[40].items():
        assert calls <= 2.2 * tasks[20][name], (name, tasks)
    assert sum(tasks[40].values()) < 20 * 41


def test_a_partition_is_compared_with_those_that_have_a_class_of_its_own() -> None:
    classes = [np.array(own) for own in ([0, 1], [2], [1, 2], [], [0, 2])]
    assert list(distributed._partners(classes, True)) == [[2, 4], [2, 4], [4], [], []]
    assert list(distributed._partners(classes, False)) == [[1, 2, 3, 4], [2, 3, 4], [3, 4], [4], []]


def test_progress_is_told_as_partitions_are_done(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    told: list[tuple[str, int, int | None]] = []
    parts = [(distributed.Rows, X[at], y[at], at) for at in interleaved(len(X))]
    distributed.fit(distributed.Here(), parts, [0, 1, 2, 3], progress=lambda *event: told.append(event))
    for stage in ("load", "neighbors", "scatter", "landmarks"):
        assert [(done, total) for name, done, total in told if name == stage] == [(done, 3) for done in range(4)]
    assert ("eigen", 1, 1) in told


def test_notes_about_rows_are_warnings_of_the_caller(rows: tuple[np.ndarray, np.ndarray]) -> None:
    """Those of two partitions, each in the log of a worker otherwise."""
    X, y = rows
    X = X.astype(np.float64)
    X[[3, 107]], X[11] = 0.0, 1e-60
    quiet: list[warnings.WarningMessage] = []

    class Quiet(distributed.Here):
        def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                found = super().submit(function, *arguments, returns=returns)
            quiet.extend(told)
            return found

    parts = [(distributed.Rows, X[at], y[at], at) for at in np.array_split(np.arange(len(X)), 2)]
    with pytest.warns(UserWarning) as told:
        distributed.fit(Quiet(), parts, [0, 1, 2, 3])
    assert not quiet, "nothing is told where nobody listens"
    words = {str(one.message) for one in told}
    assert words == {"X: 3 rows are all zero and stay so", "X: 6 numbers are too small for float32 and read as zero"}
    assert {one.filename for one in told} == {__file__}


def test_partitions_without_a_common_class_are_not_compared(rows: tuple[np.ndarray, np.ndarray]) -> None:
    """Rows that are sorted by class cost a search per class, not one per pair of partitions."""
    X, y = rows
    engine = Counting()
    how = {"neighborhood": "within-class", "normalize": "none"}
    parts = [(distributed.Rows, X[y == label], y[y == label], np.flatnonzero(y == label)) for label in range(4)]
    found = distributed.fit(engine, parts, [0, 1, 2, 3], settings=how)
    assert (engine.calls["candidates"], engine.calls["_alone"]) == (0, 4)
    assert (engine.calls["reversed_edges"], engine.calls["needed"]) == (0, 4)
    equal_matrices(found.laplacian, fit_parts(X, y, CUTS["two"], **how).laplacian)


def test_the_tree_adds_every_value_once_in_a_fixed_order() -> None:
    add = lambda one, other: f"({one}{other})"  # noqa: E731
    for count, expected in [(1, "a"), (2, "(ab)"), (3, "((ab)c)"), (5, "(((ab)(cd))e)")]:
        assert distributed.tree(distributed.Here(), add, "abcde"[:count]) == expected


def test_a_model_is_a_file_like_any_other(zoo: Arrays) -> None:
    model = fit_parts(zoo.X, zoo.y, CUTS["two"], zoo.semantics).model
    again = bidilel.Model.from_bytes(model.to_bytes())
    assert again.predict(zoo.X_test).tolist() == model.predict(zoo.X_test).tolist()
    assert again.header["instances"] == len(zoo.X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bottom_up": "pca"}, "bottom_up must be slpp where features are in partitions"),
        ({"search": "approximate"}, "search must be exact"),
        ({"regularizer": "kernel"}, "regularizer must be identity"),
        ({"center": True}, "center must be false"),
        ({"method": "eszsl"}, "method must be bidilel"),
        ({"dim": 99}, "dim must be"),
        ({"neighbors": 0}, "neighbors must be"),
    ],
)
def test_what_is_no_sum_over_partitions_is_refused(
    rows: tuple[np.ndarray, np.ndarray], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        fit_parts(*rows, CUTS["two"], **settings)


def test_data_that_cannot_be_learned_from_are_told_as_on_one_machine(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    with pytest.raises(ValueError, match="no two neighbors share a class"):
        fit_parts(X, np.arange(len(X)), CUTS["two"])
    with pytest.raises(ValueError, match="different for different instances"):
        fit_parts(np.ones_like(X), y, CUTS["two"])
    with pytest.raises(ValueError, match="no description"):
        fit_parts(X, y, CUTS["two"], {0: [1.0, 2.0], 1: [0.0, 1.0]})
    with pytest.warns(UserWarning, match="1 of 6 features are constant"):
        fit_parts(np.where(np.arange(6) == 2, np.float32(1), X), y, CUTS["two"], normalize="none")
    with pytest.warns(UserWarning, match="more than half of the graph weights"):
        fit_parts(X * 1e4, y, CUTS["two"], normalize="none")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_parts(X, y, CUTS["two"], normalize="none")
