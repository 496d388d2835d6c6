"""Writes svr-sklearn.json: predictions of scikit-learn's support vector regressions on random points.

Run with NumPy and scikit-learn installed; needs no arguments and gives the same file every time.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.svm import SVR, NuSVR

SAMPLES, TESTS, DIMENSIONS, MACHINES = 24, 8, 4, 3

random = np.random.default_rng(7)
points = random.normal(size=(SAMPLES, DIMENSIONS)).round(6)
tests = random.normal(size=(TESTS, DIMENSIONS)).round(6)
mixing = random.normal(size=(DIMENSIONS, MACHINES))
targets = (np.sin(points @ mixing) + 0.1 * random.normal(size=(SAMPLES, MACHINES))).round(6)

squared = ((points[:, None] - points[None]) ** 2).sum(axis=2)
gamma = SAMPLES * (SAMPLES - 1) / squared.sum()

cases = []
for kernel in ["rbf", "linear"]:
    for c in [0.5, 10.0]:
        for form, value in [("epsilon", 0.05), ("epsilon", 0.3), ("nu", 0.2), ("nu", 0.7)]:
            shared = {"kernel": kernel, "C": c, "gamma": gamma, "tol": 1e-8}
            machine = SVR(epsilon=value, **shared) if form == "epsilon" else NuSVR(nu=value, **shared)
            predictions = [machine.fit(points, column).predict(tests).tolist() for column in targets.T]
            cases.append({"kernel": kernel, "c": c, "form": form, "value": value, "predictions": predictions})

content = {
    "sklearn": sklearn.__version__,
    "gamma": gamma,
    "points": points.tolist(),
    "tests": tests.tolist(),
    "targets": targets.T.tolist(),
    "cases": cases,
}
Path(__file__).with_name("svr-sklearn.json").write_text(json.dumps(content, indent=1) + "\n")
