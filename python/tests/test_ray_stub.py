"""The parts of `bidilel.ray` below Ray itself, with a module in its place that runs everything here."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import bidilel

from conftest import Arrays


class Reference:
    """A value in the object store."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Rows:
    """A dataset of one table, whose batches are recognized when it is asked for them."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table
        self.context = ModuleType("context")
        self.context.execution_options = ModuleType("options")  # type: ignore[attr-defined]
        self.context.execution_options.preserve_order = False  # type: ignore[attr-defined]

    def map_batches(self, function: Callable[..., pa.Table], *, fn_args: tuple[Any, ...], batch_size: int, **_: Any) -> Rows:
        cut = [self.table.slice(at, batch_size) for at in range(0, len(self.table), batch_size)]
        return Rows(pa.concat_tables([function(one, *fn_args) for one in cut]))

    def select_columns(self, names: list[str]) -> Rows:
        return Rows(self.table.select(names))

    def repartition(self, _: int) -> Rows:
        return self

    def materialize(self) -> Rows:
        return self

    def iter_internal_ref_bundles(self) -> list[Any]:
        bundle = ModuleType("bundle")
        half = len(self.table) // 2
        bundle.block_refs = [self.table.slice(0, half), self.table.slice(half)]  # type: ignore[attr-defined]
        return [bundle]


class RayError(Exception):
    """A failure of Ray."""


class RayTaskError(RayError):
    """An exception in a task."""

    cause: Exception


def stub() -> dict[str, ModuleType]:
    def made(name: str, **members: Any) -> ModuleType:
        module = ModuleType(name)
        vars(module).update(members)
        return module

    def remote(**_: Any) -> Callable[..., Any]:
        def around(function: Callable[..., Any]) -> Any:
            return made("task", remote=function)

        return around

    def get(handle: Any) -> Any:
        if isinstance(handle, list):
            return [get(one) for one in handle]
        return handle.value if isinstance(handle, Reference) else handle

    data = made("ray.data", Dataset=Rows, TaskPoolStrategy=lambda _: None)
    exceptions = made("ray.exceptions", RayError=RayError, RayTaskError=RayTaskError)
    ray = made("ray", data=data, exceptions=exceptions, ObjectRef=Reference, put=Reference, get=get, remote=remote)
    return {"ray": ray, "ray.data": data, "ray.exceptions": exceptions}


@pytest.fixture(scope="module")
def here() -> Iterator[Any]:
    ours = [name for name in sys.modules if name.startswith(("ray.", "bidilel.ray")) or name == "ray"]
    before = {name: sys.modules.pop(name) for name in ours}
    sys.modules.update(stub())
    yield importlib.import_module("bidilel.ray")
    for name in [name for name in sys.modules if name.startswith(("ray.", "bidilel.ray")) or name == "ray"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.fixture(scope="module")
def rows(zoo: Arrays) -> Rows:
    return Rows(pa.table({"id": np.arange(len(zoo.X)), "class": zoo.y, "features": list(zoo.X)}))


def model(zoo: Arrays, dim: int) -> bidilel.Model:
    return bidilel.ZeroShotClassifier(dim=dim).fit(zoo.X, zoo.y, zoo.semantics).model_


@pytest.mark.parametrize("form", ["path", "bytes", "model"])
def test_predictions_are_those_of_the_model(here: Any, rows: Rows, zoo: Arrays, tmp_path: Path, form: str) -> None:
    own = model(zoo, 10)
    own.save(tmp_path / "model")
    given = {"path": tmp_path / "model", "bytes": own.to_bytes(), "model": own}[form]
    found = here.predict(rows, given, keep=["id"], candidates="known", batch_size=37).table
    assert found.column_names == ["id", "label", "distance"]
    assert found["label"].to_pylist() == own.predict(zoo.X, candidates="known").tolist()


def test_a_model_that_takes_the_place_of_another_is_seen_by_a_worker_that_knows_that(
    here: Any, rows: Rows, zoo: Arrays, tmp_path: Path
) -> None:
    """A worker outlives a job."""
    path = tmp_path / "model"
    first, second = model(zoo, 10), model(zoo, 10).remove_class(zoo.y[0])
    answers = []
    for own in (first, second, first):
        own.save(path)
        os.utime(path, ns=(len(answers) * 10**9,) * 2)
        answers.append(here.predict(rows, path, candidates="known", keep=[]).table["label"].to_pylist())
        assert answers[-1] == own.predict(zoo.X, candidates="known").tolist()
    assert answers[0] == answers[2] != answers[1]


def test_a_fit_over_columns_knows_their_names(here: Any, zoo: Arrays) -> None:
    names = [f"x{i}" for i in range(zoo.X.shape[1])]
    table = pa.table({"label": zoo.y, **{name: zoo.X[:, i] for i, name in enumerate(names)}})
    fitted = here.fit(Rows(table), zoo.semantics, features=names, settings={"dim": 10})
    assert fitted.columns == names
    found = here.predict(Rows(table), fitted, features=names[::-1], keep=[]).table
    assert found["label"].to_pylist() == fitted.predict(zoo.X).tolist()
    one = here.fit(Rows(pa.table({"label": zoo.y, "features": list(zoo.X)})), zoo.semantics, settings={"dim": 10})
    assert one.columns is None and one.predict(zoo.X).tolist() == fitted.predict(zoo.X).tolist()


def test_mistakes_are_told_in_clear_words(here: Any, rows: Rows, zoo: Arrays, tmp_path: Path) -> None:
    null = Rows(pa.table({"class": [None, *zoo.y[1:]], "features": list(zoo.X)}))
    with pytest.raises(ValueError, match=f"column `class`: 1 of {len(zoo.y) // 2} rows are null"):
        here.fit(null, zoo.semantics, label="class")
    for function, second in ((here.fit, zoo.semantics), (here.predict, b"")):
        with pytest.raises(ValueError, match="retries must be at least 0, found -1"):
            function(rows, second, retries=-1)
    with pytest.raises(FileNotFoundError):
        here.predict(rows, tmp_path / "nothing")


def test_a_job_is_started_again_where_ray_fails(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = sys.modules["bidilel.ray._predict"]
    monkeypatch.setattr(own, "_PAUSE", 0.0)
    calls: list[int] = []

    def failing(error: Exception) -> int:
        calls.append(1)
        if len(calls) < 3:
            raise error
        return len(calls)

    mistake = RayTaskError()
    mistake.cause = ValueError("ours")
    assert own.again(lambda: failing(RayError()), 2) == 3  # type: ignore[attr-defined]
    for error, times in ((mistake, 1), (KeyError(), 1), (RayError(), 2)):
        calls.clear()
        with pytest.raises(type(error)):
            own.again(lambda error=error: failing(error), 1)  # type: ignore[attr-defined]
        assert len(calls) == times
