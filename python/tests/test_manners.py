"""Progress, interrupts, threads, processes, warnings."""

from __future__ import annotations

import copy
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import bidilel
from bidilel import ZeroShotClassifier, distributed
from bidilel._running import running

from conftest import Arrays, interrupt


def test_progress_is_told_in_the_thread_of_the_caller(zoo: Arrays) -> None:
    events: list[tuple[str, int, int | None]] = []
    threads = set()

    def tell(stage: str, done: int, total: int | None) -> None:
        threads.add(threading.get_ident())
        events.append((stage, done, total))

    ZeroShotClassifier(progress=tell).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert {"neighbors", "scatter", "eigen", "top_down"} <= {stage for stage, _, _ in events}
    assert threads == {threading.get_ident()}


def test_progress_of_answers_is_told_by_rows(zoo: Arrays) -> None:
    events: list[tuple[str, int, int | None]] = []
    model = ZeroShotClassifier(dim=10, progress=lambda *event: events.append(event))
    model.fit(zoo.X, zoo.y, semantics=zoo.semantics)
    for answer, stage in {"predict": "recognize", "refine": "project", "transform": "project", "explain": "recognize"}.items():
        events.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(model, answer)(zoo.X_test)
        assert (stage, len(zoo.X_test)) in [(name, total) for name, _, total in events], answer


def test_progress_may_be_shown(zoo: Arrays, capsys: pytest.CaptureFixture[str]) -> None:
    """By bars of tqdm, which say how fast it goes."""
    ZeroShotClassifier(progress=True).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    shown = capsys.readouterr().err
    assert "top_down" in shown and "it/s]" in shown and "\r" in shown


def test_progress_is_a_line_per_stage_without_tqdm(
    zoo: Arrays, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    ZeroShotClassifier(progress=True).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    lines = capsys.readouterr().err.splitlines()
    assert {"neighbors", "scatter", "eigen", "top_down"} <= set(lines)
    assert all(line.isidentifier() for line in lines), lines


def test_an_exception_in_a_callback_ends_the_computation(zoo: Arrays) -> None:
    def fail(stage: str, done: int, total: int | None) -> None:
        raise RuntimeError(f"no {stage}")

    with pytest.raises(RuntimeError, match="no "):
        ZeroShotClassifier(progress=fail).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    assert ZeroShotClassifier().fit(zoo.X, zoo.y, semantics=zoo.semantics).model_


def test_a_fit_that_fails_leaves_the_estimator_as_it_was(zoo: Arrays) -> None:
    """Otherwise the classes of one fit would name the answers of the model of another."""
    def stop(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    model = ZeroShotClassifier(dim=10).fit(zoo.X, zoo.y, semantics=zoo.semantics)
    learner = bidilel.SLPP(dim=4).fit(zoo.X, zoo.y)
    some = zoo.y != zoo.y[0]
    for estimator in (model, learner):
        before = dict(vars(estimator))
        answers = estimator.transform(zoo.X_test)
        estimator.set_params(progress=stop)
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(zoo.X[some, :50], zoo.y[some], **({"semantics": zoo.semantics} if estimator is model else {}))
        assert vars(estimator) == {**before, "progress": stop}
        estimator.set_params(progress=None)
        assert np.array_equal(estimator.transform(zoo.X_test), answers)


@pytest.fixture(scope="module")
def large() -> Arrays:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 300)
    X = rng.normal(size=(len(y), 1024)).astype(np.float32)
    return Arrays(X, y, X[:1], y[:1], {c: rng.normal(size=30) for c in range(50)})  # type: ignore[arg-type]


def test_an_interrupt_stops_a_fit_soon_and_leaves_everything_usable(large: Arrays, zoo: Arrays) -> None:
    """Twelve thousand instances of a thousand features take seconds of the processors; an interrupt, a fraction of one."""
    stages: set[str] = set()
    model = ZeroShotClassifier(neighbors=30, progress=lambda stage, *_: stages.add(stage))
    began = time.process_time()
    model.fit(large.X, large.y, semantics=large.semantics)
    whole = time.process_time() - began
    waits = {}
    for stage in ("neighbors", "scatter", "eigen"):
        stages.clear()
        with interrupt(lambda: stage in stages, delay=0.02) as took:
            while True:
                model.fit(large.X, large.y, semantics=large.semantics)
        waits[stage] = took[0]
    assert max(waits.values()) < max(1.0, whole / 10), (waits, whole)
    assert ZeroShotClassifier().fit(zoo.X, zoo.y, semantics=zoo.semantics).score(zoo.X_test, zoo.y_test) > 0.4


def test_two_threads_fit_at_once_and_others_go_on(large: Arrays) -> None:
    """Each fit waits in its callback until the other is in its own: one after the other, they would wait in vain."""
    results: dict[int, bytes] = {}
    both = threading.Barrier(2, timeout=120)

    def fit(index: int) -> None:
        waited = False

        def meet(stage: str, done: int, total: int | None) -> None:
            nonlocal waited
            if stage == "neighbors" and not waited:
                waited = True
                both.wait()

        model = ZeroShotClassifier(dim=10, n_jobs=1, progress=meet)
        model.fit(large.X[:4000], large.y[:4000], semantics=large.semantics)
        assert waited
        results[index] = model.model_.to_bytes()

    ticks = 0
    threads = [threading.Thread(target=fit, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.01)
        ticks += 1
    assert set(results) == {0, 1} and not both.broken, "both fits were under way at once"
    assert ticks > 5, "this thread went on while two others fitted"
    assert results[0] == results[1]


def test_the_number_of_threads_changes_nothing(zoo: Arrays) -> None:
    fits = [ZeroShotClassifier(n_jobs=jobs).fit(zoo.X, zoo.y, semantics=zoo.semantics) for jobs in (None, 1, 2, -1)]
    assert len({fit.model_.to_bytes() for fit in fits}) == 1


def test_all_processors_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5}, raising=False)
    threads = {jobs: running(jobs)["threads"] for jobs in (-1, -2, -9, 4, None)}
    assert threads == {-1: 3, -2: 2, -9: 1, 4: 4, None: None}


