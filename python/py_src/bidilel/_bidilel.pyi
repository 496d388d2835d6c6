from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

from ._inputs import Representation
from ._running import Running

__all__ = [
    "Dataset", "Model", "__version__", "assembled", "check_settings", "class_folds", "class_sums", "compare",
    "distributed_graph", "evaluate", "graph_scatter", "landmark_sammon", "leading_map", "main", "methods",
    "pair_neighbors", "prepared", "reproduce", "reproductions", "sammon", "settings_table", "tune",
]

__version__: str

class _Splits(TypedDict):
    split: str | None
    random: int | None
    unseen: float | None

class _Search(TypedDict):
    strategy: str
    samples: int
    auto: bool
    holdout: float | None
    trials: int | None
    seconds: float | None
    evaluations: int | None

class _Extent(TypedDict):
    splits: int | None
    folds: int | None
    starts: int | None

@final
class Model:
    @staticmethod
    def fit(
        x: NDArray[Any],
        labels: NDArray[np.int64],
        known: list[str],
        unseen: list[str],
        semantics: list[Representation],
        settings: str,
        *,
        seed: int,
        columns: list[str] | None,
        calibrate: int | None,
        keep_instances: int | None,
        running: Running,
    ) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes, running: Running) -> Model: ...
    def to_bytes(self, running: Running) -> bytes: ...
    @staticmethod
    def load(path: str | PathLike[str], running: Running) -> Model: ...
    def save(self, path: str | PathLike[str], running: Running) -> None: ...
    def header(self) -> str: ...
    @property
    def known(self) -> list[str]: ...
    @property
    def unseen(self) -> list[str]: ...
    @property
    def features(self) -> int: ...
    @property
    def method(self) -> str: ...
    @property
    def candidates(self) -> str: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def refiners(self) -> list[str]: ...
    @property
    def semantics(self) -> list[tuple[str, int]]: ...
    def predict(
        self, x: NDArray[Any], candidates: str | None, running: Running
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def scores(self, x: NDArray[Any], candidates: str | None, running: Running) -> NDArray[np.float64]: ...
    def refined(self, x: NDArray[Any], running: Running) -> NDArray[np.float64]: ...
    def project(self, x: NDArray[Any], unit: bool, running: Running) -> NDArray[np.float64]: ...
    def class_points(self, candidates: str) -> NDArray[np.float64]: ...
    def components(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    def stress(self) -> tuple[float, bool] | None: ...
    def explain(
        self, x: NDArray[Any], candidates: str | None, extent: tuple[int, int, int, int], running: Running
    ) -> str: ...
    def with_class(self, name: str, semantics: Mapping[str, Sequence[float]], running: Running) -> Model: ...
    def without_classes(self, names: list[str], running: Running) -> Model: ...

@final
class Dataset:
    @staticmethod
    def open(name: str, seed: int, running: Running) -> Dataset: ...
    @staticmethod
    def generate(preset: str, over: str, seed: int, running: Running) -> Dataset: ...
    @staticmethod
    def inspect(name: str, running: Running) -> str: ...
    def inspected(self, running: Running) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def labels(self) -> NDArray[np.int64]: ...
    @property
    def visual(self) -> list[tuple[str, int, str]]: ...
    @property
    def semantic(self) -> list[tuple[str, int, str]]: ...
    @property
    def splits(self) -> list[tuple[str, str, int]]: ...
    @property
    def characters(self) -> list[str] | None: ...
    def trials(self, split: str | None) -> list[dict[str, Any]]: ...
    def features(self, name: str | None, instances: list[int] | None, running: Running) -> NDArray[np.float32]: ...
    def semantics(self, name: str | None) -> tuple[NDArray[np.float64], list[str] | None]: ...
    def picture(self, instance: int) -> bytes: ...
    def write(self, folder: str | PathLike[str], overwrite: bool, running: Running) -> None: ...
    def fit(self, settings: str, split: str | None, seed: int, running: Running) -> Model: ...

def main(arguments: list[str]) -> int: ...
def check_settings(settings: str) -> str: ...
def settings_table() -> str: ...
def methods() -> str: ...
def reproductions() -> str: ...
def reproduce(
    tables: list[str],
    *,
    data: str | PathLike[str] | None,
    scale: float,
    out: str | PathLike[str] | None,
    resume: bool,
    extent: _Extent,
    seed: int,
    running: Running,
) -> str: ...
def class_folds(classes: int, share: float, count: int, seed: int) -> list[list[int]]: ...
def sammon(distances: NDArray[np.float64], dim: int, running: Running) -> tuple[NDArray[np.float64], float]: ...
def landmark_sammon(
    landmarks: NDArray[np.float64],
    outer: NDArray[np.float64],
    inner: NDArray[np.float64] | None,
    *,
    seed: int | None,
    running: Running,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def prepared(x: NDArray[Any], settings: str, running: Running) -> NDArray[np.float32]: ...
def pair_neighbors(
    x: NDArray[np.float32], labels: NDArray[np.int64], k: int, within_class: bool, running: Running
) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
def graph_scatter(
    x: NDArray[np.float32],
    others: NDArray[np.float32],
    offsets: NDArray[np.int64],
    ends: NDArray[np.int64],
    weights: NDArray[np.float64],
    running: Running,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def class_sums(
    x: NDArray[np.float32],
    labels: NDArray[np.int64],
    classes: int,
    map: NDArray[np.float64],
    mean: NDArray[np.float64],
    running: Running,
) -> NDArray[np.float64]: ...
def distributed_graph(settings: str) -> tuple[int, bool, str]: ...
def leading_map(
    degree: NDArray[np.float64],
    laplacian: NDArray[np.float64],
    rows: list[int],
    instances: int,
    settings: str,
    running: Running,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def assembled(
    map: NDArray[np.float64],
    mean: NDArray[np.float64],
    sums: NDArray[np.float64],
    known: list[str],
    unseen: list[str],
    semantics: list[Representation],
    settings: str,
    *,
    seed: int,
    columns: list[str] | None,
    instances: int,
    fingerprint: str,
    running: Running,
) -> Model: ...
def evaluate(
    dataset: Dataset,
    settings: str,
    *,
    splits: _Splits,
    test_seen_share: float | None,
    seed: int,
    repeats: int,
    top: list[int],
    running: Running,
) -> str: ...
def tune(
    dataset: Dataset, settings: str, grid: str, *, splits: _Splits, search: _Search, seed: int, running: Running
) -> str: ...
def compare(
    dataset: Dataset,
    methods: list[str],
    settings: str,
    *,
    splits: _Splits,
    test_seen_share: float | None,
    tune: bool,
    search: _Search,
    seed: int,
    running: Running,
) -> str: ...
