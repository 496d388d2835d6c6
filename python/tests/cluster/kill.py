"""A job while its workers are killed at random moments: every row once, with the answers of one process.

    tests/cluster/run python kill.py --rows 10000000 --folder /tmp/rows

The same job without kills, and one process with as many threads, are measured beside it. All three read, recognize and write.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def killing(every: float, most: int | None = None) -> Iterator[list[int]]:
    """Kills a worker about every so many seconds during the block, at most so many; gives those that were killed."""
    stop, killed = threading.Event(), list[int]()
    killer = threading.Thread(target=kill_now_and_then, args=(stop, every, killed, most))
    killer.start()
    try:
        yield killed
    finally:
        stop.set()
        killer.join()


def kill_now_and_then(stop: threading.Event, every: float, killed: list[int], most: int | None = None) -> None:
    draw = random.Random(0)
    while len(killed) != most and not stop.wait(draw.uniform(0.5 * every, 1.5 * every)):
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
    parser.add_argument("--store", type=float, default=2.0, help="GiB of Ray's object store")
    options = parser.parse_args()
    rows, count = options.folder / "rows", options.rows
    try:
        with measured("rows written", count):
            write_rows(rows, count, options.files, options.dim, classes=20)
        model = small_model(options.dim, 20)
        model.save(options.folder / "model")
        with measured(f"one process, {options.workers} threads", count):
            recognizer = Recognizer(model, n_jobs=options.workers)
            (options.folder / "own").mkdir()
            for path in sorted(rows.iterdir()):
                pq.write_table(recognizer(pq.read_table(path)), options.folder / "own" / path.name)
        with cluster(options.workers, store_gib=options.store):
            with measured(f"on Ray, {options.workers} workers", count):
                on_ray(options, "calm")
            with killing(options.every) as killed:
                with measured("the same while workers are killed", count, alive=False):
                    on_ray(options, "killed")
        print(f"{len(killed)} workers killed", flush=True)
        assert killed, "the job was over before a worker was killed: take more rows, or a smaller --every"
        for name in ["calm", "killed"]:
            check(options.folder / name, options.folder / "own", count)
        print("every row once, all labels and distances those of one process")
    finally:
        shutil.rmtree(options.folder, ignore_errors=True)


@contextmanager
def measured(what: str, rows: int, alive: bool = True) -> Iterator[None]:
    wall, cpu = time.time(), cpu_seconds()
    yield
    wall, cpu = time.time() - wall, cpu_seconds() - cpu
    # The time of workers that were killed is lost.
    spent = f", {cpu:.1f} CPU seconds" if alive else ""
    print(f"{what}: {wall:.1f} s ({rows / wall:,.0f} rows/s){spent}", flush=True)


def cpu_seconds() -> float:
    """Of all that is in this namespace and lives; Ray does not gather that of workers that have ended."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:13]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def on_ray(options: argparse.Namespace, name: str) -> None:
    model, rows = options.folder / "model", options.folder / "rows"
    bidilel.ray.predict(rows, model, output=options.folder / name, concurrency=options.workers)


def check(found: Path, own: Path, rows: int) -> None:
    table, expected = pq.read_table(found).sort_by("id"), pq.read_table(own)
    assert len(table) == rows and (table["id"].to_numpy() == np.arange(rows)).all(), "every row once"
    assert expected["id"].equals(table["id"]) and expected["label"].equals(table["label"]), "the same labels"
    assert expected["distance"].equals(table["distance"]), "the same distances"


if __name__ == "__main__":
    main()
