"""An exact fit whose features stay in partitions: the driver, for any engine that runs functions elsewhere.

The steps of a fit on one machine, each as a sum or a merge over partitions:

1. counts, means and constant features: one summary per partition, added up;
2. neighbors: candidates from every pair of partitions, merged (exact);
3. edges: lists are exchanged, so that every edge is known once at both of its ends;
4. :math:`X D X^\\top` and :math:`X L X^\\top`: every partition adds the terms of its rows, in a tree of fixed order;
5. the eigenproblem, here;
6. landmarks: sums of projected rows by class; then the unseen classes are embedded, here.

Only sums over rows are rounded in another order than on one machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _bidilel, _parts
from ._columns import selected
from ._engine import Engine, Here, Told, tree
from ._inputs import Representation, descriptions, names_of, undescribed
from ._model import Model
from ._running import Progress, running, seed_of, warn
from ._settings import check_representations, settings_of, to_json

__all__ = ["Engine", "Fit", "Here", "Rows", "fit"]


class Rows(NamedTuple):
    """Rows of a partition.

    Attributes
    ----------
    X : array-like of shape (n_rows, n_features)
        Features, raw.
    y : array-like of shape (n_rows,)
        Classes.
    indices : array-like of shape (n_rows,)
        Places among all rows, each once: neighbors at equal distance are ordered by them. The driver checks that, and holds
        16 bytes per run of consecutive indices in one partition for it.
    """

    X: Any
    y: Any
    indices: Any


class Fit(NamedTuple):
    """A fit over partitions.

    Attributes
    ----------
    model : Model
        The model: the same file as that of any fit.
    eigenvalues : ndarray of shape (n_latent,)
        Of the leading eigenvectors, descending.
    degree, laplacian : ndarray of shape (n_features, n_features)
        The scatter matrices.
    """

    model: Model
    eigenvalues: NDArray[np.float64]
    degree: NDArray[np.float64]
    laplacian: NDArray[np.float64]


def fit(
    engine: Engine,
    parts: Sequence[tuple[Any, ...]],
    labels: Sequence[Any],
    semantics: Any = None,
    classes: Sequence[Any] | None = None,
    *,
    metric: str | Mapping[str, str] = "euclidean",
    settings: Mapping[str, Any] | None = None,
    columns: Sequence[str] | None = None,
    random_state: Any = None,
    progress: Progress = None,
) -> Fit:
    """Fit the paper's method to rows in partitions.

    Parameters
    ----------
    engine : Engine
        What runs the work of a partition.
    parts : sequence of tuples
        One per partition: a function that returns :class:`Rows`, called where the partition is to be, and its arguments,
        which may be handles.
    labels : sequence
        The classes that occur in any partition.
    semantics, classes, metric
        Descriptions of all classes, as for :meth:`bidilel.ZeroShotClassifier.fit`; the known classes are told apart by
        landmarks without them.
    settings : dict, optional
        Settings by name: ``neighbors``, ``alpha``, ``weights``, ``neighborhood``, ``dim``, ``normalize``, and those of the
        embedding of unseen classes.
    columns : sequence of str, optional
        Names of the features, which the model remembers; of rows in tables, these columns are taken.
    random_state : int, optional
        The seed of what is random in the embedding.
    progress : bool or callable, optional
        Shows progress, or is told ``stage, done, total``.

    Returns
    -------
    Fit
    """
    given = settings_of(settings)
    how = to_json(given)
    graph = _parts.Graph(*_bidilel.distributed_graph(how))
    known, unseen, representations = order_classes(labels, semantics, classes, metric)
    check_representations(given, [name for name, *_ in representations])
    position = {label: at for at, label in enumerate(known)}
    own = [engine.submit(_load, number, position, how, columns, *each) for number, each in enumerate(parts)]
    told = Told(engine, running(None, progress)["progress"])
    each = told.all("load", [engine.submit(_parts.summarize, part) for part in own])
    summary = tree(Here(), _parts.add_summaries, each)
    for note in summary.notes:
        warn(note)
    if summary.rows < 2:
        raise ValueError(f"expected 2 instances or more, found {summary.rows}")
    varying = np.flatnonzero(summary.least != summary.most)
    if 0 < len(varying) < len(summary.least):
        warn(f"{len(summary.least) - len(varying)} of {len(summary.least)} features are constant and are left out")
    edges, joined, scale = _edges(engine, told, own, graph, [one.classes for one in each])
    matrices, counts = _scatters(engine, own, edges, joined, graph, scale)
    _check(np.sum(told.all("scatter", counts), axis=0))
    total = engine.get(tree(engine, _parts.add_scatters, matrices))
    told("eigen", 0, 1)
    rows = varying.tolist()
    components, values = _bidilel.leading_map(total.degree, total.laplacian, rows, summary.rows, how, running())
    told("eigen", 1, 1)
    mean = summary.total / summary.rows
    projected = [
        engine.submit(_parts.class_sums, part, len(known), components, components @ mean, returns=2) for part in own
    ]
    told.all("landmarks", [count for _, count in projected])
    sums = [found for found, _ in projected]
    raw = _bidilel.assembled(
        components,
        mean,
        engine.get(tree(engine, np.add, sums)),
        names_of(known),
        names_of(list(known) + list(unseen))[len(known) :],
        representations,
        how,
        seed=seed_of(random_state),
        columns=None if columns is None else list(columns),
        instances=summary.rows,
        fingerprint=f"{summary.fingerprint:032x}",
        running=running(),
    )
    return Fit(Model(raw), values, total.degree, total.laplacian)


def order_classes(
    labels: Sequence[Any], semantics: Any, classes: Sequence[Any] | None, metric: str | Mapping[str, str]
) -> tuple[list[Any], list[Any], list[Representation]]:
    """Known classes, unseen ones, and their descriptions in this order: that of the descriptions.

    Parameters
    ----------
    labels : sequence
        Classes with instances.
    semantics, classes, metric
        As for :func:`fit`.

    Returns
    -------
    known, unseen : list
    representations : list
    """
    if any(label is None or label != label for label in labels):
        raise ValueError("labels: a class is null: leave rows without a class out")
    try:
        present = sorted(set(labels))
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"labels: expected classes of one type that can be sorted, found {', '.join(kinds)}") from error
    if semantics is None:
        if classes is not None:
            raise ValueError("classes names the rows of semantics, which are not given")
        return present, [], []
    described, found = descriptions(semantics, classes, metric)
    place = {label: row for row, label in enumerate(described)}
    missing = [label for label in present if label not in place]
    if missing:
        raise ValueError(undescribed(missing[0], described))
    seen = set(present)
    known = [label for label in described if label in seen]
    unseen = [label for label in described if label not in seen]
    rows = [place[label] for label in known + unseen]
    ordered = [
        (name, own, np.ascontiguousarray(values[rows][:, rows] if own == "precomputed" else values[rows]), dimensions)
        for name, own, values, dimensions in found
    ]
    return known, unseen, ordered


def _load(
    number: int,
    position: Mapping[Any, int],
    settings: str,
    columns: Sequence[str] | None,
    read: Callable[..., Rows],
    *arguments: Any,
) -> _parts.Part:
    rows = read(*arguments)
    own, encoded = np.unique(np.asarray(rows.y), return_inverse=True)
    codes = np.array([position[label] for label in own.tolist()], dtype=np.int64)
    return _parts.prepare(number, selected(rows.X, columns), codes[encoded], rows.indices, settings)


def _edges(
    engine: Engine, told: Told, parts: Sequence[Any], graph: _parts.Graph, classes: Sequence[NDArray[np.int64]]
) -> tuple[list[Any], list[list[int]], float]:
    """All edges at the rows of every partition, the partitions that these end in, and the mean length of directed ones."""
    count = len(parts)
    lists: list[Any] = [None] * count

    def put(at: int, found: Any) -> None:
        lists[at] = found if lists[at] is None else engine.submit(_parts.merge, lists[at], found)

    for one, others in enumerate(_partners(classes, graph.within_class)):
        for other in others:
            found = engine.submit(_parts.candidates, graph, parts[one], parts[other], returns=2)
            put(one, found[0])
            put(other, found[1])
    for one in range(count):
        if lists[one] is None:
            put(one, engine.submit(_alone, graph, parts[one]))
    directed = [engine.submit(_parts.directed, part, own, returns=2) for part, own in zip(parts, lists)]
    ends = told.all("neighbors", [found for _, found in directed])
    total, edges = tree(Here(), np.add, [np.array([end.length, end.edges]) for end in ends])
    joined: list[set[int]] = [set() for _ in parts]
    arriving: list[list[Any]] = [[] for _ in parts]
    for own, end in enumerate(ends):
        targets = [target for target in end.parts if target != own]
        for target, found in zip(targets, _split(engine, own, directed[own][0], targets)):
            arriving[target].append(found)
            joined[own].add(target)
            joined[target].add(own)
        if own in end.parts:
            joined[own].add(own)
    both = [engine.submit(_parts.undirected, own, directed[own][0], *arriving[own]) for own in range(count)]
    return both, [sorted(one) for one in joined], float(total / edges) if total > 0 else 1.0


def _partners(classes: Sequence[NDArray[np.int64]], within_class: bool) -> Iterator[list[int]]:
    """Of every partition, those after it that it is compared with.

    Within classes, partitions without a common class have nothing to tell each other.
    """
    count = len(classes)
    holders: dict[int, list[int]] = {}
    for part, own in enumerate(classes):
        for label in own.tolist():
            holders.setdefault(label, []).append(part)
    for one, own in enumerate(classes):
        common = np.full(count, not within_class)
        for label in own.tolist() if within_class else []:
            common[holders[label]] = True
            if common[one + 1 :].all():
                break
        yield (one + 1 + np.flatnonzero(common[one + 1 :])).tolist()


def _split(engine: Engine, number: int, edges: Any, targets: list[int]) -> list[Any]:
    """The edges of a partition as other partitions see them: one task, a handle for each of these partitions."""
    if not targets:
        return []
    found = engine.submit(_parts.reversed_edges, number, edges, targets, returns=len(targets))
    return [found] if len(targets) == 1 else list(found)


def _alone(graph: _parts.Graph, part: _parts.Part) -> NDArray[Any]:
    return _parts.candidates(graph, part)[0]


def _scatters(
    engine: Engine,
    parts: Sequence[Any],
    edges: Sequence[Any],
    joined: Sequence[Sequence[int]],
    graph: _parts.Graph,
    scale: float,
) -> tuple[list[Any], list[Any]]:
    """Both matrices of every partition, and counts of its edges."""
    found = []
    for own, at, ends in zip(parts, edges, joined):
        rows = [engine.submit(_parts.needed, at, parts[end]) for end in ends]
        found.append(engine.submit(_parts.scatter, own, at, graph, scale, ends, *rows, returns=2))
    return [matrices for matrices, _ in found], [counts for _, counts in found]


def _check(counts: NDArray[np.int64]) -> None:
    edges, vanished = counts.tolist()
    if edges == 0:
        raise ValueError("no two neighbors share a class, so the neighborhood graph has no edge")
    if vanished > (edges - 1) // 2:
        warn(
            f"more than half of the graph weights are below {_parts.VANISHED:.0e}, so the graph has no effect: normalize the "
            'features (normalize="l2") or scale the weights to them (weights="heat")'
        )
