"""A fit from Python against the program's: seconds, and memory beyond the array.

    python benchmarks/fit.py DATASET [PROGRAM] [ROUNDS]

Fits the first split of a dataset by turns: by the program, and by ``ZeroShotClassifier`` on its arrays, each in a process
of its own. The clock of both goes from open data to a fitted model; memory is the largest resident size, of the Python process minus
what it had before the fit, with X in it.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, resource, sys, time
import numpy as np
import bidilel
from sklearn.metrics import accuracy_score
data = bidilel.open(sys.argv[1])
trial = data.trials()[0]
X = data.features(instances=trial.train)
y = data.class_names()[trial.train]
S, metric = data.semantics(), data.metric()
del data
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) / 1024
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
began = time.perf_counter()
model = bidilel.ZeroShotClassifier(metric=metric).fit(X, y, semantics=S)
print(json.dumps({"seconds": time.perf_counter() - began, "x": X.nbytes / 2**20, "more": status("VmHWM") - before}))
"""


def main() -> None:
    dataset, program = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "bidilel"
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    ours, theirs, more, peaks = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            out = Path(folder) / "x.model"
            time = subprocess.run(
                ["/usr/bin/env", "time", "-f", "%M", program, "fit", dataset, "--out", str(out), "--format", "json"],
                capture_output=True, text=True, check=True,
            )
            timings = json.loads(time.stdout)["timings"]
            theirs.append(timings["total"] - timings.get("open", 0.0))
            peaks.append(int(time.stderr.split()[-1]) / 1024)
            child = subprocess.run([sys.executable, "-c", CHILD, dataset], capture_output=True, text=True, check=True)
            found = json.loads(child.stdout)
            ours.append(found["seconds"])
            more.append(found["more"])
    print(f"program: {statistics.median(theirs):.2f} s of {[round(t, 2) for t in theirs]}, peak {statistics.median(peaks):.0f} MiB")
    print(f"Python:  {statistics.median(ours):.2f} s of {[round(t, 2) for t in ours]}, "
          f"{statistics.median(more):.0f} MiB more than before the fit (X itself: {found['x']:.0f} MiB)")
    print(f"ratio {statistics.median(ours) / statistics.median(theirs):.3f}; this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
