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
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bidilel

from conftest import Arrays


class Reference:
    """A value in the object store."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Rows:
    """A dataset of one table, whose batches are recognized when it is asked for them; blocks are of Arrow or pandas."""

    def __init__(self, table: pa.Table | Callable[[], pa.Table], pandas: bool = False) -> None:
        self._table, self._pandas = table, pandas
        self.context = ModuleType("context")
        self.context.raise_original_map_exception = False  # type: ignore[attr-defined]
        self.context.execution_options = ModuleType("options")  # type: ignore[attr-defined]
        self.context.execution_options.preserve_order = False  # type: ignore[attr-defined]

    @property
    def table(self) -> pa.Table:
        return self._table() if callable(self._table) else self._table

    def map_batches(self, function: Callable[..., pa.Table], *, fn_args: tuple[Any, ...], batch_size: int, **_: Any) -> Rows:
        def batch(at: int) -> pa.Table:
            try:
                return function(self.table.slice(at, batch_size), *fn_args)
            except Exception as error:
                # As Ray Data does it: what is sent to the driver has no cause of its own.
                own = mapped.context.raise_original_map_exception  # type: ignore[attr-defined]
                raise RayTaskError(error if own else UserCodeException("UDF failed to process a data block.")) from None

        mapped = Rows(lambda: pa.concat_tables([batch(at) for at in range(0, max(1, len(self.table)), batch_size)]))
        return mapped

    def write_parquet(self, path: str) -> None:
        if len(self.table):
            Path(path).mkdir()
            pq.write_table(self.table, f"{path}/0.parquet")

    def select_columns(self, names: list[str]) -> Rows:
        return Rows(self.table.select(names), self._pandas)

    def repartition(self, _: int) -> Rows:
        return self

    def materialize(self) -> Rows:
        return self

    def iter_internal_ref_bundles(self) -> list[Any]:
        bundle = ModuleType("bundle")
        half = len(self.table) // 2
        blocks = [self.table.slice(0, half), self.table.slice(half)]
        bundle.block_refs = [one.to_pandas() for one in blocks] if self._pandas else blocks  # type: ignore[attr-defined]
        return [bundle]


class Block:
    """What is known of a block, which may be a table of Arrow or pandas."""

    def __init__(self, block: pa.Table | pd.DataFrame) -> None:
        self._block = block

    @classmethod
    def for_block(cls, block: pa.Table | pd.DataFrame) -> Block:
        return cls(block)

    def to_arrow(self) -> pa.Table:
        return self._block if isinstance(self._block, pa.Table) else pa.Table.from_pandas(self._block)


class RayError(Exception):
    """A failure of Ray."""


class RayTaskError(RayError):
    """An exception in a task."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class UserCodeException(RayError):
    """An exception in a function over a dataset."""


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

    def read_parquet(path: str) -> Rows:
        return Rows(pq.read_table(path))

    block = made("ray.data.block", BlockAccessor=Block)
    data = made("ray.data", Dataset=Rows, TaskPoolStrategy=lambda _: None, read_parquet=read_parquet, block=block)
    exceptions = made("ray.exceptions", RayError=RayError, RayTaskError=RayTaskError)
    def wait(handles: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        return handles, []

    ray = made("ray", data=data, exceptions=exceptions, ObjectRef=Reference, put=Reference, get=get, remote=remote, wait=wait)
    return {"ray": ray, "ray.data": data, "ray.data.block": block, "ray.exceptions": exceptions}


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


def test_a_fit_takes_blocks_of_pandas(here: Any, zoo: Arrays) -> None:
    """So they are after a function over batches of pandas."""
    table = pa.table({"label": zoo.y, "features": list(zoo.X)})
    found = here.fit(Rows(table, pandas=True), zoo.semantics, settings={"dim": 10})
    assert found.to_bytes() == here.fit(Rows(table), zoo.semantics, settings={"dim": 10}).to_bytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RayError("the node is lost")])
