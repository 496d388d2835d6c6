"""What runs the work of partitions, and what the driver does with its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ._running import Callback


class Engine(Protocol):
    """Runs functions. What :meth:`submit` returns may be an argument of another call."""

    def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
        """Run a function, somewhere and some time; with several returns, one handle for each."""

    def get(self, handle: Any) -> Any:
        """Wait for a value and return it."""


class Here:
    """The engine that runs everything at once, in this process."""

    def submit(self, function: Callable[..., Any], *arguments: Any, returns: int = 1) -> Any:
        """Run a function now.

        Parameters
        ----------
        function : callable
            The function.
        *arguments
            Its arguments.
        returns : int, default=1
            How many values it returns.

        Returns
        -------
        object
            Its value.
        """
        return function(*arguments)

    def get(self, handle: Any) -> Any:
        """Return a value.

        Parameters
        ----------
        handle : object
            The value.

        Returns
        -------
        object
        """
        return handle


def tree(engine: Engine, add: Callable[[Any, Any], Any], values: Sequence[Any]) -> Any:
    """The sum of values: neighbors are added, then their sums, and so on, in an order that depends on their number only.

    Parameters
    ----------
    engine : Engine
        What adds.
    add : callable
        The sum of two.
    values : sequence of handles
        At least one.

    Returns
    -------
    handle
    """
    row = list(values)
    while len(row) > 1:
        pairs = [engine.submit(add, one, other) for one, other in zip(row[::2], row[1::2])]
        row = pairs + row[len(pairs) * 2 :]
    return row[0]


class Told:
    """Progress: the parts of a stage that are done, as their handles are waited for one after another."""

    def __init__(self, engine: Engine, tell: Callback | None) -> None:
        self._engine, self._tell = engine, tell

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._tell is not None:
            self._tell(stage, done, total)

    def all(self, stage: str, handles: Sequence[Any]) -> list[Any]:
        """The values of small results, one per partition."""
        self(stage, 0, len(handles))
        found = []
        for handle in handles:
            found.append(self._engine.get(handle))
            self(stage, len(found), len(handles))
        return found
