"""Datasets, evaluate, tune, compare: the numbers of the program, and results that can be looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import bidilel
from bidilel import ClassFolds, ZeroShotClassifier

from conftest import Arrays, built_program

matplotlib.use("agg")


def _json(*arguments: object) -> dict[str, object]:
    done = built_program(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def without_times(result: object) -> object:
    """A result without what is never the same twice."""
    if isinstance(result, dict):
        never = {"timings", "seconds", "tuning_seconds", "peak_memory", "commands"}
        return {key: without_times(value) for key, value in result.items() if key not in never}
    return [without_times(one) for one in result] if isinstance(result, list) else result


def test_evaluations_are_those_of_the_program_to_the_last_bit(emoji: bidilel.Dataset) -> None:
    for settings, options in [
        ({}, []),
        ({"dim": 40, "alpha": 1.0, "post": "self-training"}, ["--dim", 40, "--alpha", 1, "--post", "self-training"]),
        ({"method": "eszsl"}, ["--method", "eszsl"]),
    ]:
        found = bidilel.evaluate(emoji, **settings)
        assert without_times(found.to_dict()) == without_times(_json("evaluate", "builtin:emoji", *options))


def test_a_fit_to_a_dataset_takes_settings_as_an_evaluation_does(small: bidilel.Dataset) -> None:
    settings = {"visual": "cnn, motion", "semantic": "attributes,words", "post": "self-training+structured", "dim": 8}
    listed = {"visual": ["cnn", "motion"], "semantic": ["attributes", "words"], "post": ["self-training", "structured"], "dim": 8}
    assert small.fit(**settings).to_bytes() == small.fit(**listed).to_bytes()
    with pytest.raises(ValueError, match="no visual representation `other`"):
        small.fit(visual="cnn,other")


def test_generalized_evaluations_are_those_of_the_program() -> None:
    found = bidilel.evaluate("synthetic:small", generalized=True, test_seen_share=0.2, seed=3)
    options = ["--generalized", "--test-seen-share", 0.2, "--seed", 3]
    assert without_times(found.to_dict()) == without_times(_json("evaluate", "synthetic:small", *options))
    assert found.harmonic is not None


def test_tuning_is_that_of_the_program() -> None:
    found = bidilel.tune("synthetic:small", {"alpha": [1.0, 10.0], "dim": [5, 20]}, strategy="grid", trials=3)
    options = ["--strategy", "grid", "--alpha", "1.0,10.0", "--dim", "5,20", "--trials", 3]
    expected = _json("tune", "synthetic:small", *options)
    assert found.best == expected["best"]["settings"]  # type: ignore[index]
    key = lambda one: json.dumps(one["settings"], sort_keys=True)
    assert sorted(map(without_times, found.trials), key=key) == sorted(  # type: ignore[type-var]
        map(without_times, expected["trials"]), key=key  # type: ignore[call-overload]
    )


def test_a_classifier_takes_what_tuning_chose(small: bidilel.Dataset) -> None:
    best = bidilel.tune(small, {"ridge": [0.1, 1.0]}, strategy="grid", trials=2, bottom_up="lda", visual="motion").best
    assert best["visual"] == ["motion"] and "ridge" in best
    trial, X, y = small.trials()[0], small.features("motion"), small.class_names()
    model = ZeroShotClassifier(settings=best).fit(X[trial.train], y[trial.train], semantics=small.semantics())
    expected = bidilel.evaluate(small, **best)
    assert model.score(X[trial.test], y[trial.test]) == pytest.approx(expected.per_image)


def test_comparisons_are_those_of_the_program(small: bidilel.Dataset, tmp_path: Path) -> None:
    small.save(tmp_path / "small")
    methods = ["bidilel", "eszsl", "rr", "uda", "bidilel+structured"]
    found = bidilel.compare(tmp_path / "small", methods)
    expected = _json("compare", tmp_path / "small", "--methods", ",".join(methods))
    assert without_times(found.to_dict()) == without_times(expected)
    assert found.best == found.results[0]["method"]
    assert all(one.get("error") is None for one in found.results)
    failing = bidilel.compare(small, ["eszsl", "cosine"])
    assert failing.results[-1]["method"] == "cosine" and failing.results[-1]["error"]


def test_folds_of_classes_are_those_of_tuning(small: bidilel.Dataset, zoo: Arrays) -> None:
    """The same folds, the same scores, by scikit-learn's cross-validation."""
    tuned = bidilel.tune(small, {"dim": [5, 10]}, strategy="grid", trials=3, seed=4)
    known = zoo.semantics.loc[[name for name in small.classes if name in set(zoo.y)]]
    order = {name: index for index, name in enumerate(known.index)}
    codes = np.array([order[name] for name in zoo.y])
    by_code = {order[name]: row.to_numpy() for name, row in known.iterrows()}
    for trial in tuned.trials:
        if trial["settings"].get("dim") not in (5, 10):
            continue
        model = ZeroShotClassifier(dim=trial["settings"]["dim"])
        scores = cross_val_score(
            model, zoo.X, codes, cv=ClassFolds(3, random_state=4), scoring="balanced_accuracy",
            params={"semantics": by_code},
        )
        assert np.allclose(scores, trial["scores"], atol=1e-9), (scores, trial["scores"])