def test_tasks_of_a_fit_that_ends_early_are_canceled(
    here: Any, zoo: Arrays, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """The last three have not finished when the callback raises, and the others have."""
    ray, canceled = sys.modules["ray"], list[Any]()
    monkeypatch.setattr(ray, "wait", lambda handles, **_: (handles[:-3], handles[-3:]), raising=False)
    monkeypatch.setattr(ray, "cancel", canceled.append, raising=False)

    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "scatter":
            raise error

    table = Rows(pa.table({"label": zoo.y, "features": list(zoo.X)}))
    with pytest.raises(type(error)):
        here.fit(table, zoo.semantics, settings={"dim": 10}, progress=stop, retries=0)
    assert len(canceled) == 3
    here.fit(table, zoo.semantics, settings={"dim": 10})
    assert len(canceled) == 3, "a fit that ends well cancels nothing"


def test_only_tasks_that_have_not_finished_are_remembered(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    own = sys.modules["bidilel.ray._fit"]
    monkeypatch.setattr(own, "_MARKS", 4)
    tasks = own._Tasks(1)  # type: ignore[attr-defined]
    for _ in range(100):
        assert tasks.get(tasks.submit(max, 1, 2)) == 2
        assert len(tasks._marks) <= 5


def test_a_task_of_an_earlier_attempt_adds_no_rows(
    here: Any, rows: Rows, zoo: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that Ray has lost sight of may be alive, and write on."""
    monkeypatch.setattr(sys.modules["bidilel.ray._predict"], "_PAUSE", 0.0)
    write, attempts = Rows.write_parquet, list[str]()

    def late(self: Rows, path: str) -> None:
        write(self, path)
        attempts.append(path)
        if len(attempts) == 1:
            raise RayError("the node is lost")
        Path(attempts[0]).mkdir(exist_ok=True)
        pq.write_table(self.table, f"{attempts[0]}/late.parquet")

    monkeypatch.setattr(Rows, "write_parquet", late)
    found = here.predict(rows, model(zoo, 10), output=tmp_path / "out", keep=["id"], candidates="known").table
    assert len(attempts) == 2 and found["id"].to_pylist() == list(range(len(zoo.X)))


def test_a_mistake_of_the_user_is_raised_at_once_and_as_it_is(
    here: Any, rows: Rows, zoo: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, attempts = Rows.write_parquet, list[str]()

    def counting(self: Rows, path: str) -> None:
        attempts.append(path)
        write(self, path)

    monkeypatch.setattr(Rows, "write_parquet", counting)
    holes = np.where(np.arange(len(zoo.X))[:, None] == 5, np.nan, zoo.X)
    for given, column, kind, words in (
        (rows, "feature", ValueError, "no column `feature` among"),
        (Rows(pa.table({"features": list(holes)})), "features", ValueError, "row 5, column 0 is NaN"),
        (Rows(rows.table.slice(0, 0)), "features", ValueError, "the dataset has no rows"),
    ):
        attempts.clear()
        with pytest.raises(kind, match=words):
            here.predict(given, model(zoo, 10), output=tmp_path / "out", features=column)
        assert len(attempts) == 1
    assert not list(tmp_path.iterdir()), "nothing half-written is left"


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

    class Late(RayError, TimeoutError):
        """A failure of Ray that is an OSError, too."""

    assert own.again(lambda: failing(RayError()), 2) == 3  # type: ignore[attr-defined]
    for error, kind, times in (
        (RayTaskError(ValueError("ours")), ValueError, 1),
        (RayTaskError(RayTaskError(KeyError("ours"))), KeyError, 1),
        (RayTaskError(Late()), RayTaskError, 2),
        (KeyError(), KeyError, 1),
        (RayError(), RayError, 2),
    ):
        calls.clear()
        with pytest.raises(kind):
            own.again(lambda error=error: failing(error), 1)  # type: ignore[attr-defined]
        assert len(calls) == times
