"""Tables of Arrow through a model: the rows, in their order, with the labels of the model."""

from __future__ import annotations

import datetime
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import bidilel
from bidilel.arrow import Recognizer, matrix

from conftest import Arrays


@pytest.fixture(scope="module")
def model(zoo: Arrays) -> bidilel.Model:
    return bidilel.ZeroShotClassifier().fit(zoo.X, zoo.y, zoo.semantics).model_


def columns(X: np.ndarray) -> dict[str, pa.Array]:
    flat = pa.array(X.ravel())
    offsets = pa.array(np.arange(0, X.size + 1, X.shape[1], dtype=np.int32))
    return {"fixed": pa.FixedSizeListArray.from_arrays(flat, X.shape[1]), "lists": pa.ListArray.from_arrays(offsets, flat)}


@pytest.mark.parametrize("kind", ["fixed", "lists", "columns", "sliced", "pieces"])
def test_every_form_of_features_gives_the_labels_of_the_model(model: bidilel.Model, zoo: Arrays, kind: str) -> None:
    X = np.ascontiguousarray(zoo.X_test, dtype=np.float32)
    own, ids = columns(X), np.arange(len(X)) * 3
    features: str | list[str] = "x"
    table = pa.table({"x": own.get(kind, own["fixed"]), "id": ids})
    if kind == "columns":
        features = [f"x{i}" for i in range(X.shape[1])]
        table = pa.table({**{name: X[:, i] for i, name in enumerate(features)}, "id": ids})
    if kind == "sliced":
        table, X, ids = table.slice(2, 5), X[2:7], ids[2:7]
    if kind == "pieces":
        table = pa.concat_tables([table.slice(0, 4), table.slice(4)])
    found = Recognizer(model, features=features)(table)
    assert found.column_names == ["id", "label", "distance"]
    assert found["id"].to_pylist() == ids.tolist()
    assert found["label"].to_pylist() == model.predict(X).tolist()


def test_columns_are_joined_by_the_names_that_the_model_knows(zoo: Arrays) -> None:
    names = [f"x{i}" for i in range(zoo.X.shape[1])]
    model = bidilel.ZeroShotClassifier().fit(pd.DataFrame(zoo.X, columns=names), zoo.y, zoo.semantics).model_
    assert model.columns == names
    table = pa.table({name: zoo.X_test[:, i] for i, name in enumerate(names)})
    expected = Recognizer(model, features=names)(table)
    assert expected["label"].to_pylist() == model.predict(zoo.X_test).tolist()
    assert Recognizer(model, features=names[::-1])(table).equals(expected)
    for wrong, words in {
        "one less": (names[1:], "expected the 128 columns that the model was fitted to: `x0` is not among features"),
        "another": ([*names, "id"], "`id` is not among the features of the model"),
        "twice": ([*names, "x5"], "expected 128 columns, found 129: one is given twice"),
    }.values():
        with pytest.raises(ValueError, match=words):
            Recognizer(model, features=wrong)(table)


def test_batches_ids_candidates_and_files(model: bidilel.Model, zoo: Arrays, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    table = pa.table({"id": np.arange(len(zoo.X_test)), "more": ["a"] * len(zoo.X_test), "features": list(zoo.X_test)})
    recognizer = pickle.loads(pickle.dumps(Recognizer(tmp_path / "model", keep=["id"], candidates="known")))
    found = pa.Table.from_batches(list(recognizer.batches(table.to_batches(max_chunksize=7))))
    assert found.column_names == ["id", "label", "distance"]
    assert found["label"].to_pylist() == model.predict(zoo.X_test, candidates="known").tolist()
    assert Recognizer(model.to_bytes())(table.slice(0, 0)).num_rows == 0


def test_tables_without_such_features_are_refused() -> None:
    table = pa.table({"a": [[1.0, 2.0], [3.0]], "b": [1, 2], "c": [[1.0], None], "d": [[1.0], [None]]})
    for name, message in [("a", "expected 2 numbers in row 1, found 1"), ("b", "expected lists"), ("e", "no column `e`")]:
        with pytest.raises(ValueError, match=message):
            matrix(table, name)
    for name in "cd":
        with pytest.raises(ValueError, match="null"):
            matrix(table, name)


@pytest.mark.parametrize(
    "values", [["1", "2"], [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], [datetime.timedelta(1), datetime.timedelta(2)]]
)
def test_what_is_no_number_is_refused(values: list[object]) -> None:
    """NumPy would make numbers of strings of digits and of dates."""
    table = pa.table({"a": values, "b": [0.5, 1.5], "c": [[value] for value in values]})
    for features, words in {("a", "b"): "column `a`: expected numbers, found", ("a",): "column `a`: expected numbers, found"}.items():
        with pytest.raises(ValueError, match=words):
            matrix(table, features)
    with pytest.raises(ValueError, match="column `c`: expected lists of numbers, found list<"):
        matrix(table, "c")


def test_integers_decimals_and_booleans_are_numbers() -> None:
    table = pa.table({"a": [1, 2], "b": [True, False], "c": pa.array([1, 2], pa.decimal128(5, 1)), "d": pa.array([1, 2], pa.float16())})
    assert matrix(table, ["a", "b", "c", "d"]).tolist() == [[1, 1, 1, 1], [2, 0, 2, 2]]
    assert matrix(pa.table({"x": [[True, False]]}), "x").tolist() == [[1, 0]]


def test_a_table_that_has_labels_already_gets_no_second_column_of_them(model: bidilel.Model, zoo: Arrays) -> None:
    table = pa.table({"id": np.arange(3), "label": ["a"] * 3, "features": list(zoo.X_test[:3])})
    with pytest.raises(ValueError, match="the table has a column `label` already"):
        Recognizer(model)(table)
    assert Recognizer(model, keep=["id"])(table).column_names == ["id", "label", "distance"]


def test_without_ray_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['ray'] = None\nimport bidilel.ray"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.returncode != 0 and "pip install './python[ray]'" in found.stderr
