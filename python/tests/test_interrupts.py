"""Whatever computes for long stops at an interrupt, and no call waits for one of another thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import bidilel
from bidilel import ZeroShotClassifier

from conftest import Arrays, interrupt, within

#: Seconds within which a call stops; by itself it would take far longer. Nearly all of it is for what else the machine does.
SOON = 4.0


def endless(X: np.ndarray, rows: int) -> np.ndarray:
    """The first row again and again, without the memory for it."""
    return np.broadcast_to(X[:1], (rows, X.shape[1]))


def predicted(zoo: Arrays, progress: Any) -> object:
    model = ZeroShotClassifier(dim=50).fit(zoo.X, zoo.y, zoo.semantics).model_
    return model.predict(endless(zoo.X, 40_000_000), n_jobs=1, progress=progress)


def refined(zoo: Arrays, progress: Any) -> object:
    model = ZeroShotClassifier(dim=10, post="self-training").fit(zoo.X, zoo.y, zoo.semantics).model_
    return model.refine(endless(zoo.X, 5_000_000), n_jobs=1, progress=progress)


def tuned(_: Arrays, progress: Any) -> object:
    grid = {"dim": range(10, 90, 10), "alpha": [0.1, 1.0, 10.0, 100.0], "neighbors": range(2, 12)}
    return bidilel.tune(bidilel.generate("awa", scale=0.2), grid, strategy="grid", trials=9, n_jobs=1, progress=progress)


def evaluated(_: Arrays, progress: Any) -> object:
    data = bidilel.generate("awa", scale=0.2)
    return bidilel.evaluate(data, random_splits=500, random_unseen=10, n_jobs=1, progress=progress)


def mapped(_: Arrays, progress: Any) -> object:
    distances = squareform(pdist(np.random.default_rng(0).normal(size=(5000, 40))))
    return bidilel.Sammon(metric="precomputed", n_jobs=1, progress=progress).fit(distances)


@pytest.mark.parametrize("work", [predicted, refined, tuned, evaluated, mapped], ids=lambda one: one.__name__)
@pytest.mark.parametrize("after", [0.05, 1.0])
def test_an_interrupt_stops_it_soon(zoo: Arrays, work: Callable[[Arrays, Any], object], after: float) -> None:
    begun, sent = threading.Event(), []

    def interrupt() -> None:
        begun.wait()
        time.sleep(after)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        work(zoo, lambda *_: begun.set())
    waited = time.monotonic() - sent[0]
    thread.join()
    assert waited < SOON


@pytest.fixture(scope="module")
def awa() -> bidilel.Dataset:
    return bidilel.generate("awa", scale=0.5)


def usable(zoo: Arrays) -> bool:
    return bool(ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, zoo.semantics).score(zoo.X_test, zoo.y_test) > 0.3)


def compared(_: Arrays, awa: bidilel.Dataset, tell: Any) -> object:
    return bidilel.compare(awa, ["bidilel", "eszsl", "conse"], random_splits=20, progress=tell)


def learned(_: Arrays, awa: bidilel.Dataset, tell: Any) -> object:
    return bidilel.SLPP(progress=tell).fit(awa.features(), awa.labels)


def projected(zoo: Arrays, _: bidilel.Dataset, tell: Any) -> object:
    return bidilel.SLPP(dim=4).fit(zoo.X, zoo.y).set_params(progress=tell).transform(endless(zoo.X, 2_000_000))


def explained(zoo: Arrays, _: bidilel.Dataset, tell: Any) -> object:
    return ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, zoo.semantics).model_.explain(endless(zoo.X, 100_000), progress=tell)


def located(*given: Any) -> object:
    draw = np.random.default_rng(0)
    landmarks, points, rows = (draw.normal(size=size) for size in ((200, 5), (200, 2), (10_000, 5)))
    return bidilel.LandmarkSammon(progress=given[2]).fit(landmarks, points=points).transform(rows)


@pytest.mark.parametrize("work", [compared, learned, projected, explained, located], ids=lambda one: one.__name__)
def test_an_interrupt_ends_it_and_leaves_everything_usable(
    zoo: Arrays, awa: bidilel.Dataset, work: Callable[..., object]
) -> None:
    begun = threading.Event()
    with interrupt(begun.is_set):
        while True:
            work(zoo, awa, lambda *_: begun.set())
    assert usable(zoo)


def test_an_interrupt_ends_what_tells_no_progress(zoo: Arrays, awa: bidilel.Dataset) -> None:
    some = np.arange(60_000) % len(awa)
    for function, work in {
        bidilel.generate: lambda: bidilel.generate("awa", scale=0.5),
        bidilel.Dataset.inspect: awa.inspect,
        bidilel.Dataset.features: lambda: awa.features(instances=some),
    }.items():
        with interrupt(within(function)):
            while True:
                work()
    assert usable(zoo) and awa.features(instances=[3]).any()


def test_an_interrupt_leaves_nothing_half_written(zoo: Arrays, awa: bidilel.Dataset, tmp_path: Path) -> None:
    with interrupt(within(bidilel.Dataset.save), delay=0.1):
        while True:
            awa.save(tmp_path / "awa", overwrite=True)
    # The first one may have come to its end.
    assert set(os.listdir(tmp_path)) <= {"awa"}
    if (tmp_path / "awa").exists():
        assert len(bidilel.open(tmp_path / "awa")) == len(awa)


def test_an_interrupt_leaves_the_model_file_that_was_there(zoo: Arrays, tmp_path: Path) -> None:
    """Descriptions of many numbers make large files."""
    wide = {label: np.random.default_rng(at).normal(size=400_000) for at, label in enumerate(zoo.semantics.index)}
    small = ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, zoo.semantics).model_
    large = ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, wide).model_
    path, expected = tmp_path / "model", large.predict(zoo.X_test).tolist()
    small.save(path)
    with interrupt(within(bidilel.Model.save), delay=0.01):
        while True:
            large.save(path)
    assert os.listdir(tmp_path) == ["model"]
    assert bidilel.Model.load(path).header in (small.header, large.header)
    large.save(path)
    for function, work in {
        bidilel.Model.load.__func__: lambda: bidilel.Model.load(path),  # type: ignore[attr-defined]
        bidilel.Model.to_bytes: large.to_bytes,
    }.items():
        with interrupt(within(function)):
            while True:
                work()
    assert bidilel.Model.load(path).predict(zoo.X_test).tolist() == expected


def test_an_interrupt_leaves_a_full_eigendecomposition_to_itself(zoo: Arrays) -> None:
    """Nearly all pairs of a large problem are found by one call of a library, which cannot be stopped."""
    X = np.random.default_rng(0).normal(size=(1600, 1500)).astype(np.float32)
    begun = threading.Event()
    learner = bidilel.LPP(dim=1500, progress=lambda stage, *_: stage == "eigen" and begun.set())
    with interrupt(begun.is_set, delay=0.1):
        while True:
            learner.fit(X)
    assert not hasattr(learner, "model_") and usable(zoo)


def test_it_is_asked_more_often_where_rows_are_compared_with_many_others() -> None:
    """A row costs as many products as there are numbers to compare it with: some thousand rows would be seconds."""
    X = np.random.default_rng(0).normal(size=(600, 2000)).astype(np.float32)
    fitted = ZeroShotClassifier(dim=5, settings={"kernel": "rbf"}).fit(X, np.arange(600) % 12)
    told: list[int] = []
    fitted.set_params(progress=lambda stage, done, total: told.append(done))
    assert len(fitted.predict(endless(X, 4000))) == 4000
    assert 2000 <= max(told) < 4000, "the last block is not the first one"


def test_a_call_does_not_wait_for_one_of_another_thread_with_as_many_threads(zoo: Arrays) -> None:
    fitted = ZeroShotClassifier(dim=10, n_jobs=1).fit(zoo.X, zoo.y, zoo.semantics)
    begun, enough = threading.Event(), threading.Event()

    def tell(*_: object) -> None:
        begun.set()
        if enough.is_set():
            raise RuntimeError("enough")

    def long() -> None:
        with pytest.raises(RuntimeError, match="enough"):
            predicted(zoo, tell)

    thread = threading.Thread(target=long, daemon=True)
    thread.start()
    begun.wait()
    for _ in range(3):
        assert len(fitted.predict(zoo.X_test)) == len(zoo.X_test)
        assert thread.is_alive(), "the other goes on"
    enough.set()
    thread.join()


def test_a_callback_may_compute_with_as_many_threads(zoo: Arrays) -> None:
    fitted = ZeroShotClassifier(dim=10, n_jobs=1).fit(zoo.X, zoo.y, zoo.semantics)
    answers: list[list[Any]] = []
    fitted.set_params(progress=None)
    other = ZeroShotClassifier(dim=10, n_jobs=1, progress=lambda *_: answers.append(fitted.predict(zoo.X_test).tolist()))
    other.fit(zoo.X, zoo.y, zoo.semantics)
    assert answers and all(one == answers[0] for one in answers)
