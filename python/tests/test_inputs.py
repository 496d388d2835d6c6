"""Arrays and tables of any kind, and what is refused in which words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import bidilel
from bidilel import ZeroShotClassifier

from conftest import Arrays


@pytest.fixture(scope="module")
def fitted(zoo: Arrays) -> ZeroShotClassifier:
    return ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, semantics=zoo.semantics)


def test_every_container_gives_the_same(zoo: Arrays, fitted: ZeroShotClassifier, tmp_path: Path) -> None:
    X = zoo.X_test
    expected = fitted.decision_function(X)
    np.save(tmp_path / "x.npy", X)
    columns = [f"f{i}" for i in range(X.shape[1])]
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    forms = {
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "reversed": X[::-1, ::-1].copy()[::-1, ::-1],
        "big endian": X.astype(">f4"),
        "float64": X.astype(np.float64),
        "memory-mapped": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "list": X.tolist(),
        "object": X.astype(object),
        "arrow lists": pa.table({"features": lists}),
        "arrow array": lists,
        "polars array": pl.DataFrame({"features": pl.Series(X.tolist(), dtype=pl.Array(pl.Float32, X.shape[1]))}),
    }
    for name, form in forms.items():
        assert np.array_equal(fitted.decision_function(form), expected), name
        assert np.array_equal(fitted.model_.scores(form), expected[:, np.argsort(fitted.unseen_classes_).argsort()]), name
    named = ZeroShotClassifier(dim=10).fit(pd.DataFrame(zoo.X, columns=columns), zoo.y, semantics=zoo.semantics)
    for name, table in {
        "pandas": pd.DataFrame(X, columns=columns),
        "polars": pl.DataFrame(X, schema=columns),
    }.items():
        assert np.array_equal(named.decision_function(table), expected), name


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
def test_fields_of_packed_records_are_read(kind: str) -> None:
    rng = np.random.default_rng(0)
    records = np.zeros(40, dtype=np.dtype([("flag", "u1"), ("x", kind, 8)]))
    records["x"] = rng.integers(0, 9, size=(40, 8))
    X, y = records["x"], np.repeat(["a", "b"], 20)
    assert not X.flags.aligned
    plain = X.copy()
    found, expected = ZeroShotClassifier().fit(X, y), ZeroShotClassifier().fit(plain, y)
    assert np.array_equal(found.decision_function(X), expected.decision_function(plain))
    assert np.array_equal(found.model_.scores(X), expected.model_.scores(plain))
    assert np.array_equal(bidilel.SLPP(dim=3).fit_transform(X, y), bidilel.SLPP(dim=3).fit_transform(plain, y))
    if kind == "f8":
        square = np.zeros(8, dtype=np.dtype([("flag", "u1"), ("x", "f8", 8)]))
        square["x"] = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
        assert bidilel.Sammon(metric="precomputed").fit(square["x"]).stress_ < 1e-6


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
def test_every_type_of_number_is_read(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 8)).astype(kind)
    y = np.repeat(["a", "b"], 20)
    expected = ZeroShotClassifier().fit(X.astype(np.float32), y).decision_function(X.astype(np.float32))
    assert np.array_equal(ZeroShotClassifier().fit(X, y).decision_function(X), expected)


def test_rows_of_float32_are_not_copied() -> None:
    """Python's allocator counts NumPy's memory: a fit and a prediction take none of the size of X from it."""
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(500, 4000)).astype(np.float32)
    y = np.arange(500) % 10
    tracemalloc.start()
    model = ZeroShotClassifier(bottom_up="none").fit(X, y)
    _, fit_peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    model.predict(X)
    _, predict_peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fit_peak < X.nbytes / 4 and predict_peak < X.nbytes / 4, (fit_peak, predict_peak, X.nbytes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: _with(X, 3, 5, np.nan), "X: row 3, column 5 is NaN"),
        (lambda X: _with(X, 2, 1, np.inf), "X: row 2, column 1 is inf"),
        (lambda X: _with(X.astype(float), 2, 1, 1e39), "X: row 2, column 1 is 1e39, beyond the range of float32"),
        (lambda X: X[:, :7], "7 features"),
        (lambda X: X[0], "1D array"),
        (lambda X: sparse.csr_matrix(X), "[Ss]parse"),
        (lambda X: X.astype(complex), "[Cc]omplex"),
        (lambda X: X.astype(str), "[Cc]onvert"),
    ],
)
def test_what_cannot_be_used_is_refused_in_clear_words(
    zoo: Arrays, fitted: ZeroShotClassifier, change: object, words: str
) -> None:
    X = change(zoo.X_test)  # type: ignore[operator]
    with pytest.raises((ValueError, TypeError), match=words.replace("(", r"\(")):
        fitted.predict(X)


@pytest.mark.parametrize("answer", ["fit", "predict", "decision_function", "transform", "refine", "explain"])
@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [("f4", np.nan, "X: row 300, column 5 is NaN"), ("f8", 1e39, "X: row 300, column 5 is 1e39, beyond the range of float32")],
)
def test_every_answer_names_the_row_and_the_number_that_were_given(
    zoo: Arrays, fitted: ZeroShotClassifier, answer: str, kind: str, value: float, words: str
) -> None:
    """Rows are read in blocks: the row 300 is in the second of those of `explain`, and has its number there, too."""
    rows = np.resize(np.arange(len(zoo.X)), 400)
    X = _with(zoo.X[rows].astype(kind), 300, 5, value)
    model = ZeroShotClassifier(dim=10) if answer == "fit" else fitted
    with warnings.catch_warnings(), pytest.raises(ValueError, match=words):
        warnings.simplefilter("ignore")
        model.fit(X, zoo.y[rows]) if answer == "fit" else getattr(model, answer)(X)


def _with(X: np.ndarray, row: int, column: int, value: float) -> np.ndarray:
    X = X.copy()
    X[row, column] = value
    return X


def test_semantics_that_cannot_be_used_are_refused_in_clear_words(zoo: Arrays) -> None:
    table = zoo.semantics
    first = zoo.y[0]
    broken = table.copy()
    broken.iloc[0, 0] = np.nan
    zero = table.copy()
    zero.iloc[1] = 0.0
    vectors = {name: row.to_numpy() for name, row in table.iterrows()}
    for words, arguments in {
        f"class `{first}` has instances, but no description": dict(semantics=table.drop(index=first)),
        "name the class of every row": dict(semantics=table.to_numpy()),
        "expected 24 rows": dict(semantics=table.to_numpy(), classes=list(table.index[:-1])),
        "is given twice": dict(semantics=pd.concat([table, table.iloc[:1]])),
        "semantics `semantics`: row 0, column 0 is NaN": dict(semantics=broken),
        "is all zero|zero": dict(semantics=zero),
        "other entries are not": dict(semantics={"a": table, "b": table.to_numpy()}),
        "expected 40 numbers": dict(semantics={**vectors, table.index[3]: [1.0, 2.0]}),
        "which are not given": dict(classes=list(table.index)),
        "in some representations": dict(semantics={"a": table, "b": table.iloc[1:]}),
    }.items():
        with pytest.raises(ValueError, match=words):
            ZeroShotClassifier().fit(zoo.X, zoo.y, **arguments)
    with pytest.raises(ValueError, match="metric names `vectors`, which is no representation: there is a, b"):
        ZeroShotClassifier(metric={"vectors": "cosine"}).fit(zoo.X, zoo.y, semantics={"a": table, "b": table})


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"dim": 10_000}, "dim must be between 1 and 128"),
        ({"neighbors": 0}, "neighbors must be at least 1"),
        ({"method": "eszls"}, "eszsl"),
        ({"bottom_up": "slp"}, "slpp"),
        ({"post": "selftraining"}, "self-training"),
        ({"metric": "manhattan"}, "metric must be euclidean, cosine or precomputed, found manhattan"),
        ({"candidates": "seen"}, "candidates must be one of unseen, known, all"),
        ({"settings": {"alfa": 1}}, "alfa"),
        ({"alpha": 1.0, "settings": {"alpha": 2.0}}, "alpha is given twice"),
        ({"method": "sync", "settings": {"method": "eszsl"}}, "method is given twice"),
        ({"settings": {"dimm": 5}}, "there is no setting `dimm`: did you mean `dim`"),
        ({"settings": {"visual": ["cnn", "motion"]}}, "visual must be one representation, that of X, found cnn, motion"),
        ({"settings": {"semantic": ["attributes", "words"]}}, "semantic must be semantics, as semantics has it"),
        ({"settings": [1]}, "settings must be a dict"),
        ({"alpha": float("nan")}, "alpha must be a finite number, found nan"),
        ({"alpha": "x"}, "alpha must be a number, found x"),
        ({"neighbors": 2.5}, "neighbors must be a whole number of at least 0, found 2.5"),
        ({"weights": "x"}, "weights must be one of exp, heat, binary, found x"),
        ({"keep_instances": -1}, "keep_instances must be at least 1, found -1"),
        ({"keep_instances": 1.5}, "keep_instances must be a whole number, found 1.5"),
        ({"calibrate": 0}, "calibrate must be at least 1, found 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"random_state": 2**64}, "random_state must be"),
        ({"random_state": "x"}, "random_state must be"),
        ({"progress": 3}, "progress must be"),
        ({"method": "eszsl", "keep_instances": 2}, "has no latent space"),
    ],
)
def test_parameters_out_of_their_range_are_refused(zoo: Arrays, parameters: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ZeroShotClassifier(**parameters).fit(zoo.X, zoo.y, semantics=zoo.semantics)


def test_without_descriptions_some_methods_and_candidates_make_no_sense(zoo: Arrays) -> None:
    with pytest.raises(ValueError, match="method must be bidilel without descriptions"):
        ZeroShotClassifier("eszsl").fit(zoo.X, zoo.y)
    model = ZeroShotClassifier().fit(zoo.X, zoo.y)
    assert model.score(zoo.X, zoo.y) > 0.9
    with pytest.raises(ValueError, match="candidates must be known or all where no class is unseen"):
        ZeroShotClassifier(candidates="unseen").fit(zoo.X, zoo.y)
    with pytest.raises(ValueError, match="fitted without descriptions"):
        model.add_class("unicorn", [])


def test_labels_that_do_not_match_are_refused_in_clear_words(zoo: Arrays) -> None:
    codes = np.unique(zoo.y, return_inverse=True)[1]
    described = {str(code): row for code, row in enumerate(zoo.semantics.to_numpy())}
    with pytest.raises(ValueError, match="class `0` has instances, but no description in semantics: there it is of type str"):
        ZeroShotClassifier().fit(zoo.X, codes, semantics=described)
    mixed = np.where(codes == 3, None, zoo.y)
    for estimator in (ZeroShotClassifier(), bidilel.SLPP()):
        with pytest.raises(ValueError, match="y: expected classes of one type.*found NoneType, str"):
            estimator.fit(zoo.X, mixed)
    with pytest.raises(ValueError, match="folds of classes need y"):
        list(bidilel.ClassFolds().split(zoo.X, None))
    with pytest.raises(ValueError, match="n_splits must be at least 1, found 0"):
        list(bidilel.ClassFolds(0).split(zoo.X, zoo.y))


def test_what_is_not_fitted_says_so() -> None:
    for name in "classes_ known_classes_ unseen_classes_ class_embedding_ stress_ temperature_".split():
        with pytest.raises(NotFittedError):
            getattr(ZeroShotClassifier(), name)
    for name in "components_ mean_ landmarks_".split():
        with pytest.raises(NotFittedError):
            getattr(bidilel.SLPP(), name)
    for estimator in (bidilel.SLPP(), bidilel.LPP(), bidilel.LandmarkSammon(), ZeroShotClassifier()):
        with pytest.raises(NotFittedError):
            estimator.transform([[0.0, 1.0]])


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing.model"):
        bidilel.Model.load(tmp_path / "nothing.model")
    (tmp_path / "text.model").write_text("text")
    with pytest.raises(ValueError, match="not a usable model"):
        bidilel.Model.load(tmp_path / "text.model")
    with pytest.raises(FileNotFoundError):
        bidilel.open(tmp_path / "nowhere")
