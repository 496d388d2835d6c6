"""What tests share."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

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


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs the command that the package installs."""
    found = Path(sys.executable).with_name("bidilel")
    command = str(found) if found.exists() else shutil.which("bidilel")
    assert command, "the package installs the command"
    return subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=300)