def _answers(zoo: Arrays) -> list[bytes]:
    """Models by all that computes: fits, files that are read, classes that go, sums over partitions."""
    models = [ZeroShotClassifier(method).fit(zoo.X, zoo.y, semantics=zoo.semantics).model_ for method in ("bidilel", "conse")]
    models += [copy.deepcopy(model).remove_class(zoo.y_test[0]) for model in models]
    parts = [(distributed.Rows, zoo.X, zoo.y, np.arange(len(zoo.X)))]
    models.append(distributed.fit(distributed.Here(), parts, np.unique(zoo.y).tolist(), zoo.semantics).model)
    return [copy.deepcopy(model).to_bytes() for model in models]


def _answer_in_child(zoo: Arrays, queue: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    queue.put(_answers(zoo))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
def test_a_child_process_has_threads_of_its_own(start: str, zoo: Arrays) -> None:
    here = _answers(zoo)
    context = multiprocessing.get_context(start)
    queue = context.Queue()
    child = context.Process(target=_answer_in_child, args=(zoo, queue))
    child.start()
    try:
        assert queue.get(timeout=60) == here
        child.join(timeout=60)
    finally:
        child.kill()


def test_notes_are_warnings(zoo: Arrays) -> None:
    X = np.hstack([zoo.X, np.ones((len(zoo.X), 3), dtype=np.float32) * 0])
    with pytest.warns(UserWarning, match="3 of 131 features are constant and are left out"):
        ZeroShotClassifier().fit(X, zoo.y, semantics=zoo.semantics)
    with pytest.warns(UserWarning, match="alpha has no effect"):
        bidilel.evaluate("synthetic:small", bottom_up="lda", alpha=3.0)


def test_warnings_are_for_the_line_of_the_user(zoo: Arrays) -> None:
    X = np.hstack([zoo.X, np.zeros((len(zoo.X), 1), dtype=np.float32)])
    for estimator in (ZeroShotClassifier(), bidilel.SLPP(), bidilel.LPP()):
        with pytest.warns(UserWarning, match="constant") as told:
            estimator.fit(X, zoo.y)
        assert {one.filename for one in told} == {__file__}
    with pytest.warns(UserWarning, match="alpha has no effect"):
        ZeroShotClassifier("eszsl", alpha=3.0).fit(zoo.X, zoo.y, semantics=zoo.semantics)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="Linux says how large a process was")
def test_a_projection_makes_no_copy_of_its_rows() -> None:
    """A gigabyte of rows, which are one row of memory, in a process whose largest size is its own."""
    code = textwrap.dedent("""
        import numpy as np
        from bidilel import SLPP

        def largest():
            return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024

        X = np.random.default_rng(0).normal(size=(300, 1024)).astype(np.float32)
        learner = SLPP(dim=2).fit(X, np.arange(300) % 10)
        learner.transform(X)
        before = largest()
        found = learner.transform(np.broadcast_to(X[:1], (250_000, 1024)))
        assert found.shape == (250_000, 2)
        print(largest() - before)
    """)
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=300, capture_output=True, text=True)
    assert float(done.stdout) < 250, "mebibytes"


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = textwrap.dedent("""
        import sys, bidilel
        heavy = {"numpy", "sklearn", "pandas", "matplotlib"} & set(sys.modules)
        assert not heavy, heavy
        assert "ZeroShotClassifier" in dir(bidilel)
    """)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_seeds_may_be_generators(zoo: Arrays) -> None:
    fit = lambda state: ZeroShotClassifier(settings={"init": "random"}, random_state=state, dim=5).fit(
        zoo.X, zoo.y, semantics=zoo.semantics
    )
    assert fit(3).model_.to_bytes() == fit(3).model_.to_bytes() != fit(4).model_.to_bytes()
    states = [np.random.RandomState(0), np.random.default_rng(0)]
    for state in states:
        assert fit(state).model_.to_bytes() != fit(state).model_.to_bytes(), "a generator goes on"
