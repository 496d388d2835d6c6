"""The classifier: forms of semantics, candidates, classes that come and go, the manners of scikit-learn."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from bidilel import ClassFolds, Model, ZeroShotClassifier

from conftest import Arrays


@pytest.fixture(scope="module")
def fitted(zoo: Arrays) -> ZeroShotClassifier:
    return ZeroShotClassifier(dim=20).fit(zoo.X, zoo.y, semantics=zoo.semantics)


def test_unseen_classes_are_those_that_y_lacks(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    assert set(fitted.known_classes_) == set(zoo.y)
    assert set(fitted.unseen_classes_) == set(zoo.semantics.index) - set(zoo.y)
    assert set(fitted.predict(zoo.X_test)) <= set(fitted.unseen_classes_)
    assert fitted.score(zoo.X_test, zoo.y_test) > 0.4


def test_semantics_may_have_any_form(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    expected = fitted.decision_function(zoo.X_test)
    table = zoo.semantics
    forms = [
        dict(semantics={name: row.to_numpy() for name, row in table.iterrows()}),
        dict(semantics=table.to_numpy(), classes=list(table.index)),
        dict(semantics={"attributes": table}),
        dict(semantics=table.rename(columns=str)),
    ]
    for form in forms:
        again = clone(fitted).fit(zoo.X, zoo.y, **form)
        assert np.array_equal(again.decision_function(zoo.X_test), expected)
    shuffled = clone(fitted).fit(zoo.X, zoo.y, semantics=table.sample(frac=1, random_state=0))
    assert np.array_equal(shuffled.classes_, fitted.classes_)
    assert np.allclose(shuffled.decision_function(zoo.X_test), expected, atol=1e-6)


def test_several_representations_are_joined_by_name(zoo: Arrays) -> None:
    noise = zoo.semantics + np.random.default_rng(0).normal(size=zoo.semantics.shape)
    model = ZeroShotClassifier(gamma=0.3, metric={"noise": "cosine"})
    model.fit(zoo.X, zoo.y, semantics={"clean": zoo.semantics, "noise": noise.iloc[::-1]})
    assert [one["weight"] for one in model.model_.header["semantic"]] == [0.7, 0.3]
    assert [one["metric"] for one in model.model_.header["semantic"]] == ["euclidean", "cosine"]


def test_distances_may_be_given(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    unit = zoo.semantics.to_numpy() / np.linalg.norm(zoo.semantics.to_numpy(), axis=1, keepdims=True)
    distances = np.linalg.norm(unit[:, None] - unit[None], axis=2)
    table = pd.DataFrame(distances, index=zoo.semantics.index).sample(frac=1, random_state=1)
    table = table.set_axis(zoo.semantics.index, axis=1)[table.index]
    model = clone(fitted).set_params(metric="precomputed").fit(zoo.X, zoo.y, semantics=table)
    assert np.allclose(model.decision_function(zoo.X_test), fitted.decision_function(zoo.X_test), atol=1e-5)


def test_candidates_are_unseen_known_or_all(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    model = copy.deepcopy(fitted)
    known, unseen = set(model.known_classes_), set(model.unseen_classes_)
    for candidates, expected in [("known", known), ("unseen", unseen), ("all", known | unseen)]:
        model.set_params(candidates=candidates)
        assert set(model.classes_) == expected and list(model.classes_) == sorted(expected)
        scores = model.decision_function(zoo.X_test)
        assert scores.shape == (len(zoo.X_test), len(expected))
        assert np.array_equal(model.classes_[scores.argmax(axis=1)], model.predict(zoo.X_test))
        assert np.allclose(model.predict_proba(zoo.X_test).sum(axis=1), 1)
        assert model.class_embedding_.shape == (len(expected), 20)
    assert (model.set_params(candidates="known").predict(zoo.X) == zoo.y).mean() > 0.8


def test_a_fit_for_all_has_a_bias(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    model = ZeroShotClassifier(dim=20, candidates="all").fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert model.model_.header["generalized"] is not None
    plain = copy.deepcopy(fitted).set_params(candidates="all")
    seen = lambda one: np.isin(one.predict(zoo.X_test), one.known_classes_).mean()
    assert seen(model) <= seen(plain), "the bias is against known classes"


def test_probabilities_are_calibrated_on_request(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    sure = ZeroShotClassifier(dim=20, calibrate=3).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert fitted.temperature_ == 1.0 and sure.temperature_ != 1.0
    assert np.array_equal(sure.predict(zoo.X_test), fitted.predict(zoo.X_test))
    own = sure.predict_proba(zoo.X_test).argmax(axis=1)
    assert np.array_equal(sure.classes_[own], sure.predict(zoo.X_test))


def test_refiners_look_at_the_whole_batch(zoo: Arrays) -> None:
    model = ZeroShotClassifier(dim=20, post="self-training").fit(zoo.X, zoo.y, semantics=zoo.semantics)
    refined, plain = model.refine(zoo.X_test), model.predict(zoo.X_test)
    assert not np.array_equal(refined, plain)
    assert np.array_equal(model.predict(zoo.X_test[:3]), plain[:3]), "predict looks at each row by itself"
    assert (refined == zoo.y_test).mean() > (plain == zoo.y_test).mean() - 0.1
    by_name = ZeroShotClassifier(dim=20, settings={"post": "self-training"}).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert np.array_equal(by_name.refine(zoo.X_test), refined), "a refiner among the other settings is one, too"


def centers_of(zoo: Arrays) -> pd.DataFrame:
    """Descriptions with as many dimensions as there are features: the mean of the rows of each class."""
    X, y = np.vstack([zoo.X, zoo.X_test]), np.concatenate([zoo.y, zoo.y_test])
    return pd.DataFrame(X).groupby(y).mean()


def assert_fits(model: ZeroShotClassifier, zoo: Arrays, semantics: pd.DataFrame) -> None:
    model.fit(zoo.X, zoo.y, semantics=semantics)
    assert model.score(zoo.X_test, zoo.y_test) > 0.2, model.method


def test_the_best_method_is_one_of_them(zoo: Arrays) -> None:
    assert_fits(ZeroShotClassifier("best"), zoo, zoo.semantics)


def test_every_inductive_method_fits(zoo: Arrays) -> None:
    import bidilel

    for method in bidilel.methods():
        model = ZeroShotClassifier(method["name"])
        if method["kind"] == "transductive":
            with pytest.raises(ValueError, match=f"method `{method['name']}` is transductive"):
                model.fit(zoo.X, zoo.y, semantics=zoo.semantics)
        elif method["name"] == "cosine":
            with pytest.raises(ValueError, match="as many as there are features: method `cosine` compares the two"):
                model.fit(zoo.X, zoo.y, semantics=zoo.semantics)
            assert_fits(model, zoo, centers_of(zoo))
        else:
            assert_fits(model, zoo, zoo.semantics)


def test_classes_come_and_go(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    model = copy.deepcopy(fitted)
    before = model.decision_function(zoo.X_test)
    model.add_class("unicorn", zoo.semantics.iloc[:2].mean())
    assert "unicorn" in model.classes_ and model.decision_function(zoo.X_test).shape[1] == before.shape[1] + 1
    model.remove_class("unicorn")
    assert np.array_equal(model.decision_function(zoo.X_test), before)
    gone = model.known_classes_[0]
    assert gone not in model.remove_class(gone).known_classes_
    assert np.array_equal(model.decision_function(zoo.X_test), before)
    with pytest.raises(ValueError, match="the model has no class `dragon`"):
        model.remove_class("dragon")
    with pytest.raises(ValueError, match="already"):
        model.add_class(model.unseen_classes_[0], zoo.semantics.iloc[0])


def test_explanations_name_what_prediction_names(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    with pytest.warns(UserWarning, match="keeps no training instances"):
        found = fitted.explain(zoo.X_test[:4])
    assert [one.label for one in found] == list(fitted.predict(zoo.X_test[:4]))
    assert {one["label"] for one in found[0].landmarks} <= set(fitted.known_classes_)
    keeping = ZeroShotClassifier(dim=20, keep_instances=2).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert keeping.explain(zoo.X_test[:1])[0]["instances"]


def test_pickles_are_the_bytes_of_the_model_file(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    again = pickle.loads(pickle.dumps(fitted))
    assert again.model_.to_bytes() == fitted.model_.to_bytes()
    assert np.array_equal(again.decision_function(zoo.X_test), fitted.decision_function(zoo.X_test))


def test_grid_search_over_folds_of_classes(zoo: Arrays) -> None:
    known = zoo.semantics.loc[np.unique(zoo.y)]
    search = GridSearchCV(
        ZeroShotClassifier(), {"dim": [5, 20], "alpha": [1.0, 10.0]}, cv=ClassFolds(3), scoring="balanced_accuracy"
    )
    search.fit(zoo.X, zoo.y, semantics=known.to_dict("index") and {n: r.to_numpy() for n, r in known.iterrows()})
    assert search.best_params_["dim"] == 20
    final = clone(search.best_estimator_).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert final.score(zoo.X_test, zoo.y_test) > 0.4


def test_semantics_are_routed(zoo: Arrays) -> None:
    described = {name: row.to_numpy() for name, row in zoo.semantics.iterrows()}
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), ZeroShotClassifier(dim=10).set_fit_request(semantics=True))
        model.fit(zoo.X, zoo.y, semantics=described)
        assert set(model.predict(zoo.X_test)) <= set(zoo.semantics.index) - set(zoo.y)
        known = {name: described[name] for name in np.unique(zoo.y)}
        scores = cross_val_score(model, zoo.X, zoo.y, cv=ClassFolds(2), params={"semantics": known})
        assert scores.min() > 0.2
    plain = make_pipeline(Normalizer(), ZeroShotClassifier(dim=10))
    plain.fit(zoo.X, zoo.y, zeroshotclassifier__semantics=described)
    assert plain[-1].unseen_classes_.size


def test_names_of_features_and_output(zoo: Arrays, fitted: ZeroShotClassifier) -> None:
    table = pd.DataFrame(zoo.X, columns=[f"f{i}" for i in range(zoo.X.shape[1])])
    model = clone(fitted).set_output(transform="pandas").fit(table, zoo.y, semantics=zoo.semantics)
    assert list(model.feature_names_in_) == list(table.columns)
    assert model.model_.header["visual"][0]["columns"] == list(table.columns)
    points = model.transform(table)
    assert list(points.columns) == [f"zeroshotclassifier{i}" for i in range(20)]
    assert np.allclose(np.linalg.norm(points, axis=1), 1)
    assert np.array_equal(points.to_numpy(), fitted.transform(zoo.X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"f0": "g0"}))


def test_labels_keep_their_type() -> None:
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(6, 12))
    y = np.repeat([3, 7, 11, 20], 15)
    X = np.repeat(centers[:4], 15, axis=0) + 0.1 * rng.normal(size=(60, 12))
    semantics = dict(zip([3, 7, 11, 20, 2, 99], centers))
    model = ZeroShotClassifier().fit(X, y, semantics=semantics)
    assert model.classes_.dtype.kind == "i" and model.classes_.tolist() == [2, 99]
    assert model.predict(centers[4:]).tolist() == [2, 99]
    assert model.decision_function(centers[4:]).shape == (2,), "of two classes, one number"
    assert isinstance(pickle.loads(pickle.dumps(model)).model_, Model)
