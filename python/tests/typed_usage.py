"""A program that uses the package, for the checker of types; it is never run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import bidilel


def use(X: NDArray[np.float32], y: NDArray[np.str_]) -> float:
    emoji: bidilel.Dataset = bidilel.emoji()
    trial: bidilel.Trial = emoji.trials()[0]
    model = bidilel.ZeroShotClassifier(dim=50, post=["self-training"]).fit(X, y, semantics=emoji.semantics())
    labels = model.refine(X)
    points: NDArray[np.float64] = bidilel.SLPP(dim=3).fit(X, y).transform(X)
    loaded: bidilel.Model = bidilel.Model.load("animals.model")
    result: bidilel.Evaluation = bidilel.evaluate(emoji, split="standard", dim=50)
    best: dict[str, object] = bidilel.tune(emoji, {"dim": [10, 20]}).best
    rows: list[dict[str, object]] = bidilel.compare(emoji, ["eszsl"]).results
    table: bidilel.Reproduction = bidilel.reproduce("gamma", scale=0.05, splits=3)
    several: list[bidilel.Reproduction] = bidilel.reproduce(["all"], data="data", out="results", resume=True)
    numbers: list[float | None] = [cell.mean for one in several for cell in one.cells]
    needed: list[str] = [one.get for one in table.missing]
    problems: list[dict[str, object]] = bidilel.inspect("folder").problems
    rows += problems + [{"numbers": numbers, "needed": needed}]
    return result.accuracy + len(labels) + len(points) + len(loaded.unseen) + len(best) + len(rows) + len(trial.test)
