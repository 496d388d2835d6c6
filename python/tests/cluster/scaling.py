"""Time and memory of a fit over partitions, and of prediction, on several local workers.

    tests/cluster/run python scaling.py --rows 100000
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from scipy.spatial.distance import pdist

import bidilel
import bidilel.ray
from bidilel.arrow import matrix

from local import cluster, write_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--classes", type=int, default=200)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--neighborhood", default="within-class", choices=["within-class", "global"])
    options = parser.parse_args()
    settings = {"neighborhood": options.neighborhood, "dim": 50}
    folder = Path(tempfile.mkdtemp(prefix="scaling"))
    try:
        write_rows(folder / "rows", options.rows, options.partitions, options.dim, options.classes, labels=True)
        stages: list[tuple[str, float]] = []

        def tell(stage: str, done: int, total: int | None) -> None:
            stages.append((stage, time.time()))

        with cluster(options.workers, store_gib=3.0):
            began = time.time()
            found = bidilel.ray.fit(
                folder / "rows", partitions=options.partitions, settings=settings, progress=tell
            )
            spent, memory = time.time() - began, largest_worker()
        stages.append(("end", began + spent))
        parts = ", ".join(f"{name} {after - at:.1f} s" for (name, at), (_, after) in zip(stages, stages[1:]))
        print(f"fit of {options.rows} x {options.dim}, {options.classes} classes, {options.neighborhood}, "
              f"{options.partitions} partitions, {options.workers} workers: {spent:.1f} s ({parts})", flush=True)
        print(f"largest worker: {memory:.2f} GiB, memory that all share included", flush=True)
        compare(folder, options, settings, found)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def largest_worker() -> float:
    """The most memory that a worker has had, in GiB. All that is in this namespace was started by this script."""
    most = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(b"ray::"):
                lines = (process / "status").read_text().splitlines()
                most = max(most, *(int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
        except OSError:
            continue
    return most / 2**20


def compare(folder: Path, options: Any, settings: dict[str, Any], found: bidilel.Model) -> None:
    rows = pq.read_table(folder / "rows")
    X, y = matrix(rows, "features"), np.array(rows["label"].to_pylist())
    began = time.time()
    here = bidilel.ZeroShotClassifier(n_jobs=options.workers, settings=settings).fit(X, y).model_
    print(f"one process, {options.workers} threads: {time.time() - began:.1f} s", flush=True)
    some = X[:: max(1, len(X) // 2000)]
    largest = np.abs(pdist(found.transform(some)) - pdist(here.transform(some))).max()
    same = (found.predict(X, candidates="known") == here.predict(X, candidates="known")).mean()
    print(f"largest difference of latent distances {largest:.1e}, equal labels {100 * same:.4f} %")


if __name__ == "__main__":
    main()
