"""What users give, as the arrays that the compiled half takes: features, labels, descriptions of classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._columns import column_names, plain

#: One semantic representation: name, metric, classes x dimensions, names of the dimensions.
Representation = tuple[str, str, "NDArray[np.float64]", "list[str] | None"]

#: The name of a semantic representation that was given without one.
SEMANTICS = "semantics"


def native(X: NDArray[Any]) -> NDArray[Any]:
    """The array with elements that the compiled half reads; contiguous ``float32`` and most others are as they are."""
    if X.dtype == np.bool_:
        return X.view(np.uint8)
    if X.dtype.byteorder not in "=|" and not X.dtype.isnative:
        X = X.astype(X.dtype.newbyteorder("="))
    if X.dtype.kind not in "fiu" or X.dtype.itemsize > 8:
        X = X.astype(np.float64)
    # A field of a packed structured array may be anywhere.
    return X if X.flags.aligned else X.copy()


def check_width(X: NDArray[Any], normalize: str | None) -> None:
    """Refuse one feature where instances get unit norm."""
    if X.shape[1] == 1 and normalize != "none":
        raise ValueError(
            "found n_features = 1: instances are normalized to unit norm, which leaves nothing of one feature but its "
            'sign; use normalize="none"'
        )


def features(X: Any, count: int | None = None) -> NDArray[Any]:
    """Feature rows of an array or table, for what is no estimator."""
    refuse_sparse(X, "X")
    array = np.asarray(plain(X))
    if array.ndim != 2:
        raise ValueError(f"expected feature rows in 2 dimensions, found {array.ndim}: reshape one row to (1, -1)")
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"expected features that are real numbers, found {array.dtype}")
    if count is not None and array.shape[1] != count:
        raise ValueError(f"X: expected {count} dimensions, as in the training features, found {array.shape[1]}")
    return native(array)


def refuse_sparse(values: Any, what: str) -> None:
    """Sparse matrices, which NumPy takes for one object."""
    if hasattr(values, "tocsr"):
        raise ValueError(f"{what}: expected a dense array, found a sparse one: use toarray()")


def classes_of(y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes of instances, sorted, and the place of every instance's class among them."""
    y = np.asarray(y)
    try:
        return np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(one).__name__ for one in y.tolist()})
        raise ValueError(f"y: expected classes of one type that can be sorted, found {', '.join(kinds)}") from error


def undescribed(label: Any, described: Sequence[Any]) -> str:
    """What is said of a class that has instances and no description."""
    alike = next((other for other in described if str(other) == str(label)), None)
    hint = "" if alike is None else f": there it is of type {type(alike).__name__}, in y of type {type(label).__name__}"
    return f"class `{label}` has instances, but no description in semantics{hint}"


class Described(NamedTuple):
    """Classes in the order of their descriptions."""

    labels: list[Any]
    representations: list[Representation]


def descriptions(
    semantics: Any, classes: Sequence[Any] | None, metric: str | Mapping[str, str], names: Sequence[str] | None = None
) -> Described:
    """Descriptions of classes in any of the forms that ``fit`` takes."""
    if hasattr(semantics, "index") and hasattr(semantics, "items") and not hasattr(semantics, "columns"):
        # A Series of vectors
        semantics = dict(semantics.items())
    if isinstance(semantics, Mapping) and semantics and all(map(_is_by_class, semantics.values())):
        for name, value in semantics.items():
            _refuse_records(str(name), value)
        parts = {str(name): _by_class(value, str(name)) for name, value in semantics.items()}
    else:
        tables = [key for key, one in semantics.items() if _is_by_class(one)] if isinstance(semantics, Mapping) else []
        if tables:
            raise ValueError(f"semantics: `{tables[0]}` is a representation by class, and other entries are not")
        parts = {SEMANTICS: _one(semantics, classes)}
    odd = [name for name in metric if name not in parts] if isinstance(metric, Mapping) else []
    if odd:
        raise ValueError(f"metric names `{odd[0]}`, which is no representation: there is {', '.join(parts)}")
    first = next(iter(parts.values()))[0]
    representations = []
    for name, (labels, values, dimensions) in parts.items():
        if set(labels) != set(first):
            odd = next(iter(set(labels) ^ set(first)))
            raise ValueError(f"class `{odd}` is described in some representations and not in all of them")
        order = {label: row for row, label in enumerate(labels)}
        rows = [order[label] for label in first]
        values = values[rows]
        own = metric if isinstance(metric, str) else metric.get(name, "euclidean")
        if own == "precomputed":
            values, dimensions = values[:, _columns_of(name, labels, values, dimensions)][:, rows], None
        representations.append((name, own, np.ascontiguousarray(values), dimensions))
    return Described(first, representations)


def _columns_of(
    name: str, labels: list[Any], values: NDArray[np.float64], columns: list[str] | None
) -> Sequence[int] | NDArray[np.intp]:
    """The column of every class in a matrix of distances: by name where columns have names of classes."""
    own = [str(label) for label in labels]
    if columns is None or not set(columns) & set(own):
        return range(values.shape[1])
    if sorted(columns) != sorted(own):
        odd = next(iter(set(columns) ^ set(own)), "twice")
        raise ValueError(f"semantics `{name}`: distances need one row and one column per class, which `{odd}` lacks")
    return np.array([columns.index(label) for label in own], dtype=np.intp)


def _is_by_class(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "index") and hasattr(value, "columns")


