"""Labels of classes come back as they were given, and never those of another model."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from bidilel import ZeroShotClassifier

from conftest import Arrays

CENTERS = np.random.default_rng(0).normal(size=(7, 12))


def fitted(labels: list[int], like: str, **parameters: object) -> ZeroShotClassifier:
    """A fit to four known and two unseen classes, whose centers are rows of CENTERS."""
    y = np.repeat(np.array(labels[:4], dtype=like), 15)
    X = np.repeat(CENTERS[:4], 15, axis=0) + 0.1 * np.random.default_rng(1).normal(size=(60, 12))
    return ZeroShotClassifier(**parameters).fit(X, y, semantics=dict(zip(labels, CENTERS)))  # type: ignore[arg-type]


@pytest.mark.parametrize("like", ["i1", "i2", "u1", "f4"])
def test_classes_beyond_the_range_of_the_type_of_y_keep_their_numbers(like: str) -> None:
    model = fitted([3, 7, 11, 20, 200, 70_000], like)
    assert model.classes_.tolist() == [200, 70_000]
    assert model.predict(CENTERS[4:6]).tolist() == [200, 70_000]
    assert model.known_classes_.tolist() == [3, 7, 11, 20]
    assert model.add_class(100_000, CENTERS[6]).predict(CENTERS[6:]).tolist() == [100_000]
    assert model.remove_class(100_000).classes_.tolist() == [200, 70_000]


def test_classes_within_the_range_have_the_type_of_y() -> None:
    model = fitted([3, 7, 11, 20, 2, 99], "i1")
    assert model.classes_.dtype == model.add_class(5, CENTERS[6]).classes_.dtype == np.int8


def test_explanations_have_the_labels_of_predictions() -> None:
    model = fitted([3, 7, 11, 20, 2, 99], "i8", keep_instances=2)
    for one, label in zip(model.explain(CENTERS[4:6]), model.predict(CENTERS[4:6])):
        assert one.label == one["label"] == label and isinstance(one.label, int)
        assert {near["label"] for near in one.candidates} == {2, 99}
        assert {near["label"] for near in one.landmarks} <= {3, 7, 11, 20}
        assert {near["label"] for near in one["instances"]} <= {3, 7, 11, 20}


def test_a_model_whose_classes_were_changed_gives_no_wrong_labels() -> None:
    model = fitted([3, 7, 11, 20, 2, 99], "i8")
    model.model_.remove_class("2")
    for answer in (model.predict, model.decision_function, model.refine, model.explain):
        with pytest.raises(ValueError, match="the classes of model_ are no longer those of this estimator"):
            answer(CENTERS[4:])
    with pytest.raises(ValueError, match="no longer those"):
        model.add_class(5, CENTERS[6])
    with pytest.raises(ValueError, match="no longer those"):
        pickle.loads(pickle.dumps(model)).predict(CENTERS[4:])


def test_copies_of_an_estimator_take_and_lose_classes_by_themselves() -> None:
    model = fitted([3, 7, 11, 20, 2, 99], "i8")
    before = model.decision_function(CENTERS)
    more, fewer = copy.copy(model).add_class(5, CENTERS[6]), copy.copy(model).remove_class(3)
    assert more.classes_.tolist() == [2, 5, 99] and fewer.known_classes_.tolist() == [7, 11, 20]
    assert model.classes_.tolist() == [2, 99] and np.array_equal(model.decision_function(CENTERS), before)
    with pytest.raises(ValueError, match="already"):
        model.add_class(99, CENTERS[6])
    with pytest.raises(ValueError, match="the model has no class `5`"):
        model.remove_class(5)
    assert np.array_equal(model.decision_function(CENTERS), before), "what fails changes nothing"


def test_a_setting_for_all_candidates_is_the_parameter(zoo: Arrays) -> None:
    one, other = (
        ZeroShotClassifier(dim=20, **more).fit(zoo.X, zoo.y, semantics=zoo.semantics)  # type: ignore[arg-type]
        for more in ({"candidates": "all"}, {"settings": {"generalized": True}})
    )
    assert np.array_equal(one.classes_, other.classes_) and len(other.classes_) == len(zoo.semantics)
    assert np.array_equal(one.predict(zoo.X_test), other.predict(zoo.X_test))
    assert np.array_equal(one.refine(zoo.X_test), other.refine(zoo.X_test))
    assert set(other.set_params(candidates="unseen").predict(zoo.X_test)) <= set(other.unseen_classes_)
