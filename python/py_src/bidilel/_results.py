"""Results of experiments: evaluations, tunings, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Evaluation(Result):
    """What ``evaluate`` found: accuracies of a method on the unseen classes.

    Its keys are those of ``bidilel evaluate --format json``; :meth:`plot` draws the accuracy of every class.
    """

    @property
    def accuracy(self) -> float:
        """Mean accuracy per class, over runs."""
        return float(self["accuracy"]["per_class"])

    @property
    def per_image(self) -> float:
        """Accuracy over all instances."""
        return float(self["accuracy"]["per_image"])

    @property
    def harmonic(self) -> float | None:
        """Harmonic mean of the accuracies on known and unseen classes, where all compete."""
        found = self["accuracy"].get("harmonic")
        return None if found is None else float(found)

    @property
    def chance(self) -> float:
        """Accuracy of guessing."""
        return float(self["chance"])

    @property
    def classes(self) -> list[dict[str, Any]]:
        """Every class with its instances and accuracy."""
        found: list[dict[str, Any]] = self["classes"]
        return found

    @property
    def runs(self) -> list[dict[str, Any]]:
        """Every fit and recognition."""
        found: list[dict[str, Any]] = self["runs"]
        return found

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Instances of the first run by true class and by predicted class."""
        return np.asarray(self.runs[0]["confusion"], dtype=np.int64)

    @property
    def timings(self) -> dict[str, float]:
        """Seconds of the stages."""
        found: dict[str, float] = self["timings"]
        return found

    def _rows(self) -> list[dict[str, Any]]:
        def row(one: dict[str, Any]) -> dict[str, Any]:
            mistake = one.get("mistaken_for") or {}
            return {
                "class": one["name"],
                "instances": one["instances"],
                "accuracy": one["accuracy"],
                "mistaken_for": mistake.get("name"),
            }

        return [row(one) for one in self.classes]

    def _title(self) -> str:
        return (
            f"{self['dataset']}, {self['split']}: {100 * self.accuracy:.1f} % per class, "
            f"{100 * self.per_image:.1f} % per image, chance {100 * self.chance:.1f} %"
        )

    def _draw(self, ax: Axes) -> None:
        ranked = sorted(self.classes, key=lambda one: float(one["accuracy"]))
        ax.barh([one["name"] for one in ranked], [one["accuracy"] for one in ranked])
        ax.axvline(self.chance, color="gray", linestyle=":", label="chance")
        ax.set_xlabel("accuracy")
        ax.legend()


class Tuning(Result):
    """What ``tune`` found: the chosen settings and everything that was tried.

    Its keys are those of ``bidilel tune --format json``; :meth:`plot` draws the accuracies of all settings, best first.
    """

    @property
    def best(self) -> dict[str, Any]:
        """The chosen settings: ``evaluate`` takes them by name, :class:`bidilel.ZeroShotClassifier` as ``settings``."""
        found: dict[str, Any] = self["best"]["settings"]
        return found

    @property
    def mean(self) -> float:
        """Mean per-class accuracy of the chosen settings on held-out known classes."""
        return float(self["best"]["mean"])

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Every setting that was tried, with its scores."""
        found: list[dict[str, Any]] = self["trials"]
        return found

    def _rows(self) -> list[dict[str, Any]]:
        keys = dict.fromkeys(key for one in self.trials for key in one["settings"])
        return [
            {
                "mean": one["mean"],
                "standard_error": one["standard_error"],
                "folds": len(one["scores"]),
                "stage": one["stage"],
                **{key: one["settings"].get(key) for key in keys},
            }
            for one in self.trials
        ]

    def _title(self) -> str:
        chosen = ", ".join(f"{name} {value}" for name, value in self.best.items()) or "the defaults"
        return f"{chosen}: {100 * self.mean:.1f} % on held-out known classes"

    def _draw(self, ax: Axes) -> None:
        means = sorted((one["mean"] for one in self.trials if one["mean"] is not None), reverse=True)
        ax.plot(range(1, len(means) + 1), means, marker=".")
        ax.axhline(self.mean, color="gray", linestyle=":", label="chosen")
        ax.set_xlabel("settings, best first")
        ax.set_ylabel("accuracy on held-out known classes")
        ax.legend()


class Comparison(Result):
    """What ``compare`` found: methods, best first.

    Its keys are those of ``bidilel compare --format json``; :meth:`plot` draws the accuracy of every method.
    """

    @property
    def results(self) -> list[dict[str, Any]]:
        """Every method with its figures."""
        found: list[dict[str, Any]] = self["results"]
        return found

    @property
    def best(self) -> str:
        """The name of the best method."""
        return str(self.results[0]["method"])

    def _rows(self) -> list[dict[str, Any]]:
        names = ["method", "kind", "per_class", "per_image", "standard_error", "p_corrected", "seconds", "error"]
        return [{name: one.get(name) for name in names} for one in self.results]

    def _title(self) -> str:
        figure = self.results[0].get("per_class") or 0.0
        return f"{self['dataset']}, {self['split']}: {self.best} is best, {100 * figure:.1f} % per class"

    def _draw(self, ax: Axes) -> None:
        ranked = [one for one in self.results if one.get("per_class") is not None][::-1]
        errors = [one.get("standard_error") or 0.0 for one in ranked]
        ax.barh([one["method"] for one in ranked], [one["per_class"] for one in ranked], xerr=errors)
        ax.set_xlabel("accuracy per class")
