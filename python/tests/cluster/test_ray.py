"""Prediction and fits on Ray give what one machine gives, and workers that die change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import ray
from scipy.spatial.distance import pdist

import bidilel
import bidilel.ray
from bidilel.ray._predict import again

from equal import CUTS, Reference, differences, generated, reference
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
        np.testing.assert_allclose(pdist(found.transform(X[::9])), pdist(here.transform(X[::9])), atol=1e-8)


def test_a_fit_takes_blocks_of_pandas(folder: Path) -> None:
    """So they are after a function over batches of pandas."""
    rows = ray.data.read_parquet(str(folder))
    asked = {"settings": {"dim": 12, "neighbors": 7}}
    found = bidilel.ray.fit(rows.map_batches(lambda batch: batch, batch_format="pandas"), **asked)
    assert found.to_bytes() == bidilel.ray.fit(rows, **asked).to_bytes()


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
