"""Descriptions of classes are joined by name, or refused: never by a position that means something else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

from bidilel import ZeroShotClassifier

from conftest import Arrays


@pytest.fixture(scope="module")
def fitted(zoo: Arrays) -> ZeroShotClassifier:
    return ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, semantics=zoo.semantics)


@pytest.mark.parametrize("named", [str, int, float], ids=["names", "numbers", "fractions"])
def test_series_are_joined_by_the_names_of_their_dimensions(
    zoo: Arrays, fitted: ZeroShotClassifier, named: type
) -> None:
    table = zoo.semantics.set_axis([named(10 + i) for i in range(zoo.semantics.shape[1])], axis=1)
    rng = np.random.default_rng(0)
    rows = {label: row if at % 2 else row.iloc[rng.permutation(len(row))] for at, (label, row) in enumerate(table.iterrows())}
    model = clone(fitted).fit(zoo.X, zoo.y, semantics=rows)
    assert np.allclose(model.decision_function(zoo.X_test), fitted.decision_function(zoo.X_test), atol=1e-6)
    last = fitted.unseen_classes_[-1]
    first = next(iter(rows.values())).index[0]
    with pytest.raises(ValueError, match=f"there is no number for the dimension `{first}`"):
        clone(fitted).fit(zoo.X, zoo.y, semantics={**rows, last: rows[last].rename({first: "other"})})


def test_an_index_that_only_counts_is_one_where_it_is_out_of_order(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    counted = zoo.semantics.set_axis(range(zoo.semantics.shape[1]), axis=1)
    rows = {label: row.iloc[::-1] if at == 2 else row for at, (label, row) in enumerate(counted.iterrows())}
    model = clone(fitted).fit(zoo.X, zoo.y, semantics=rows)
    assert np.allclose(model.decision_function(zoo.X_test), fitted.decision_function(zoo.X_test), atol=1e-6)
    mean = counted.iloc[:2].mean()
    one, other = (clone(fitted).fit(zoo.X, zoo.y, semantics=counted).add_class("new", vector) for vector in (mean, mean.iloc[::-1]))
    assert np.array_equal(one.decision_function(zoo.X_test), other.decision_function(zoo.X_test))


def test_distances_of_a_new_class_are_joined_by_numbers_of_classes() -> None:
    centers = np.random.default_rng(0).normal(size=(7, 12))
    y = np.repeat([4, 1, 5], 20)
    X = centers[y] + 0.1 * np.random.default_rng(1).normal(size=(60, 12))
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    models = []
    for order in (np.arange(6), np.arange(6)[::-1]):
        table = pd.DataFrame(apart[:6, :6], index=range(6), columns=range(6)).loc[order]
        model = ZeroShotClassifier(metric="precomputed").fit(X, y, semantics=table)
        models.append(model.add_class(6, pd.Series(apart[6, :6], index=range(6))))
    scores = [model.decision_function(centers) for model in models]
    assert np.allclose(*scores, atol=1e-6)


@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_tables_without_an_index_take_the_names_of_classes_beside_them(
    zoo: Arrays, fitted: ZeroShotClassifier, kind: str
) -> None:
    named = zoo.semantics.set_axis([f"a{i}" for i in range(zoo.semantics.shape[1])], axis=1)
    columns = {name: named[name].to_numpy() for name in named}
    table = pl.DataFrame(columns) if kind == "polars" else pa.table(columns)
    model = clone(fitted).fit(zoo.X, zoo.y, semantics=table, classes=list(named.index))
    assert np.array_equal(model.decision_function(zoo.X_test), fitted.decision_function(zoo.X_test))
    assert model.model_.header["semantic"][0]["names"] == list(named.columns)
    with pytest.raises(ValueError, match="semantics is a table without an index: name the class of every row"):
        clone(fitted).fit(zoo.X, zoo.y, semantics=table)


def test_forms_that_are_none_are_refused_in_clear_words(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    table = zoo.semantics
    for words, arguments in {
        "is a dict of single numbers: give one vector per class": dict(semantics=table.to_dict("index")),
        "expected a dense array, found a sparse one": dict(
            semantics=sparse.csr_matrix(table.to_numpy()), classes=list(table.index)
        ),
    }.items():
        with pytest.raises(ValueError, match=words):
            clone(fitted).fit(zoo.X, zoo.y, **arguments)
    with pytest.raises(ValueError, match="X: expected a dense array, found a sparse one: use toarray"):
        fitted.model_.predict(sparse.csr_matrix(zoo.X_test))
    with pytest.raises(ValueError, match="expected a dense array, found a sparse one"):
        fitted.model_.add_class("new", sparse.csr_matrix(table.to_numpy()[:1]))
