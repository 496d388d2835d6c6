"""Zero-shot recognition by bidirectional latent embedding.

Classes that have no labeled instance are recognized by their descriptions: attributes, or the word vectors of their names.
The estimators follow the conventions of scikit-learn; models are the same files that the program ``bidilel`` reads and
writes, and the package installs that program, too.

>>> import bidilel
>>> emoji = bidilel.emoji()
>>> result = bidilel.evaluate(emoji)
>>> result.accuracy > 3 * result.chance
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._bidilel import __version__ as __version__
    from ._cells import Cell as Cell
    from ._cells import Curve as Curve
    from ._cells import Figure as Figure
    from ._cells import MissingData as MissingData
    from ._classifier import ZeroShotClassifier as ZeroShotClassifier
    from ._dataset import Dataset as Dataset
    from ._dataset import Trial as Trial
    from ._datasets import emoji as emoji
    from ._datasets import generate as generate
    from ._datasets import inspect as inspect
    from ._datasets import open as open
    from ._experiments import compare as compare
    from ._experiments import evaluate as evaluate
    from ._experiments import methods as methods
    from ._experiments import settings as settings
    from ._experiments import tune as tune
    from ._findings import Explanation as Explanation
    from ._findings import Inspection as Inspection
    from ._folds import ClassFolds as ClassFolds
    from ._mappings import LandmarkSammon as LandmarkSammon
    from ._mappings import Sammon as Sammon
    from ._model import Model as Model
    from ._projections import LPP as LPP
    from ._projections import SLPP as SLPP
    from ._reproduction import reproduce as reproduce
    from ._reproduction import reproductions as reproductions
    from ._results import Comparison as Comparison
    from ._results import Evaluation as Evaluation
    from ._results import Tuning as Tuning
    from ._tables import Reproduction as Reproduction

#: Where each name is defined: modules are imported when they are used, so that the command starts at once.
_HOMES = {
    "__version__": "_bidilel",
    "Cell": "_cells",
    "Curve": "_cells",
    "Figure": "_cells",
    "MissingData": "_cells",
    "ZeroShotClassifier": "_classifier",
    "Dataset": "_dataset",
    "Trial": "_dataset",
    "emoji": "_datasets",
    "generate": "_datasets",
    "inspect": "_datasets",
    "open": "_datasets",
    "compare": "_experiments",
    "evaluate": "_experiments",
    "methods": "_experiments",
    "settings": "_experiments",
    "tune": "_experiments",
    "Explanation": "_findings",
    "Inspection": "_findings",
    "ClassFolds": "_folds",
    "LandmarkSammon": "_mappings",
    "Sammon": "_mappings",
    "Model": "_model",
    "LPP": "_projections",
    "SLPP": "_projections",
    "reproduce": "_reproduction",
    "reproductions": "_reproduction",
    "Comparison": "_results",
    "Evaluation": "_results",
    "Tuning": "_results",
    "Reproduction": "_tables",
}

#: All but two that have the names of what Python has: `from bidilel import *` must not take these away.
__all__ = sorted(name for name in _HOMES if not name.startswith("_") and name not in ("open", "inspect"))


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_HOMES))
