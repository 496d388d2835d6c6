"""Writes mixture-sklearn.json: log-likelihoods of scikit-learn's diagonal Gaussian mixtures on random points.

Made with NumPy 2.4.6 and scikit-learn 1.9.1 (`pip install numpy==2.4.6 scikit-learn==1.9.1`); needs no arguments and
gives the same file every time.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

COUNT, DIMENSIONS = 300, 4

random = np.random.default_rng(11)
centers = random.normal(scale=3.0, size=(5, DIMENSIONS))
scales = random.uniform(0.3, 1.5, size=(5, DIMENSIONS))
owners = random.integers(5, size=COUNT)
points = (centers[owners] + scales[owners] * random.normal(size=(COUNT, DIMENSIONS)) + 20.0).round(6)

cases = []
for components in [1, 3, 6]:
    means = points[random.choice(COUNT, components, replace=False)]
    variances = np.tile(points.var(axis=0), (components, 1))
    weights = np.full(components, 1.0 / components)
    for steps in [1, 2, 10, 60]:
        mixture = GaussianMixture(
            components,
            covariance_type="diag",
            reg_covar=0.0,
            tol=0.0,
            max_iter=steps,
            weights_init=weights,
            means_init=means,
            precisions_init=1.0 / variances,
        )
        with warnings.catch_warnings():
            # A tolerance of zero is never reached, which is what is wanted: a fixed number of steps.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(points)
        cases.append(
            {
                "steps": mixture.n_iter_,
                "start": {"weights": weights.tolist(), "means": means.tolist(), "variances": variances.tolist()},
                "mean_log_likelihood": mixture.score(points),
                "weights": mixture.weights_.tolist(),
                "means": mixture.means_.tolist(),
                "variances": mixture.covariances_.tolist(),
            }
        )

content = {"numpy": np.__version__, "sklearn": sklearn.__version__, "points": points.tolist(), "cases": cases}
Path(__file__).with_name("mixture-sklearn.json").write_text(json.dumps(content) + "\n")
