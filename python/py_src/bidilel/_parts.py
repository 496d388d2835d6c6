"""What a worker computes for a fit whose features are in partitions. Nothing here knows what schedules it.

A row has a global index, which orders rows at equal distance. Candidates for neighbors remember the partition and the
row where a neighbor is, so that no table of all rows is ever needed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _bidilel
from ._inputs import features
from ._running import Running, running

#: A candidate for a neighbor: its global index, distance, partition, row in there, and whether it has the same label.
CANDIDATE = np.dtype([("index", "i8"), ("distance", "f8"), ("part", "i4"), ("row", "i4"), ("same", "?")])
#: An edge at a row: partition and row of the other end, and the length.
EDGE = np.dtype([("row", "i4"), ("part", "i4"), ("other", "i4"), ("distance", "f8")])

#: The first number of a note is how many rows or numbers it is about.
_COUNT = re.compile(r"(?<=: )\d+(?= )")

#: Weights below this are as good as none.
VANISHED = 1e-6


class Part(NamedTuple):
    """A partition: its number, prepared features, class and global index of every row, and what was noticed about them."""

    number: int
    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    indices: NDArray[np.int64]
    notes: tuple[str, ...] = ()


class Summary(NamedTuple):
    """Sums over rows, which add up over partitions."""

    rows: int
    least: NDArray[np.float32]
    most: NDArray[np.float32]
    total: NDArray[np.float64]
    #: Those that occur.
    classes: NDArray[np.int64]
    fingerprint: int
    #: First and last of every run of global indices: of consecutive rows, one run.
    runs: NDArray[np.int64]
    #: What is to be told where the fit was called: warnings of a worker are seen by nobody.
    notes: tuple[str, ...]


class Ends(NamedTuple):
    """The sum of the lengths of directed edges, how many there are, and the partitions that they end in."""

    length: float
    edges: int
    parts: list[int]


class Graph(NamedTuple):
    """The graph that is asked for."""

    neighbors: int
    within_class: bool
    weights: str


class Scatter(NamedTuple):
    """Terms of both matrices."""

    degree: NDArray[np.float64]
    laplacian: NDArray[np.float64]


def prepare(number: int, X: Any, labels: NDArray[np.int64], indices: NDArray[np.int64], settings: str) -> Part:
    """Check and normalize the rows of a partition."""
    notes: list[str] = []
    how: Running = {**running(1), "warn": notes.append}
    rows = _bidilel.prepared(features(X), settings, how)
    return Part(number, rows, np.asarray(labels, dtype=np.int64), np.asarray(indices, dtype=np.int64), tuple(notes))


def summarize(part: Part) -> Summary:
    """Counts, bounds, sums and a fingerprint of the rows, which do not depend on their order."""
    X, dim = part.features, part.features.shape[1]
    least = X.min(axis=0) if len(X) else np.full(dim, np.inf, dtype=np.float32)
    most = X.max(axis=0) if len(X) else np.full(dim, -np.inf, dtype=np.float32)
    prints = 0
    for row, label in zip(X, part.labels.tolist()):
        digest = hashlib.blake2b(row.tobytes(), digest_size=16, salt=label.to_bytes(8, "little"))
        prints += int.from_bytes(digest.digest(), "little")
    runs = _joined(np.repeat(part.indices[:, None], 2, axis=1))
    total = X.sum(axis=0, dtype=np.float64)
    return Summary(len(X), least, most, total, np.unique(part.labels), prints % 2**128, runs, part.notes)


def _joined(runs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Runs of indices in order, consecutive ones as one. Neighbors are told apart by index, so that each must be there once."""
    runs = runs[np.argsort(runs[:, 0], kind="stable")]
    twice = np.flatnonzero(runs[1:, 0] <= runs[:-1, 1])
    if len(twice):
        raise ValueError(f"indices: {runs[twice[0] + 1, 0]} is the index of two rows, and every row needs one of its own")
    begins = np.ones(len(runs), dtype=bool)
    begins[1:] = runs[1:, 0] != runs[:-1, 1] + 1
    ends = np.roll(begins, -1)
    return np.column_stack([runs[begins, 0], runs[ends, 1]])


