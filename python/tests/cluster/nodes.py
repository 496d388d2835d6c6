"""Several machines, each a network, processes, shared memory and temporary files of its own, one of which is lost on the way.

    tests/cluster/run python nodes.py --rows 400000

Ray's head and its workers are joined by a bridge of Linux; all that they share besides is the folder with the rows. The head
runs no tasks, so that every row crosses the network. A machine is lost with all of its processes at once and without a word.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import ray
from scipy.spatial.distance import pdist

import bidilel
import bidilel.ray
from bidilel.arrow import Recognizer, matrix

from local import small_model, write_rows

NETWORK = "10.77.0"
PORT = 6379
FILES = 12
BRIDGE = "cluster"
#: Ray takes a machine for lost after some seconds. By default it is told after a minute, and what waits for an answer of a machine
#: that has gone without a word goes on waiting for seven: `RAY_grpc_client_keepalive_time_ms` is 300,000.
SETTINGS = {
    "RAY_grpc_client_keepalive_time_ms": "5000",
    "RAY_grpc_client_keepalive_timeout_ms": "5000",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}
#: What a machine does: files of its own where Ray has them, then Ray when its network is there.
MACHINE = """
mount -t tmpfs tmpfs "$1" && mount -t tmpfs tmpfs /dev/shm && ip link set lo up || exit 1
until ip -4 addr show dev eth0 2>/dev/null | grep -q inet; do sleep 0.05; done
shift
exec "$@"
"""


class Machines:
    """A head in this namespace, and machines that come and go."""

    def __init__(self, folder: Path, store_gib: float) -> None:
        self.folder, self.store = folder, str(int(store_gib * 2**30))
        self.alive: dict[int, subprocess.Popen[bytes]] = {}
        self._made = 1
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("addr", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        self.head = subprocess.Popen(
            self._ray(1, "--head", f"--port={PORT}", "--num-cpus=0", f"--temp-dir={folder}", "--include-dashboard=false"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def _ray(self, host: int, *more: str) -> list[str]:
        options = [f"--node-ip-address={NETWORK}.{host}", f"--object-store-memory={self.store}", "--block", *more]
        return [shutil.which("ray") or "ray", "start", "--disable-usage-stats", *options]

    def add(self) -> int:
        """Start another machine with one processor."""
        self._made += 1
        host = self._made
        command = self._ray(host, f"--address={NETWORK}.1:{PORT}", "--num-cpus=1")
        isolated = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        process = subprocess.Popen(
            [*isolated, "sh", "-c", MACHINE, "sh", str(self.folder), *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        self.alive[host] = process
        inside = _child_of(process.pid)
        _ip("link", "add", f"to{host}", "type", "veth", "peer", "name", "eth0", "netns", str(inside))
        _ip("link", "set", f"to{host}", "master", BRIDGE, "up")
        within = ["nsenter", "--target", str(inside), "--net"]
        _ip("link", "set", "eth0", "up", within=within)
        _ip("addr", "add", f"{NETWORK}.{host}/24", "dev", "eth0", within=within)
        return host

    def lose(self, host: int) -> None:
        """Take a machine away: its processes end, whatever they do, and nobody is told."""
        process = self.alive.pop(host)
        _ip("link", "set", f"to{host}", "down")
        process.kill()
        process.wait()

    def sent(self) -> float:
        """GB that the machines which are here now have sent so far."""
        shown = subprocess.run(["ip", "-json", "-stats", "link"], check=True, capture_output=True, text=True).stdout
        links = [link["stats64"] for link in json.loads(shown) if link["ifname"].startswith("to")]
        return sum(link["rx"]["bytes"] for link in links) / 1e9

    def end(self) -> None:
        for process in [*self.alive.values(), self.head]:
            process.kill()
            process.wait()


def _ip(*words: str, within: list[str] | None = None) -> None:
    subprocess.run([*(within or []), "ip", *words], check=True)


def _child_of(parent: int) -> int:
    """The first process of the namespaces that `unshare` makes."""
    until = time.time() + 20
    while time.time() < until:
        found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        if found and os.readlink(f"/proc/{found[0]}/ns/net") != os.readlink("/proc/self/ns/net"):
            return int(found[0])
        time.sleep(0.02)
    raise TimeoutError("a machine has not started")


def _alive() -> int:
    return sum(1 for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU"))


def wait_for(count: int) -> None:
    """Wait until Ray knows so many machines with processors."""
    until = time.time() + 120
    while _alive() != count:
        if time.time() > until:
            raise TimeoutError(f"{_alive()} machines instead of {count}")
        time.sleep(0.2)


@contextmanager
def machines(count: int, store_gib: float = 0.5) -> Iterator[Machines]:
    """A cluster of so many machines with one processor each, besides the head."""
    assert "BIDILEL_CLUSTER" in os.environ, "Ray listens on every interface: start this with the script `run`"
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory(prefix="n", dir="/tmp") as folder:
        made = Machines(Path(folder), store_gib)
        try:
            _connect()
            for _ in range(count):
                made.add()
            wait_for(count)
            yield made
        finally:
            ray.shutdown()
            made.end()


def _connect() -> None:
    until = time.time() + 60
    while True:
        try:
            ray.init(address=f"{NETWORK}.1:{PORT}", _node_ip_address=f"{NETWORK}.1", log_to_driver=False, logging_level="ERROR")
            return
        except (ConnectionError, RuntimeError):
            if time.time() > until:
                raise
            time.sleep(1)


@contextmanager
def losing_one(cluster: Machines, begun: Callable[[], bool]) -> Iterator[None]:
    """Lose a machine as soon as the work has begun, and give another one back afterwards."""
    over, lost = threading.Event(), list[int]()

    def lose() -> None:
        while not over.wait(0.02):
            if begun():
                lost.append(min(cluster.alive))
                cluster.lose(lost[0])
                return

    count = len(cluster.alive)
    thread = threading.Thread(target=lose)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert lost, "the work was over before a machine could be lost"
    cluster.add()
    wait_for(count)


def predict(rows: Path, output: Path, model: Any) -> None:
    blocks = ray.data.read_parquet(str(rows), override_num_blocks=FILES)
    bidilel.ray.predict(blocks, model, output=output, keep=["id"], batch_size=2048)


def check_rows(found: Path, expected: Any) -> None:
    """Every row once, with the answers of one process."""
    table = pq.read_table(found).sort_by("id")
    assert table["id"].equals(expected["id"]), "every row once"
    assert table["label"].equals(expected["label"]), "the same labels"
    assert table["distance"].equals(expected["distance"]), "the same distances"


def fit(rows: Path, partitions: int, settings: dict[str, Any], progress: Any = None) -> bidilel.Model:
    return bidilel.ray.fit(rows, partitions=partitions, settings=settings, progress=progress)


def check_fit(found: bidilel.Model, here: bidilel.Model, X: Any) -> float:
    """The largest difference of latent distances; labels are equal."""
    some = X[:: max(1, len(X) // 1000)]
    assert found.predict(X, candidates="known").tolist() == here.predict(X, candidates="known").tolist(), "the same labels"
    return float(np.abs(pdist(found.transform(some)) - pdist(here.transform(some))).max())


def has_files(folder: Path) -> Callable[[], bool]:
    """Whether the first file of an output that is not complete yet is there."""
    return lambda: any(folder.parent.glob(f".{folder.name}.part-*/*.parquet"))


def run(folder: Path, rows_at_all: int, dim: int, count: int, partitions: int) -> None:
    """Predict and fit, each once in peace and once while a machine is lost; compare with one process."""
    settings = {"neighborhood": "within-class", "dim": min(30, dim)}
    write_rows(folder / "rows", rows_at_all, FILES, dim, classes=100, labels=True)
    rows = pq.read_table(folder / "rows")
    X, y = matrix(rows, "features"), np.array(rows["label"].to_pylist())
    model = small_model(dim, 100).to_bytes()
    expected = Recognizer(model, keep=["id"])(rows)
    here = bidilel.ZeroShotClassifier(settings=settings).fit(X, y).model_
    with machines(count) as cluster:
        print(f"{rows_at_all} x {dim} on {count} machines of one processor, {partitions} partitions")

        def shown(what: str, work: Callable[[], Any]) -> Any:
            began, before = time.time(), cluster.sent()
            found = work()
            # What a machine that was lost has sent is lost, too.
            sent = f", {cluster.sent() - before:.2f} GB through the network" if len(cluster.alive) == count else ""
            print(f"{what}: {time.time() - began:.1f} s{sent}", flush=True)
            return found

        shown("prediction", lambda: predict(folder / "rows", folder / "calm", model))
        check_rows(folder / "calm", expected)
        with losing_one(cluster, has_files(folder / "lossy")):
            shown("prediction while a machine is lost", lambda: predict(folder / "rows", folder / "lossy", model))
        check_rows(folder / "lossy", expected)
        print("every row once, all labels and distances those of one process", flush=True)
        calm = shown("fit", lambda: fit(folder / "rows", partitions, settings))
        largest = check_fit(calm, here, X)
        assert largest < 1e-8, largest
        print(f"latent distances differ by {largest:.1e} at most, all labels equal", flush=True)
        stages: list[str] = []
        with losing_one(cluster, lambda: "scatter" in stages):
            lossy = shown(
                "fit while a machine is lost",
                lambda: fit(folder / "rows", partitions, settings, lambda stage, *_: stages.append(stage)),
            )
        assert lossy.to_bytes() == calm.to_bytes(), "the same fit"
        print("the same model as without the loss, to the last bit", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=6)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rows") as folder:
        run(Path(folder), options.rows, options.dim, options.machines, options.partitions)


if __name__ == "__main__":
    main()
