"""A job while its workers are killed at random moments: every row once, with the labels of one machine.

    tests/cluster/run python kill.py --rows 10000000 --folder /tmp/rows
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import bidilel.ray
from bidilel.arrow import Recognizer

from local import cluster, small_model, write_rows


def workers() -> list[int]:
    """Processes that read, recognize or write. All that is in this namespace was started by this script."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if name.startswith(("ray::MapWorker", "ray::MapBatches", "ray::ReadFiles", "ray::Write")):
            found.append(int(process.name))
    return found


def kill_now_and_then(stop: threading.Event, every: float, killed: list[int]) -> None:
    draw = random.Random(0)
    while not stop.wait(draw.uniform(0.5 * every, 1.5 * every)):
        alive = workers()
        if alive:
            victim = draw.choice(alive)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two kills, about")
    parser.add_argument("--folder", type=Path, required=True, help="a folder to make, and to remove at the end")
    options = parser.parse_args()
    rows, output = options.folder / "rows", options.folder / "labels"
    try:
        began = time.time()
        write_rows(rows, options.rows, options.files, options.dim, classes=20)
        model = small_model(options.dim, 20)
        model.save(options.folder / "model")
        print(f"{options.rows} x {options.dim} rows written in {time.time() - began:.0f} s", flush=True)
        stop, killed = threading.Event(), list[int]()
        with cluster(options.workers, store_gib=2.0):
            began = time.time()
            killer = threading.Thread(target=kill_now_and_then, args=(stop, options.every, killed))
            killer.start()
            try:
                bidilel.ray.predict(rows, options.folder / "model", output=output, concurrency=options.workers)
            finally:
                stop.set()
                killer.join()
            spent = time.time() - began
        print(f"on Ray: {spent:.0f} s, {options.rows / spent:,.0f} rows/s, {len(killed)} workers killed", flush=True)
        found = pq.read_table(output)
        ids = found["id"].to_numpy()
        assert len(ids) == options.rows and (np.sort(ids) == np.arange(options.rows)).all(), "every row once"
        labels = found["label"].to_numpy(zero_copy_only=False)[np.argsort(ids)]
        began, recognizer = time.time(), Recognizer(model, n_jobs=options.workers)
        for path in sorted(rows.iterdir()):
            own = recognizer(pq.read_table(path))
            assert (labels[own["id"].to_numpy()] == own["label"].to_numpy(zero_copy_only=False)).all(), "the same labels"
        spent = time.time() - began
        print(f"one process, {options.workers} threads: {spent:.0f} s, {options.rows / spent:,.0f} rows/s", flush=True)
        print("every row once, all labels those of one process")
    finally:
        shutil.rmtree(options.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
