"""Scores of `sync`, `exem`, `exem-1nn` and `hat` on the golden inputs, by NumPy, SciPy and scikit-learn.

    python methods_synth.py        # reads inputs.json beside it, writes methods_synth.json

Features are rounded to float32 first, as the program has them; everything else is float64. The formulas are those of
the papers, written with dense matrices and the solvers of these libraries: base classifiers are eliminated by a plain
inverse, the machine of Crammer and Singer and the structured one are solved as quadratic programs.
"""

import json
import pathlib

import numpy as np
import scipy.optimize
from scipy.cluster.hierarchy import linkage
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, NuSVR

here = pathlib.Path(__file__).parent
inputs = json.loads((here / "inputs.json").read_text())
X = np.array(inputs["Xl"], dtype=np.float32).astype(float)  # instances x dimensions
Xu = np.array(inputs["Xu"], dtype=np.float32).astype(float)
y = np.array(inputs["yl"])
raw = np.array(inputs["S"])  # classes x attributes
S = raw / np.linalg.norm(raw, axis=1, keepdims=True)
known = 6


def squares(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(2)


def over_pairs(D):
    return D[np.triu_indices(len(D), 1)].mean()


def shares(described, width):
    """Classes x phantom classes."""
    D = squares(described, described[:known])
    E = np.exp(-D / (2 * width * over_pairs(D[:known])))
    return E / E.sum(1, keepdims=True)


def synthesized(W, described, width):
    """Scores by base classifiers V with W = s V for the known classes; W is classes x dimensions."""
    s = shares(described, width)
    V = np.linalg.inv(s[:known]) @ W
    return Xu @ (s @ V).T


def one_versus_other(lam):
    rows = []
    for c in range(known):
        # C times the losses + half the squared norm: lambda is 1 / C.
        model = LinearSVC(C=1 / lam, loss="squared_hinge", dual=False, fit_intercept=False, tol=1e-12, max_iter=1000000)
        rows.append(model.fit(X, np.where(y == c, 1, -1)).coef_[0])
    return np.array(rows)


def multiclass(lam, margins):
    """The dual over distributions p of instances, by projected gradient steps with momentum."""
    n = len(X)
    M = margins[y]  # instances x classes
    P = np.eye(known)[y]
    E = np.eye(known)[y]
    G = X @ X.T
    step = lam / np.linalg.norm(G, 2)

    def simplex(rows):
        U = -np.sort(-rows, axis=1)
        C = (U.cumsum(1) - 1) / np.arange(1, known + 1)
        k = (U > C).sum(1) - 1
        return np.maximum(rows - C[np.arange(n), k][:, None], 0)

    Q, t = P, 1.0
    for _ in range(400_000):
        slope = M + G @ (E - Q) / lam
        new = simplex(Q + step * slope)
        if np.sum((Q - new) * (new - P)) > 0:  # restart of the momentum
            t = 1.0
            Q = P
            continue
        grown = (1 + np.sqrt(1 + 4 * t * t)) / 2
        Q = new + (t - 1) / grown * (new - P)
        done = np.abs(new - P).max() < 1e-14
        P, t = new, grown
        if done:
            break
    return (E - P).T @ X / lam


def structured(described):
    D = np.sqrt(squares(described[:known], described[:known]))
    return D / over_pairs(D)


def exemplars(gamma, C, nu):
    mean = X.mean(0)
    values, vectors = np.linalg.eigh((X - mean).T @ (X - mean))
    order = np.argsort(-values)
    directions = vectors[:, order[values[order] > 1e-10 * values.max()]]
    Z = (X - mean) @ directions
    means = np.array([Z[y == c].mean(0) for c in range(known)])
    scale = np.abs(means).max()
    D = squares(S, S[:known])
    K = np.exp(-gamma / over_pairs(D[:known]) * D)
    columns = []
    for target in means.T / scale:
        model = NuSVR(nu=nu, C=C, kernel="precomputed", tol=1e-12).fit(K[:known], target)
        columns.append(scale * model.predict(K))
    return Z, (Xu - mean) @ directions, np.array(columns).T


def nearest(Z, P, standardized):
    train, test = Z
    if standardized:
        deviation = np.mean([train[y == c].std(0) for c in range(known)], axis=0)
        test, P = test / deviation, P / deviation
    return -np.sqrt(squares(test, P))


def hat(ridge, discount):
    bits = (raw > raw.mean(0)).astype(float)
    share = bits[:known].mean(0)
    kept = (share > 0) & (share < 1)
    bits, prior = bits[:, kept], np.clip(share[kept], 1e-2, 1 - 1e-2)

    def log_odds(labels):
        model = LogisticRegression(C=1 / ridge, tol=1e-12, max_iter=100_000, solver="newton-cholesky")
        return model.fit(X, labels[y]).decision_function(Xu)

    def log_sigmoid(z):
        return -np.logaddexp(0, -z)

    z = np.stack([log_odds(b) for b in bits.T], axis=1)
    scores = (log_sigmoid(z) - np.log(prior)) @ bits.T + (log_sigmoid(-z) - np.log(1 - prior)) @ (1 - bits).T
    classes = len(S)
    steps = [{c: 0} for c in range(classes)]
    for left, right, _, _ in linkage(S, "average"):
        merged = {c: s + 1 for part in (int(left), int(right)) for c, s in steps[part].items()}
        steps.append(merged)
        members = list(merged)
        shared = (bits[members] == bits[members[0]]).all(0)
        agreeing = (bits[:known, shared] == bits[members[0], shared]).all(1).astype(float)
        share = agreeing.mean()
        if not shared.any() or share in (0.0, 1.0):
            continue
        term = log_sigmoid(log_odds(agreeing)) - np.log(np.clip(share, 1e-2, 1 - 1e-2))
        for c, s in merged.items():
            scores[:, c] += discount**s * shared.sum() * term
    return scores


ones = 1 - np.eye(known)
train, test, predicted = exemplars(0.5, 2.0, 0.6)
found = {
    "sync": synthesized(one_versus_other(0.2), S, 0.1),
    "sync-crammer-singer": synthesized(multiclass(5.0, ones), S, 0.1),
    "sync-structured": synthesized(multiclass(5.0, structured(S)), S, 0.1),
    "exem": synthesized(one_versus_other(0.2), predicted, 0.1),
    "exem-1nn": nearest((train, test), predicted, False),
    "exem-1nn-standardized": nearest((train, test), predicted, True),
    "hat": hat(0.1, 0.5),
    "machines": one_versus_other(0.2),
    "linkage": linkage(S, "average"),
}
(here / "methods_synth.json").write_text(
    json.dumps({name: scores.tolist() for name, scores in found.items()}, indent=1)
)
