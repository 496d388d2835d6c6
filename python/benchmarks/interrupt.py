"""How long an interrupt takes, at many moments of a fit, a tune and a predict.

    python benchmarks/interrupt.py DATASET [MOMENTS]

Every computation runs once to its end; then SIGINT comes at moments spread evenly over that time (of ``tune``: over its first half
minute, after which it is interrupted for good). Afterwards the same fit must give the same bytes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

import bidilel

#: Longer computations are interrupted within this time.
LONGEST = 30.0


def interrupted(compute: Callable[[], object], after: float) -> float | None:
    """Seconds from the signal to the exception; none where the computation was faster."""
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        compute()
        timer.cancel()
        timer.join()
        # A signal that came with the last instruction is not lost, and not this one's.
        time.sleep(0.1)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    return None


def main() -> None:
    dataset = bidilel.open(sys.argv[1])
    moments = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    trial = dataset.trials()[0]
    X, y = dataset.features(instances=trial.train), dataset.class_names()[trial.train]
    semantics, metric = dataset.semantics(), dataset.metric()
    fit = lambda: bidilel.ZeroShotClassifier(metric=metric).fit(X, y, semantics=semantics)
    began = time.perf_counter()
    model = fit()
    whole = time.perf_counter() - began
    many = np.tile(X, (4, 1))
    began = time.perf_counter()
    model.predict(many)
    predicted = time.perf_counter() - began
    before = model.model_.to_bytes()
    for name, compute, seconds in [
        ("fit", fit, whole),
        ("predict", lambda: model.predict(many), predicted),
        ("tune", lambda: bidilel.tune(dataset), LONGEST),
    ]:
        seconds = min(seconds, LONGEST)
        waits = [interrupted(compute, seconds * (number + 0.5) / moments) for number in range(moments)]
        found = np.array([wait for wait in waits if wait is not None])
        print(f"{name}: {len(found)} interrupts within {seconds:.1f} s: median {1000 * np.median(found):.0f} ms, "
              f"largest {1000 * found.max():.0f} ms, {(found > 0.1).sum()} above 100 ms", flush=True)
    assert fit().model_.to_bytes() == before, "everything is usable afterwards"
    print("the same fit gives the same bytes afterwards")


if __name__ == "__main__":
    main()