def test_results_can_be_looked_at(emoji: bidilel.Dataset, small: bidilel.Dataset, animals: Arrays) -> None:
    model = emoji.fit()
    with pytest.warns(UserWarning):
        explained = model.explain(animals.X_test[:1])[0]
    results = [
        bidilel.evaluate(emoji),
        bidilel.tune(small, {"dim": [5, 10]}, strategy="grid", trials=2),
        bidilel.compare(small, ["eszsl", "rr"]),
        bidilel.inspect(emoji),
        explained,
    ]
    for result in results:
        table = result.to_pandas()
        assert isinstance(table, pd.DataFrame)
        assert "<table>" in result._repr_html_() and type(result).__name__ in repr(result)
        axes = result.plot()
        assert axes.get_title()
        assert result.plot(ax=axes) is axes
        assert dict(result) == result.to_dict()
    assert results[0].confusion.sum() == len(animals.X_test)
    assert list(results[0].to_pandas()["class"]) == [one["name"] for one in results[0].classes]
    assert "<table>" in emoji._repr_html_()


def test_a_dataset_is_its_arrays(emoji: bidilel.Dataset, tmp_path: Path) -> None:
    assert emoji.features(instances=[5, 3]).shape == (2, emoji.features().shape[1])
    assert np.array_equal(emoji.features(instances=[5, 3]), emoji.features()[[5, 3]])
    assert emoji.characters and len(emoji.characters) == len(emoji.classes)
    assert emoji.picture(0)[8:12] == b"WEBP"
    assert emoji.metric() == "euclidean" and emoji.metric("sentences") == "cosine"
    trial = emoji.trials()[0]
    assert set(trial.known) | set(trial.unseen) == set(range(len(emoji.classes)))
    emoji.save(tmp_path / "copy")
    again = bidilel.open(tmp_path / "copy")
    assert again.classes == emoji.classes and np.array_equal(again.features(), emoji.features())
    assert bidilel.inspect(tmp_path / "copy").ok
    with pytest.raises(ValueError, match="exists"):
        emoji.save(tmp_path / "copy")
    broken = bidilel.inspect(tmp_path / "nothing")
    assert not broken.ok and broken.problems[0]["severity"] == "error"
    mask = np.arange(len(emoji)) % 7 == 2
    assert np.array_equal(emoji.features(instances=mask), emoji.features()[mask])
    with pytest.raises(ValueError, match="instance 99999 does not exist"):
        emoji.features(instances=[99999])
    with pytest.raises(ValueError, match="instance -1 does not exist"):
        emoji.features(instances=[-1])
    with pytest.raises(ValueError, match="instances must be a list of indices or a mask"):
        emoji.features(instances=[0.5])
    with pytest.raises(ValueError, match="no split `other`"):
        emoji.trials("other")
    with pytest.raises(ValueError, match="no semantic representation `other` among"):
        emoji.metric("other")


def test_synthetic_datasets_take_settings() -> None:
    data = bidilel.generate("small", known=6, unseen=2, validation=2, scale=0.5, seed=9)
    assert len(data.classes) == 8
    with pytest.raises(ValueError, match="preset must be one of small, awa, cub"):
        bidilel.generate("big")
    with pytest.raises(ValueError, match="wings"):
        bidilel.generate(wings=2)
    with pytest.raises(ValueError, match="known must be"):
        bidilel.generate(known=0)


def test_mistakes_have_the_words_of_the_program(small: bidilel.Dataset) -> None:
    with pytest.raises(ValueError, match="has 5 trials: name one"):
        bidilel.tune(small, split="random")
    with pytest.raises(ValueError, match="there is no method `eszls`"):
        bidilel.compare(small, ["eszls"])
    with pytest.raises(ValueError, match="strategy must be one of"):
        bidilel.tune(small, strategy="all")
    with pytest.raises(ValueError, match="dim must be between 1 and"):
        bidilel.evaluate(small, dim=100_000)
    with pytest.raises(ValueError, match="there is no setting `dimm`: did you mean `dim`"):
        bidilel.tune(small, {"dimm": [5]})
    with pytest.raises(ValueError, match="name a method"):
        bidilel.compare(small, [])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": "standard", "random_splits": 2}, "give one of them"),
        ({"random_unseen": 3}, "random_unseen is for random splits"),
        ({"random_splits": 1, "random_unseen": 2.5}, "random_unseen must be a number of classes"),
        ({"random_splits": 0}, "random_splits must be at least 1, found 0"),
        ({"test_seen_share": 0.2}, "candidates with generalized=True only"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_options_that_say_nothing_together_are_refused_as_the_program_refuses_them(
    small: bidilel.Dataset, options: dict[str, Any], words: str
) -> None:
    for experiment in (bidilel.evaluate, bidilel.compare):
        with pytest.raises(ValueError, match=words):
            experiment(small, **options)


def test_values_of_a_grid_may_be_any_sequence(small: bidilel.Dataset) -> None:
    how: dict[str, Any] = dict(strategy="grid", trials=1, alpha=1.0)
    expected = bidilel.tune(small, {"dim": [5, 10]}, **how)
    for values in (range(5, 15, 5), (5, 10), np.array([5, 10]), {10, 5}):
        assert bidilel.tune(small, {"dim": values}, **how).best == expected.best


def test_a_search_for_a_pipeline_takes_no_strategy(small: bidilel.Dataset) -> None:
    for option in ({"strategy": "grid"}, {"samples": 5}):
        with pytest.raises(ValueError, match="leave strategy and samples out"):
            bidilel.tune(small, auto=True, **option)


def test_limits_of_a_search_and_of_an_evaluation_are_positive(small: bidilel.Dataset) -> None:
    for name in "samples trials evaluations seconds".split():
        with pytest.raises(ValueError, match=f"{name} must be"):
            bidilel.tune(small, **{name: -1})
    for options in ({"top": [0]}, {"repeats": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} must be at least 1"):
            bidilel.evaluate(small, **options)
