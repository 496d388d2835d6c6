"""Whatever computes for long stops at an interrupt, and no call waits for one of another thread."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import bidilel
from bidilel import ZeroShotClassifier

from conftest import Arrays

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
