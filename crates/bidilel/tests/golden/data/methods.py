"""Scores of the compared methods on the golden inputs, by NumPy, SciPy and scikit-learn.

    python methods.py        # reads inputs.json beside it, writes methods.json

Features are rounded to float32 first, as the program has them; everything else is float64. The formulas are those of
the papers, written with dense matrices and the solvers of these libraries.
"""

import json
import pathlib

import numpy as np
import scipy.linalg
from sklearn.linear_model import LogisticRegression

here = pathlib.Path(__file__).parent
inputs = json.loads((here / "inputs.json").read_text())
X = np.array(inputs["Xl"], dtype=np.float32).astype(float)  # instances x dimensions
Xu = np.array(inputs["Xu"], dtype=np.float32).astype(float)
y = np.array(inputs["yl"])
raw = np.array(inputs["S"])  # classes x attributes
S = raw / np.linalg.norm(raw, axis=1, keepdims=True)
known = 6
K, I = S[:known], np.eye


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def eszsl(gamma, lam):
    Y = np.where(y[:, None] == np.arange(known), 1.0, -1.0)
    left = np.linalg.inv(X.T @ X + gamma * I(X.shape[1]))
    right = np.linalg.inv(K.T @ K + lam * I(K.shape[1]))
    return Xu @ (left @ X.T @ Y @ K @ right) @ S.T


def rr(ridge):
    T = S[y]
    mean, target = X.mean(0), T.mean(0)
    Xc = X - mean
    W = np.linalg.solve(Xc.T @ Xc + ridge * I(X.shape[1]), Xc.T @ (T - target))
    P = unit((Xu - mean) @ W + target)
    return -np.linalg.norm(P[:, None] - S[None], axis=2)


def rr_reverse(ridge):
    T = S[y]
    mean, target = X.mean(0), T.mean(0)
    Tc = T - target
    V = np.linalg.solve(Tc.T @ Tc + ridge * I(T.shape[1]), Tc.T @ (X - mean))
    P = (S - target) @ V + mean
    return -np.linalg.norm(Xu[:, None] - P[None], axis=2)


def sae(lam):
    T = S[y]
    W = scipy.linalg.solve_sylvester(T.T @ T, lam * X.T @ X, (1 + lam) * T.T @ X)
    P = unit(Xu @ W.T)
    return -np.linalg.norm(P[:, None] - S[None], axis=2)


def logistic(targets, ridge):
    model = LogisticRegression(C=1 / ridge, tol=1e-12, max_iter=100_000, solver="newton-cholesky")
    return model.fit(X, targets)


def attributes():
    bits = (raw > raw.mean(0)).astype(float)  # classes x attributes
    share = bits[:known].mean(0)
    kept = (share > 0) & (share < 1)
    return bits[:, kept], share[kept]


def scored(p, bits, prior):
    """log p(a = bits | x) - log prior, summed over attributes; p is instances x attributes."""
    prior = np.clip(prior, 1e-2, 1 - 1e-2)
    own = np.log(p) - np.log(prior)
    other = np.log(1 - p) - np.log(1 - prior)
    return own @ bits.T + other @ (1 - bits).T


def dap(ridge):
    bits, prior = attributes()
    p = np.stack([logistic(b[y], ridge).predict_proba(Xu)[:, 1] for b in bits.T], axis=1)
    return scored(p, bits, prior)


def classes(ridge):
    return logistic(y, ridge).predict_proba(Xu)


def iap(ridge):
    bits, prior = attributes()
    p = np.clip(classes(ridge) @ bits[:known], 1e-6, 1 - 1e-6)
    return scored(p, bits, prior)


def conse(ridge, count):
    p = classes(ridge)
    cut = np.sort(p, axis=1)[:, -count][:, None]
    P = unit(np.where(p >= cut, p, 0.0) @ K)
    return -np.linalg.norm(P[:, None] - S[None], axis=2)


found = {
    "eszsl": eszsl(0.3, 0.2),
    "rr": rr(0.5),
    "rr-reverse": rr_reverse(0.5),
    "sae": sae(0.4),
    "dap": dap(0.1),
    "iap": iap(0.1),
    "conse": conse(0.1, 3),
}
(here / "methods.json").write_text(json.dumps({name: scores.tolist() for name, scores in found.items()}, indent=1))
