"""What was found in a dataset, and why an instance is taken for a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._result import Result, axes_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Inspection(Result):
    """What ``inspect`` found: what is in a dataset, and what is wrong with it.

    Its keys are those of ``bidilel inspect --format json``.
    """

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Problems, with ``severity``, ``where`` and ``message``."""
        found: list[dict[str, Any]] = self["problems"]
        return found

    @property
    def ok(self) -> bool:
        """Whether none of the problems is an error."""
        return all(one["severity"] != "error" for one in self.problems)

    def _rows(self) -> list[dict[str, Any]]:
        return self.problems

    def _title(self) -> str:
        count = len(self.problems)
        found = "nothing wrong" if not count else f"{count} problem{'s' if count > 1 else ''}"
        return f"{self['name']}: {self['instances']} instances of {self['classes']} classes, {found}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many features and semantic dimensions there are per representation.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes_of(ax)
        parts = {**self["visual"], **self["semantic"]}
        sizes = [one.get("dimensions", one.get("dim", 0)) for one in parts.values()]
        ax.barh(list(parts), sizes)
        ax.set_xlabel("dimensions")
        ax.set_title(self._title())
        return ax


class Explanation(Result):
    """Why an instance is taken for a class.

    Its keys are those of ``bidilel explain --format json``.
    """

    @property
    def label(self) -> str:
        """The name of the class."""
        return str(self["label"])

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The best candidates, the class itself first."""
        found: list[dict[str, Any]] = self["candidates"]
        return found

    @property
    def landmarks(self) -> list[dict[str, Any]]:
        """The known classes that the instance is nearest to."""
        found: list[dict[str, Any]] = self["landmarks"]
        return found

    @property
    def attributes(self) -> list[dict[str, Any]]:
        """The attributes that separate the first candidate from the second."""
        found: list[dict[str, Any]] = self["attributes"]
        return found

    def _rows(self) -> list[dict[str, Any]]:
        return self.candidates + self.landmarks

    def _title(self) -> str:
        return self.label

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distances to candidates and landmarks.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        ax = axes_of(ax)
        near = sorted({one["label"]: one["distance"] for one in self._rows()}.items(), key=lambda one: -one[1])
        ax.barh([label for label, _ in near], [distance for _, distance in near])
        ax.set_xlabel("distance")
        ax.set_title(self._title())
        return ax