def _counted(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes of several partitions: those that begin with a count are told once, with the sum."""
    counts: dict[str, int] = {}
    for note in notes:
        words = _COUNT.sub("{}", note, count=1)
        found = _COUNT.search(note)
        counts[words] = counts.get(words, 0) + (int(found[0]) if found else 0)
    return tuple(words.replace("{}", str(count), 1) for words, count in counts.items())


def add_summaries(one: Summary, other: Summary) -> Summary:
    """The summary of two sets of rows together."""
    return Summary(
        one.rows + other.rows,
        np.minimum(one.least, other.least),
        np.maximum(one.most, other.most),
        one.total + other.total,
        np.union1d(one.classes, other.classes),
        (one.fingerprint + other.fingerprint) % 2**128,
        _joined(np.concatenate([one.runs, other.runs])),
        _counted(one.notes + other.notes),
    )


def candidates(graph: Graph, *parts: Part) -> list[NDArray[Any]]:
    """The nearest rows of every row among those of one or two partitions: a list of candidates per partition."""
    X = np.concatenate([part.features for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    indices = np.concatenate([part.indices for part in parts])
    numbers = np.concatenate([np.full(len(part.indices), part.number, dtype=np.int32) for part in parts])
    rows = np.concatenate([np.arange(len(part.indices), dtype=np.int32) for part in parts])
    # Rows at equal distance are ordered by index.
    order = np.argsort(indices, kind="stable")
    near, distances = _bidilel.pair_neighbors(X[order], labels[order], graph.neighbors, graph.within_class, running(1))
    there = order[near]
    found = np.zeros(near.shape, dtype=CANDIDATE)
    found["index"], found["part"], found["row"] = indices[there], numbers[there], rows[there]
    found["distance"], found["same"] = distances, labels[there] == labels[order][:, None]
    _clear(found, near < 0)
    back = np.empty_like(found)
    back[order] = found
    return np.split(back, np.cumsum([len(part.indices) for part in parts])[:-1])


def merge(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """The nearest of two lists of candidates of the same rows, each candidate once."""
    k, both = one.shape[1], np.concatenate([one, other], axis=1)
    order = np.lexsort((both["index"], both["distance"]), axis=1)
    both = np.take_along_axis(both, order, axis=1)
    # The same candidate has the same distance in both lists: it is its own neighbor in the order.
    twice = np.zeros(both.shape, dtype=bool)
    twice[:, 1:] = (both["index"][:, 1:] == both["index"][:, :-1]) & (both["part"][:, 1:] >= 0)
    _clear(both, twice)
    order = np.lexsort((both["index"], both["distance"]), axis=1)[:, :k]
    return np.take_along_axis(both, order, axis=1)


def _clear(lists: NDArray[Any], where: NDArray[np.bool_]) -> None:
    """Empty places of lists: no partition, infinitely far."""
    lists["part"][where], lists["distance"][where] = -1, np.inf
    lists["index"][where], lists["same"][where] = np.iinfo(np.int64).max, False


def directed(part: Part, lists: NDArray[Any]) -> tuple[NDArray[Any], Ends]:
    """The edges from the rows of a partition to their neighbors of the same class, and what is to be known of all of them."""
    rows, places = np.nonzero(lists["same"])
    found = np.zeros(len(rows), dtype=EDGE)
    kept = lists[rows, places]
    found["row"], found["part"], found["other"], found["distance"] = rows, kept["part"], kept["row"], kept["distance"]
    return found, Ends(float(found["distance"].sum()), len(found), np.unique(found["part"]).tolist())


def reversed_edges(number: int, edges: NDArray[Any], targets: list[int]) -> Any:
    """The edges of partition ``number`` as seen from other partitions, an array for each of these; one array for one."""
    order = np.argsort(edges["part"], kind="stable")
    parts = edges["part"][order]
    firsts, ends = np.searchsorted(parts, targets, side="left"), np.searchsorted(parts, targets, side="right")
    found = [_reversed(number, edges[order[first:end]]) for first, end in zip(firsts, ends)]
    return found if len(found) > 1 else found[0]


def _reversed(number: int, edges: NDArray[Any]) -> NDArray[Any]:
    found = np.zeros(len(edges), dtype=EDGE)
    found["row"], found["part"], found["other"], found["distance"] = edges["other"], number, edges["row"], edges["distance"]
    return found


def undirected(number: int, own: NDArray[Any], *arriving: NDArray[Any]) -> NDArray[Any]:
    """Every edge at the rows of partition ``number`` once, from its own lists and those of others."""
    both = np.concatenate([own, _reversed(number, own[own["part"] == number]), *arriving])
    both = both[np.lexsort((both["other"], both["part"], both["row"]))]
    first = np.ones(len(both), dtype=bool)
    first[1:] = (both["row"][1:] != both["row"][:-1]) | (both["part"][1:] != both["part"][:-1])
    first[1:] |= both["other"][1:] != both["other"][:-1]
    return both[first]


def needed(edges: NDArray[Any], part: Part) -> NDArray[np.float32]:
    """The features of those rows of a partition that edges end in, in the order of the rows."""
    rows: NDArray[np.intp] = np.unique(edges["other"][edges["part"] == part.number])
    found: NDArray[np.float32] = part.features[rows]
    return found


def scatter(
    part: Part, edges: NDArray[Any], graph: Graph, scale: float, joined: Sequence[int], *rows: NDArray[np.float32]
) -> tuple[Scatter, NDArray[np.int64]]:
    """The terms of a partition's rows, given those rows of the joined partitions that its edges end in (:func:`needed`).

    And counts: of its edges, and of those with a weight that is as good as none.
    """
    weights = weigh(edges["distance"], graph.weights, scale)
    ends = np.empty(len(edges), dtype=np.int64)
    first = 0
    for number in joined:
        here = edges["part"] == number
        own, place = np.unique(edges["other"][here], return_inverse=True)
        ends[here] = first + place
        first += len(own)
    offsets = np.zeros(len(part.labels) + 1, dtype=np.int64)
    np.cumsum(np.bincount(edges["row"], minlength=len(part.labels)), out=offsets[1:])
    others = np.concatenate(rows) if rows else part.features[:0]
    found = _bidilel.graph_scatter(part.features, others, offsets, ends, weights, running(1))
    return Scatter(*found), np.array([len(edges), (weights < VANISHED).sum()])


def weigh(distances: NDArray[np.float64], weights: str, scale: float) -> NDArray[np.float64]:
    """Weights of edges of these lengths."""
    if weights == "binary":
        return np.ones(len(distances))
    if weights == "heat":
        return np.exp(-(distances**2) / (2 * scale**2))
    return np.exp(-distances / 2)


def add_scatters(one: Scatter, other: Scatter) -> Scatter:
    """The terms of two sets of rows together."""
    return Scatter(one.degree + other.degree, one.laplacian + other.laplacian)


def class_sums(
    part: Part, classes: int, components: NDArray[np.float64], mean: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Sums of the projected rows by class, and how many rows there are."""
    return _bidilel.class_sums(part.features, part.labels, classes, components, mean, running(1)), len(part.labels)
