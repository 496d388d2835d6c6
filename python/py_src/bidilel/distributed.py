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

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _bidilel, _parts
from ._columns import selected
from ._inputs import Representation, descriptions, names_of, undescribed
from ._model import Model
from ._running import Progress, running, seed_of, warn
from ._settings import check_representations, settings_of, to_json

__all__ = ["Engine", "Fit", "Here", "Rows", "fit"]


class Engine(Protocol):
    """Runs functions. What :meth:`submit` returns may be an argument of another call."""

    def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
        """Run a function, somewhere and some time; with several returns, one handle for each."""

    def get(self, handle: Any) -> Any:
        """Wait for a value and return it."""


class Here:
    """The engine that runs everything at once, in this process."""

    def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
        """Run a function now.

        Parameters
        ----------
        function : callable
            The function.
        *arguments
            Its arguments.
        returns : int, default=1
            How many values it returns.

        Returns
        -------
        object
            Its value.
        """
        return function(*arguments)

    def get(self, handle: Any) -> Any:
        """Return a value.

        Parameters
        ----------
        handle : object
            The value.

        Returns
        -------
        object
        """
        return handle


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
    tell = running(None, progress)["progress"] or (lambda stage, done, total: None)
    position = {label: at for at, label in enumerate(known)}
    own = [engine.submit(_load, number, position, how, columns, *each) for number, each in enumerate(parts)]
    tell("load", 0, len(own))
    each = [engine.get(handle) for handle in [engine.submit(_parts.summarize, part, len(known)) for part in own]]
    summary = tree(Here(), _parts.add_summaries, each)
    if summary.rows < 2:
        raise ValueError(f"expected 2 instances or more, found {summary.rows}")
    varying = np.flatnonzero(summary.least != summary.most)
    if 0 < len(varying) < len(summary.least):
        warn(f"{len(summary.least) - len(varying)} of {len(summary.least)} features are constant and are left out")
    tell("neighbors", 0, len(own))
    edges, scale = _edges(engine, own, graph, [one.sizes for one in each])
    tell("scatter", 0, len(own))
    total = engine.get(tree(engine, _parts.add_scatters, _scatters(engine, own, edges, graph, scale)))
    _check(total)
    tell("eigen", 0, 1)
    rows = varying.tolist()
    components, values = _bidilel.leading_map(total.degree, total.laplacian, rows, summary.rows, how, running())
    mean = summary.total / summary.rows
    tell("landmarks", 0, len(own))
    sums = [engine.submit(_parts.class_sums, part, len(known), components, components @ mean) for part in own]
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


def tree(engine: Engine, add: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:
    """The sum of values: neighbors are added, then their sums, and so on, in an order that depends on their number only.

    Parameters
    ----------
    engine : Engine
        What adds.
    add : callable
        The sum of two.
    values : sequence of handles
        At least one.

    Returns
    -------
    handle
    """
    row = list(values)
    while len(row) > 1:
        pairs = [engine.submit(add, one, other) for one, other in zip(row[::2], row[1::2])]
        row = pairs + row[len(pairs) * 2 :]
    return row[0]


def _edges(
    engine: Engine, parts: Sequence[Any], graph: _parts.Graph, sizes: Sequence[NDArray[np.int64]]
) -> tuple[list[Any], float]:
    """All edges at the rows of every partition, and the mean length of directed ones."""
    count = len(parts)
    lists: list[Any] = [None] * count

    def put(at: int, found: Any) -> None:
        lists[at] = found if lists[at] is None else engine.submit(_parts.merge, lists[at], found)

    for one in range(count):
        for other in range(one + 1, count):
            # Within classes, partitions without a common class have nothing to tell each other.
            if graph.within_class and not (np.minimum(sizes[one], sizes[other]) > 0).any():
                continue
            found = engine.submit(_parts.candidates, graph, parts[one], parts[other], returns=2)
            put(one, found[0])
            put(other, found[1])
    for one in range(count):
        if lists[one] is None:
            put(one, engine.submit(_alone, graph, parts[one]))
    directed = [engine.submit(_parts.directed, part, own) for part, own in zip(parts, lists)]
    total, edges = engine.get(tree(engine, np.add, [engine.submit(_parts.lengths, own) for own in directed]))
    arriving = [
        [engine.submit(_parts.reversed_edges, other, directed[other], own) for other in range(count)] for own in range(count)
    ]
    both = [engine.submit(_parts.undirected, directed[own], *arriving[own]) for own in range(count)]
    return both, float(total / edges) if total > 0 else 1.0


def _alone(graph: _parts.Graph, part: _parts.Part) -> NDArray[Any]:
    return _parts.candidates(graph, part)[0]


def _scatters(engine: Engine, parts: Sequence[Any], edges: Sequence[Any], graph: _parts.Graph, scale: float) -> list[Any]:
    def one(own: Any, at: Any) -> Any:
        rows = [engine.submit(_parts.needed, at, other) for other in parts]
        return engine.submit(_parts.scatter, own, at, graph, scale, len(parts), *rows)

    return [one(own, at) for own, at in zip(parts, edges)]


def _check(total: _parts.Scatter) -> None:
    if total.edges == 0:
        raise ValueError("no two neighbors share a class, so the neighborhood graph has no edge")
    if total.vanished > (total.edges - 1) // 2:
        warn(
            f"more than half of the graph weights are below {_parts.VANISHED:.0e}, so the graph has no effect: normalize the "
            'features (normalize="l2") or scale the weights to them (weights="heat")'
        )