def _refuse_records(name: str, value: Any) -> None:
    """A dict of numbers is a row of ``DataFrame.to_dict("index")``: a class, where representations are expected."""
    if isinstance(value, Mapping) and value and all(np.ndim(one) == 0 for one in value.values()):
        raise ValueError(
            f"semantics: `{name}` is a dict of single numbers: give one vector per class, such as by "
            'pandas.DataFrame.from_dict(semantics, orient="index")'
        )


def _one(semantics: Any, classes: Sequence[Any] | None) -> tuple[list[Any], NDArray[np.float64], list[str] | None]:
    if _is_by_class(semantics):
        if classes is not None:
            raise ValueError("classes names the rows of an array: leave it out where semantics are by class")
        return _by_class(semantics, SEMANTICS)
    dimensions = column_names(semantics)
    if classes is None:
        what = "an array" if dimensions is None else "a table without an index"
        raise ValueError(f"semantics is {what}: name the class of every row with classes=")
    values = _numbers(plain(semantics) if dimensions is None else _table(semantics, dimensions), SEMANTICS)
    labels = list(np.asarray(classes).tolist())
    if len(labels) != len(values):
        raise ValueError(f"semantics: expected {len(labels)} rows (one per class), found {len(values)}")
    return _unique(labels), values, dimensions if dimensions is not None and len(dimensions) == values.shape[1] else None


def _table(table: Any, names: Sequence[str]) -> ArrayLike:
    """The numbers of a table of Arrow or Polars, which has a column per dimension or one of vectors."""
    found = plain(table)
    return found if isinstance(found, np.ndarray) else np.column_stack([np.asarray(found[name]) for name in names])


def _by_class(value: Any, name: str) -> tuple[list[Any], NDArray[np.float64], list[str] | None]:
    if isinstance(value, Mapping):
        lengths = {label: np.size(vector) for label, vector in value.items()}
        first = next(iter(lengths.values()), 0)
        for label, length in lengths.items():
            if length != first:
                raise ValueError(f"class `{label}`: expected {first} numbers for `{name}`, found {length}")
        labels = list(value)
        vectors, dimensions = _aligned(value, name)
        return _unique(labels), _numbers(vectors, name), dimensions
    # A DataFrame: one row per class.
    return _unique(list(value.index)), _numbers(value.to_numpy(), name), [str(column) for column in value.columns]


def _aligned(vectors: Mapping[Any, Any], name: str) -> tuple[list[NDArray[Any]], list[str] | None]:
    """Vectors of classes in one order of dimensions, where Series name these, and the names."""
    indices = [own for own in map(index_of, vectors.values()) if own is not None]
    if not indices:
        return [np.ravel(vector) for vector in vectors.values()], None
    dimensions = next((own for own in indices if not _counts(own)), indices[0])
    aligned = [by_name(vector, dimensions, f"class `{label}`, `{name}`") for label, vector in vectors.items()]
    return aligned, dimensions


def index_of(vector: Any) -> list[str] | None:
    """The names of the dimensions of a Series, which may be numbers; none of other vectors."""
    index = getattr(vector, "index", None)
    # A list has a method of that name.
    return None if index is None or callable(index) else [str(one) for one in index]


def _counts(index: Sequence[str]) -> bool:
    """Whether an index only counts, as that of a Series does which was given none."""
    return all(one == str(at) for at, one in enumerate(index))


def by_name(vector: Any, dimensions: Sequence[str], what: str) -> NDArray[Any]:
    """The numbers of a vector in the order of these dimensions, where it names its own."""
    own, values = index_of(vector), np.ravel(vector)
    if own is None or own == list(dimensions) or _counts(own) and set(own) != set(dimensions):
        return values
    places = {one: at for at, one in enumerate(own)}
    odd = next((one for one in dimensions if one not in places), None)
    if odd is not None:
        raise ValueError(f"{what}: there is no number for the dimension `{odd}`")
    if len(own) != len(dimensions):
        odd = next((one for one in own if one not in set(dimensions)), "given twice")
        raise ValueError(f"{what}: expected {len(dimensions)} dimensions, found {len(own)}: `{odd}`")
    return values[[places[one] for one in dimensions]]


def _numbers(values: Any, name: str) -> NDArray[np.float64]:
    refuse_sparse(values, f"semantics `{name}`")
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"semantics `{name}`: expected numbers: {error}") from error
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"semantics `{name}`: expected classes x dimensions, found shape {array.shape}")
    return array


def _unique(labels: list[Any]) -> list[Any]:
    labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
    seen = set()
    for label in labels:
        if label in seen:
            raise ValueError(f"class `{label}` is given twice")
        seen.add(label)
    return labels


def names_of(labels: Iterable[Any]) -> list[str]:
    """Names of classes, as model files have them."""
    names = [str(label) for label in labels]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two classes have the name `{twice}`")
    return names


def array_of(labels: Sequence[Any], like: NDArray[Any] | None = None) -> NDArray[Any]:
    """Labels as an array; of the type of ``like`` where that holds all of them, else of a wider one."""
    array = np.asarray(labels)
    if array.ndim != 1 or len({type(label) for label in labels}) > 1:
        array = np.empty(len(labels), dtype=object)
        array[:] = list(labels)
    if like is not None and like.dtype != array.dtype and like.dtype.kind == array.dtype.kind != "U":
        with np.errstate(over="ignore"):
            narrow = array.astype(like.dtype)
        # A cast wraps what it cannot hold: 200 would be the class -56.
        array = narrow if np.array_equal(narrow, array) else array
    return array
