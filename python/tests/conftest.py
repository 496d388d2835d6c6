"""What tests share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import bidilel


class Arrays(NamedTuple):
    """A trial as arrays."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    semantics: pd.DataFrame


def arrays_of(dataset: bidilel.Dataset, split: str | None = None) -> Arrays:
    trial = dataset.trials(split)[0]
    X, y = dataset.features(), dataset.class_names()
    return Arrays(X[trial.train], y[trial.train], X[trial.test], y[trial.test], dataset.semantics())


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Python that was started in the background ignores Ctrl-C, and so would the tests of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def emoji() -> bidilel.Dataset:
    return bidilel.emoji()


@pytest.fixture(scope="session")
def animals(emoji: bidilel.Dataset) -> Arrays:
    return arrays_of(emoji)


@pytest.fixture(scope="session")
def small() -> bidilel.Dataset:
    return bidilel.generate(scale=0.3)


@pytest.fixture(scope="session")
def zoo(small: bidilel.Dataset) -> Arrays:
    return arrays_of(small)


@contextmanager
def interrupt(when: Callable[[], bool], delay: float = 0.0) -> Iterator[list[float]]:
    """An interrupt, sent some seconds after something has become so, which must end the block.

    Gives the seconds of processors that it took after that: other work on the machine does not count. The block repeats what it
    does until it is interrupted, so that a machine without time for the thread here is no failure.
    """
    over, sent, took = threading.Event(), list[float](), list[float]()

    def send() -> None:
        while not when():
            if over.wait(0.002):
                return
        if not over.wait(delay):
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield took
        took.append(time.process_time() - sent[0])
    finally:
        over.set()
        thread.join()


def within(function: Callable[..., Any]) -> Callable[[], bool]:
    """Whether the main thread is in a function, and in none of Python that this calls."""
    def now() -> bool:
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        return frame is not None and frame.f_code is function.__code__

    return now


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the command that the package installs."""
    return _run(Path(sys.executable).with_name("bidilel"), arguments)


def built_program(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the binary that cargo builds, where BIDILEL_PROGRAM names it: the command of the package is the extension itself."""
    return _run(os.environ.get("BIDILEL_PROGRAM") or Path(sys.executable).with_name("bidilel"), arguments)


def _run(command: str | Path, arguments: tuple[object, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(command), *map(str, arguments)], capture_output=True, text=True, timeout=300)
