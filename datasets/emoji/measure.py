#!/usr/bin/env python3
"""The figures of docs/results.md: for every trial of a family, settings chosen on its known classes alone, then its unseen ones.

    datasets/emoji/measure.py PROGRAM DATASET SEMANTIC [--trials N] [--quick]

One line of JSON a trial, then means with standard errors.  Stage one tunes the method without refinement, stage two the one
setting of self-training; structured prediction has none.  `--quick` tries fewer settings, for large datasets.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

GRID = ["--bottom-up", "slpp,cca", "--dim", "50,100", "--alpha", "10", "--ridge", "10,100", "--top-down", "lsm,lsm+svr", "--trials", "3"]
QUICK = ["--bottom-up", "slpp,cca", "--dim", "100", "--alpha", "10", "--ridge", "30", "--top-down", "lsm,lsm+svr", "--trials", "2"]


def run(*arguments):
    done = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def measure(program, dataset, split, semantic, quick, folder):
    data = [dataset, "--split", split]
    settings = os.path.join(folder, "settings.toml")
    gamma = ["--gamma", "0.2,0.5"] if "," in semantic else []
    grid = [*(QUICK if quick else GRID), *gamma, "--strategy", "grid"]
    tuned = run(program, "tune", *data, "--semantic", semantic, *grid, "--out", settings, "--format", "json")
    neighbors = ["--post", "self-training", "--self-training-neighbors", "5,10,20", "--strategy", "grid"]
    neighbors += ["--trials", "2" if quick else "3"]
    refined = run(program, "tune", *data, "--settings", settings, *neighbors, "--format", "json")["best"]
    ways = {
        "inductive": ["--post", "none"],
        "self-training": ["--post", "self-training", "--self-training-neighbors", str(refined["self_training_neighbors"])],
        "structured": ["--post", "structured"],
    }
    result = {"split": split, "settings": tuned["best"], "self_training_neighbors": refined["self_training_neighbors"]}
    for name, options in ways.items():
        result[name] = run(program, "evaluate", *data, "--settings", settings, *options, "--format", "json")["accuracy"]["per_class"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("dataset")
    parser.add_argument("semantic")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for trial in range(options.trials):
            split = f"random:{trial}"
            results.append(measure(options.program, options.dataset, split, options.semantic, options.quick, folder))
            print(json.dumps(results[-1]), flush=True)
    for way in ("inductive", "self-training", "structured"):
        values = [100 * result[way] for result in results]
        error = statistics.stdev(values) / len(values) ** 0.5
        print(f"{way:<14} {statistics.mean(values):5.1f} ± {error:.1f} %  (standard deviation {statistics.stdev(values):.1f})")


if __name__ == "__main__":
    main()
