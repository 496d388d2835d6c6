"""How computations run: threads, progress, seeds."""

from __future__ import annotations

import numbers
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, Optional, TypedDict, Union

import numpy as np

#: What a callback is called with: the stage, parts that are done, and all parts where their number is known.
Callback = Callable[[str, int, Optional[int]], object]
Progress = Union[bool, Callback, None]


#: Where frames of this package are, and those of scikit-learn, which wraps methods and calls them in pipelines, by joblib.
_PACKAGES = (os.path.dirname(__file__) + os.sep, *(f"{os.sep}{name}{os.sep}" for name in ("sklearn", "joblib")))


class Running(TypedDict):
    """What the compiled half needs to know of a call."""

    threads: int | None
    progress: Callback | None
    warn: Callable[[str], None]


def running(n_jobs: int | None = None, progress: Progress = None) -> Running:
    """Threads and callback of a computation."""
    return {"threads": _threads(n_jobs), "progress": _callback(progress), "warn": warn}


def warn(message: str) -> None:
    """A warning for the line that called this package, itself or by scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and any(one in frame.f_code.co_filename for one in _PACKAGES):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def _threads(n_jobs: int | None) -> int | None:
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, found {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, _processors() + 1 + int(n_jobs))


def _processors() -> int:
    """The processors that this process may use: in a container or a batch job, fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _callback(progress: Progress) -> Callback | None:
    if progress is None or progress is False:
        return None
    if progress is True:
        return _bars()
    if not callable(progress):
        raise ValueError(f"progress must be True or a function of stage, done and total, found {progress!r}")
    return progress


def _bars() -> Callback:
    """A bar per stage by tqdm, or a line per stage where it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Bars(tqdm)


class _Bars:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._bar, self._stage = tqdm, None, ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        bar: Any = self._bar
        if bar is None or stage != self._stage:
            if bar is not None:
                bar.close()
            bar = self._bar = self._tqdm(desc=stage, leave=False)
            self._stage = stage
        bar.total = total
        bar.n = done
        bar.refresh()

    def __del__(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Lines:
    def __init__(self) -> None:
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if stage != self._stage:
            self._stage = stage
            print(stage, file=sys.stderr)


def counted(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """A number of things, as the compiled half takes it."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, found {value!r}")
    if int(value) < least:
        raise ValueError(f"{name} must be at least {least}, found {value}")
    if int(value) > most:
        raise ValueError(f"{name} must be at most {most}, found {value}")
    return int(value)


def counted_or_none(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int | None:
    """As :func:`counted`, where the number may be left out."""
    return None if value is None else counted(name, value, least, most)


def seed_of(random_state: Any, name: str = "random_state") -> int:
    """The seed of everything random: 0 where none is given, as in the program."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    if isinstance(random_state, numbers.Integral) and 0 <= int(random_state) < 2**64:
        return int(random_state)
    raise ValueError(f"{name} must be a whole number of at least 0 and below 2**64, or a generator, found {random_state!r}")
