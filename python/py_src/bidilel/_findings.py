"""What was found in a dataset, and why an instance is taken for a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Inspection(Result):
    """What ``inspect`` found: what is in a dataset, and what is wrong with it.

    Its keys are those of ``bidilel inspect --format json``; :meth:`plot` draws how many dimensions every representation has.
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

    def _draw(self, ax: Axes) -> None:
        parts = {**self["visual"], **self["semantic"]}
        sizes = [one.get("dimensions", one.get("dim", 0)) for one in parts.values()]
        ax.barh(list(parts), sizes)
        ax.set_xlabel("dimensions")


class Explanation(Result):
    """Why an instance is taken for a class.

    Its keys are those of ``bidilel explain --format json``; :meth:`plot` draws the distances to candidates and landmarks.
    """

    @property
    def label(self) -> Any:
        """The class: its name, or its label where an estimator explains."""
        return self["label"]

    def _with_labels(self, labels: Mapping[str, Any]) -> Explanation:
        """The same with the labels of an estimator as the names of classes."""
        parts = {
            key: [{**one, "label": labels[one["label"]]} for one in value]
            for key, value in self.items()
            if isinstance(value, list) and all(isinstance(one, dict) and "label" in one for one in value)
        }
        return Explanation({**self._data, **parts, "label": labels[self["label"]]})

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
        return str(self.label)

    def _draw(self, ax: Axes) -> None:
        near = sorted({one["label"]: one["distance"] for one in self._rows()}.items(), key=lambda one: -one[1])
        ax.barh([str(label) for label, _ in near], [distance for _, distance in near])
        ax.set_xlabel("distance")
