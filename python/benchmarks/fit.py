"""A fit from Python against the program's: seconds, processor seconds, and memory beyond the array.

    python benchmarks/fit.py DATASET [PROGRAM] [ROUNDS]

Fits the first split of a dataset by turns: by the program, and by ``ZeroShotClassifier`` on its arrays, each in a process
of its own. The program's clock goes from open data to a written model: it has the gathering of rows from the mapped file and the
writing of the model in it, neither of which its stages tell apart. Python's goes from X in memory to a model in memory, so that the
ratio flatters Python. Processor seconds are those of the whole program, and of the fit from Python. Memory is the largest resident size, of the Python process minus what it had before the fit, with X in it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, resource, sys, time
import bidilel
data = bidilel.open(sys.argv[1])
trial = data.trials()[0]
X = data.features(instances=trial.train)
y = data.class_names()[trial.train]
S, metric = data.semantics(), data.metric()
del data
model = bidilel.ZeroShotClassifier(metric=metric)
def status(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) / 1024
def processor():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
began, used = time.perf_counter(), processor()
model.fit(X, y, semantics=S)
print(json.dumps({"seconds": time.perf_counter() - began, "processor": processor() - used,
                  "x": X.nbytes / 2**20, "more": status("VmHWM") - before}))
"""


def by_program(program: str, dataset: str, out: Path) -> dict[str, float]:
    command = [program, "fit", dataset, "--out", str(out), "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        text = process.stdout.read()  # type: ignore[union-attr]
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, text
    timings = json.loads(text)["timings"]
    seconds = timings["total"] - timings.get("open", 0.0)
    return {"seconds": seconds, "processor": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def by_python(dataset: str) -> dict[str, float]:
    child = subprocess.run([sys.executable, "-c", CHILD, dataset], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(child.stdout)
    return found


def main() -> None:
    dataset, program = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "bidilel"
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            theirs.append(by_program(program, dataset, Path(folder) / "x.model"))
            ours.append(by_python(dataset))

    def median(runs: list[dict[str, float]], key: str) -> float:
        return statistics.median(run[key] for run in runs)

    for name, runs in [("program", theirs), ("Python", ours)]:
        each = ", ".join(f"{run['seconds']:.2f} ({run['processor']:.2f})" for run in runs)
        print(f"{name}: {median(runs, 'seconds'):.2f} s, {median(runs, 'processor'):.2f} processor seconds; runs: {each}")
    print(f"ratio: {median(ours, 'seconds') / median(theirs, 'seconds'):.3f}, "
          f"of processor seconds {median(ours, 'processor') / median(theirs, 'processor'):.3f}")
    print(f"memory: program {median(theirs, 'peak'):.0f} MiB in all, Python {median(ours, 'more'):.0f} MiB more than before "
          f"the fit (X itself: {ours[0]['x']:.0f} MiB)")


if __name__ == "__main__":
    main()
