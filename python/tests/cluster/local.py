"""A Ray of this process alone, and what scripts share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import bidilel


@contextmanager
def cluster(workers: int = 4, store_gib: float = 1.0) -> Iterator[None]:
    """Ray with this many workers on this machine, ended at the end."""
    assert "BIDILEL_CLUSTER" in os.environ, "Ray listens on every interface: start this with the script `run`"
    import ray

    with tempfile.TemporaryDirectory(prefix="r", dir="/tmp") as folder:
        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=int(store_gib * 2**30),
            _node_ip_address="127.0.0.1",
            _temp_dir=folder,
            log_to_driver=False,
            logging_level="ERROR",
        )
        try:
            yield
        finally:
            ray.shutdown()


def write_rows(folder: Path, rows: int, files: int, dim: int, classes: int, labels: bool = False) -> None:
    """Rows around the centers of classes, with ids, in Parquet files; the same for the same arguments."""
    folder.mkdir(parents=True)
    centers = np.random.default_rng(1).standard_normal((classes, dim), dtype=np.float32)
    bounds = np.linspace(0, rows, files + 1).astype(int)
    for number, (first, last) in enumerate(zip(bounds, bounds[1:])):
        draw = np.random.default_rng([2, number])
        own = draw.integers(0, classes, last - first)
        X = draw.standard_normal((last - first, dim), dtype=np.float32)
        X += centers[own]
        table = {"id": pa.array(np.arange(first, last)), "features": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), dim)}
        if labels:
            table["label"] = pa.array([f"c{label}" for label in own])
        pq.write_table(pa.table(table), folder / f"{number:05}.parquet", compression="none", use_dictionary=["label"] if labels else False)


def small_model(dim: int, classes: int) -> bidilel.Model:
    """A model that knows some of the classes of :func:`write_rows`, and describes the others."""
    centers = np.random.default_rng(1).standard_normal((classes, dim), dtype=np.float32)
    known = classes // 2
    y = np.repeat(np.arange(known), 40)
    X = centers[y] + np.random.default_rng(3).standard_normal((len(y), dim)).astype(np.float32)
    semantics = {f"c{label}": center[:20] for label, center in enumerate(centers)}
    names = np.array([f"c{label}" for label in y])
    return bidilel.ZeroShotClassifier(dim=min(20, dim)).fit(X, names, semantics).model_
