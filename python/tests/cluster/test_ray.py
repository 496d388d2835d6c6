"""Prediction and fits on Ray give what one machine gives, and workers that die change nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import ray
from scipy.spatial.distance import pdist

import bidilel
import bidilel.ray
from bidilel.arrow import matrix
from bidilel.ray._fit import _Tasks
from bidilel.ray._predict import again

from equal import CUTS, Reference, differences, generated, reference
from kill import killing
from local import cluster, small_model, write_rows


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    with cluster(workers=4, store_gib=0.5):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows") / "data"
    write_rows(folder, 3000, files=5, dim=24, classes=8, labels=True)
    return folder


@pytest.mark.parametrize("form", ["path", "bytes"])
def test_predictions_are_those_of_one_machine_with_every_id_once(folder: Path, tmp_path: Path, form: str) -> None:
    model = small_model(24, 8)
    model.save(tmp_path / "model")
    given = tmp_path / "model" if form == "path" else model.to_bytes()
    bidilel.ray.predict(folder, given, output=tmp_path / "out", keep=["id"], batch_size=500, concurrency=2)
    found, rows = pq.read_table(tmp_path / "out"), pq.read_table(folder)
    assert found.column_names == ["id", "label", "distance"]
    assert sorted(found["id"].to_pylist()) == list(range(3000))
    expected = model.predict(np.stack(rows["features"].to_numpy()))
    labels = dict(zip(found["id"].to_pylist(), found["label"].to_pylist()))
    assert [labels[id] for id in rows["id"].to_pylist()] == expected.tolist()
    assert not list(tmp_path.glob(".*")), "nothing half written is left"
    with pytest.raises(FileExistsError):
        bidilel.ray.predict(folder, given, output=tmp_path / "out")


@pytest.mark.parametrize("concurrency", [None, 1, 4])
def test_all_processors_may_recognize(folder: Path, concurrency: int | None) -> None:
    """Those that read must have their turn, too."""
    found = bidilel.ray.predict(folder, small_model(24, 8), keep=["id"], concurrency=concurrency)
    assert sorted(row["id"] for row in found.iter_rows()) == list(range(3000))


def test_a_fit_on_four_workers_is_the_fit(folder: Path) -> None:
    rows = pq.read_table(folder)
    X, y = np.stack(rows["features"].to_numpy()), np.array(rows["label"].to_pylist())
    seen = np.isin(y, [f"c{i}" for i in range(6)])
    semantics = {f"c{i}": np.random.default_rng(i).standard_normal(9) for i in range(8)}
    part = ray.data.read_parquet(str(folder)).filter(lambda row: row["label"] in {f"c{i}" for i in range(6)})
    settings = {"dim": 12, "neighbors": 7}
    here = bidilel.ZeroShotClassifier(settings=settings).fit(X[seen], y[seen], semantics).model_
    for partitions in [None, 4]:
        found = bidilel.ray.fit(part, semantics, partitions=partitions, settings=settings)
        assert found.predict(X).tolist() == here.predict(X).tolist()
        np.testing.assert_allclose(pdist(found.transform(X[::9])), pdist(here.transform(X[::9])), rtol=0, atol=1e-8)


def test_a_fit_takes_blocks_of_pandas(folder: Path) -> None:
    """So they are after a function over batches of pandas."""
    rows = ray.data.read_parquet(str(folder))
    asked = {"settings": {"dim": 12, "neighbors": 7}}
    found = bidilel.ray.fit(rows.map_batches(lambda batch: batch, batch_format="pandas"), **asked)
    assert found.to_bytes() == bidilel.ray.fit(rows, **asked).to_bytes()


def test_workers_that_are_killed_cost_no_row(tmp_path: Path) -> None:
    """The job is repeated until it was under way when a worker was killed."""
    rows, model = 200_000, small_model(24, 8)
    write_rows(tmp_path / "rows", rows, files=20, dim=24, classes=8)
    table = pq.read_table(tmp_path / "rows")
    expected = dict(zip(table["id"].to_pylist(), model.predict(matrix(table, "features")).tolist()))
    for attempt in range(10):
        # Few rows are one block otherwise, and one task.
        blocks = ray.data.read_parquet(str(tmp_path / "rows")).repartition(20)
        output = tmp_path / f"out{attempt}"
        # No more than two: where other work takes the processors, a worker needs seconds to start.
        with killing(every=0.3, most=2) as killed:
            bidilel.ray.predict(blocks, model, output=output, keep=["id"], batch_size=500, concurrency=4)
        found = pq.read_table(output)
        assert sorted(found["id"].to_pylist()) == list(range(rows)), "every row once"
        assert dict(zip(found["id"].to_pylist(), found["label"].to_pylist())) == expected
        if killed:
            break
    assert killed


def test_an_interrupted_fit_leaves_no_tasks(folder: Path) -> None:
    """The processors are free soon after: what is left would take them for two minutes."""
    def stop(stage: str, done: int, total: int | None) -> None:
        if stage == "neighbors":
            raise KeyboardInterrupt

    def slow() -> None:
        # An interrupt from Ray is seen between two steps of Python, not within a long one.
        for _ in range(600):
            time.sleep(0.1)

    engine = _Tasks(1)
    for _ in range(8):
        engine.submit(slow)
    with pytest.raises(ray.exceptions.GetTimeoutError):
        ray.get(engine.submit(int), timeout=1)
    engine.cancel()
    assert ray.get(engine.submit(int), timeout=30) == 0
    with pytest.raises(KeyboardInterrupt):
        bidilel.ray.fit(folder, partitions=4, settings={"dim": 12}, progress=stop)
    assert ray.get(engine.submit(int), timeout=30) == 0


@pytest.fixture(scope="module", params=[("exp", "global"), ("heat", "within-class"), ("binary", "global")], ids="-".join)
def one_machine(request: pytest.FixtureRequest) -> Reference:
    weights, neighborhood = request.param
    X, y = generated()
    return reference(X[:900], y[:900], neighbors=7, dim=12, weights=weights, neighborhood=neighborhood)


@pytest.mark.parametrize("cut", CUTS)
def test_matrices_eigenvalues_distances_and_labels_are_those_of_one_machine(one_machine: Reference, cut: str) -> None:
    found = differences(one_machine, CUTS[cut])
    assert max(found[:5]) < 1e-8, found
    assert found.labels == 0


def test_mistakes_in_tasks_are_told_at_once_and_as_they_are(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model, rows = small_model(24, 8), ray.data.read_parquet(str(folder))
    holes = rows.map_batches(lambda batch: {"features": np.where(batch["id"][:, None] == 7, np.nan, np.stack(batch["features"]))})
    for given, column, words in (
        (rows, "feature", "no column `feature` among"),
        (holes, "features", "is NaN"),
        (rows.filter(lambda row: row["id"] < 0), "features", "the dataset has no rows"),
    ):
        with pytest.raises(ValueError, match=words):
            bidilel.ray.predict(given, model, output=tmp_path / "out", features=column, keep=[])
        assert not given.context.raise_original_map_exception, "the context is as it was"
    with pytest.raises(KeyError, match="none"):
        bidilel.ray.fit(rows.map_batches(lambda batch: batch["none"]))
    assert not [record for record in caplog.records if "started again" in record.message]
    assert not list(tmp_path.iterdir()), "nothing half-written is left"


def test_mistakes_are_told_at_once_and_not_tried_again(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bidilel.ray.predict(folder, tmp_path / "nothing")
    with pytest.raises(ValueError, match="retries"):
        bidilel.ray.predict(folder, b"", retries=-1)
    with pytest.raises(ValueError, match="search must be exact"):
        bidilel.ray.fit(folder, settings={"search": "approximate"})


def test_a_job_is_started_again_where_ray_fails_and_only_there() -> None:
    calls: list[int] = []

    def failing(times: int, error: Exception) -> int:
        calls.append(1)
        if len(calls) <= times:
            raise error
        return len(calls)

    assert again(lambda: failing(2, ray.exceptions.NodeDiedError("lost")), retries=2) == 3
    calls.clear()
    with pytest.raises(ray.exceptions.NodeDiedError):
        again(lambda: failing(9, ray.exceptions.NodeDiedError("lost")), retries=1)
    assert len(calls) == 2
    calls.clear()
    with pytest.raises(KeyError):
        again(lambda: failing(9, KeyError("ours")), retries=5)
    assert len(calls) == 1
