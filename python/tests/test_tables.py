"""Columns of tables and dimensions of descriptions are joined by their names, whatever the table."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bidilel import SLPP, Model, Sammon, ZeroShotClassifier

from conftest import Arrays

TABLES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns),
    "arrow": pa.table,
    "batch": lambda columns: pa.table(columns).combine_chunks().to_batches()[0],
}


def columns(X: np.ndarray, reverse: bool = False) -> dict[str, np.ndarray]:
    """Features by name."""
    order = range(X.shape[1])
    return {f"f{i}": np.ascontiguousarray(X[:, i]) for i in (reversed(order) if reverse else order)}


@pytest.fixture(scope="module")
def plain(zoo: Arrays) -> ZeroShotClassifier:
    return ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, semantics=zoo.semantics)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_names_of_columns_are_known_and_their_order_is_checked(zoo: Arrays, plain: ZeroShotClassifier, kind: str) -> None:
    table = TABLES[kind]
    names = list(columns(zoo.X))
    model = ZeroShotClassifier(dim=10).fit(table(columns(zoo.X)), zoo.y, semantics=zoo.semantics)
    assert model.feature_names_in_.tolist() == names
    assert model.model_.header["visual"][0]["columns"] == names
    assert np.array_equal(model.decision_function(table(columns(zoo.X_test))), plain.decision_function(zoo.X_test))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table(columns(zoo.X_test, reverse=True)))
    assert SLPP(dim=3).fit(table(columns(zoo.X)), zoo.y).feature_names_in_.tolist() == names
    assert Sammon().fit(table(columns(zoo.X_test))).feature_names_in_.tolist() == names


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_model_takes_its_columns_from_a_table_as_the_program_does(zoo: Arrays, plain: ZeroShotClassifier, kind: str) -> None:
    table, expected = TABLES[kind], plain.model_.scores(zoo.X_test)
    named = ZeroShotClassifier(dim=10).fit(pd.DataFrame(columns(zoo.X)), zoo.y, semantics=zoo.semantics)
    model = Model.from_bytes(named.model_.to_bytes())
    more = {"id": np.arange(len(zoo.X_test)), **columns(zoo.X_test, reverse=True)}
    assert np.array_equal(model.scores(table(more)), expected)
    assert np.array_equal(model.scores(zoo.X_test), expected)
    assert np.array_equal(plain.model_.scores(table(columns(zoo.X_test))), expected), "no names, no order but their own"
    assert np.array_equal(model.scores(pa.table({"features": list(zoo.X_test)})), expected), "lists have no names"
    del more["f3"]
    with pytest.raises(ValueError, match="X has no column `f3`"):
        model.predict(table(more))


def test_one_column_of_lists_has_no_names(zoo: Arrays, plain: ZeroShotClassifier) -> None:
    kinds: list[Any] = [pl.Array(pl.Float32, zoo.X.shape[1]), pl.List(pl.Float32)]
    tables = [pl.DataFrame({"features": pl.Series(zoo.X.tolist(), dtype=kind)}) for kind in kinds]
    for table in [*tables, tables[1].to_arrow(), tables[1].to_series(), tables[1].to_arrow()["features"]]:
        model = ZeroShotClassifier(dim=10).fit(table, zoo.y, semantics=zoo.semantics)
        assert model.model_.to_bytes() == plain.model_.to_bytes()
    with pytest.raises(ValueError, match="expected 2 numbers in row 1, found 1"):
        plain.predict(pa.table({"features": [[1.0, 2.0], [3.0]]}))
    with pytest.raises(ValueError, match="1 of 2 rows are null"):
        plain.predict(pa.array([[1.0, 2.0], None]))


@pytest.mark.parametrize("kind", TABLES)
def test_numbers_that_are_missing_are_named(zoo: Arrays, plain: ZeroShotClassifier, kind: str) -> None:
    missing: dict[str, Any] = {name: values.tolist() for name, values in columns(zoo.X_test).items()}
    missing["f2"][3] = None
    with pytest.raises(ValueError, match="X: row 3, column 2 is NaN"):
        plain.model_.predict(TABLES[kind](missing))


def test_vectors_that_name_their_dimensions_are_joined_by_these(zoo: Arrays, plain: ZeroShotClassifier) -> None:
    vectors = {name: row.iloc[::-1] if at % 3 == 1 else row for at, (name, row) in enumerate(zoo.semantics.iterrows())}
    model = ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, semantics=vectors)
    assert model.model_.to_bytes() == ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, zoo.semantics).model_.to_bytes()
    series = pd.Series(vectors)
    assert ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, semantics=series).model_.to_bytes() == model.model_.to_bytes()
    first, dimension = zoo.semantics.index[1], zoo.semantics.columns[0]
    for change, words in {
        lambda row: row.rename({dimension: "wheels"}): f"class `{first}`.*no number for the dimension `{dimension}`",
        lambda row: row.drop(dimension): "expected 40 numbers",
    }.items():
        with pytest.raises(ValueError, match=words):
            ZeroShotClassifier().fit(zoo.X, zoo.y, semantics={**vectors, first: change(zoo.semantics.loc[first])})


def test_a_class_that_is_added_is_joined_by_name(zoo: Arrays, plain: ZeroShotClassifier) -> None:
    vector = zoo.semantics.iloc[:2].mean()
    expected = copy.deepcopy(plain).add_class("unicorn", vector.to_numpy()).decision_function(zoo.X_test)
    for form in (vector, vector.iloc[::-1], {"semantics": vector.iloc[::-1]}):
        assert np.array_equal(copy.deepcopy(plain).add_class("unicorn", form).decision_function(zoo.X_test), expected)
    with pytest.raises(ValueError, match="no number for the dimension"):
        copy.deepcopy(plain).add_class("unicorn", vector.rename({zoo.semantics.columns[0]: "wheels"}))


def test_distances_are_joined_by_the_names_of_both_classes(zoo: Arrays) -> None:
    unit = zoo.semantics.to_numpy() / np.linalg.norm(zoo.semantics.to_numpy(), axis=1, keepdims=True)
    names = zoo.semantics.index
    table = pd.DataFrame(np.linalg.norm(unit[:, None] - unit[None], axis=2), index=names, columns=names)
    fit = lambda table: ZeroShotClassifier(dim=10, metric="precomputed").fit(zoo.X, zoo.y, semantics=table)
    expected = fit(table).decision_function(zoo.X_test)
    numbered = table.set_axis(range(len(names)), axis=1)
    for form in (table[names[::-1]], numbered):
        assert np.array_equal(fit(form).decision_function(zoo.X_test), expected)
    with pytest.raises(ValueError, match="one row and one column per class"):
        fit(table.rename(columns={names[0]: "wheels"}))
    distances = table.iloc[0] + 0.1
    grown = fit(table).add_class("unicorn", distances).decision_function(zoo.X_test)
    assert np.array_equal(fit(table).add_class("unicorn", distances.iloc[::-1]).decision_function(zoo.X_test), grown)
