"""Scores of the transductive methods on the golden inputs, by NumPy, SciPy and scikit-learn.

    python methods_transductive.py        # reads inputs.json beside it, writes methods_transductive.json

Features are rounded to float32 first, as the program has them; everything else is float64. Where the program solves a
problem in another form (the primal of a kernel regression, conjugate gradients), this is the form of the papers with dense
matrices and direct solvers.
"""

import json
import pathlib

import numpy as np
import scipy.linalg
from sklearn.linear_model import Lasso

here = pathlib.Path(__file__).parent
inputs = json.loads((here / "inputs.json").read_text())
Xl = np.array(inputs["Xl"], dtype=np.float32).astype(float)  # instances x dimensions
Xu = np.array(inputs["Xu"], dtype=np.float32).astype(float)
y = np.array(inputs["yl"])
raw = np.array(inputs["S"])  # classes x attributes
S = raw / np.linalg.norm(raw, axis=1, keepdims=True)
known, I = 6, np.eye
T = S[y]
x_mean, t_mean = Xl.mean(0), T.mean(0)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def nearest(A, B, k):
    """The k nearest rows of B for every row of A, which is not its own neighbor."""
    d = np.linalg.norm(A[:, None] - B[None], axis=2)
    np.fill_diagonal(d, np.inf)
    order = np.argsort(d, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(d, order, 1)


def self_trained(prototypes, points, scores, count):
    """scores: instances x prototypes."""
    if count == 0:
        return prototypes
    best = np.argsort(-scores, axis=0, kind="stable")[:count]
    means = np.stack([points[best[:, c]].mean(0) for c in range(len(prototypes))])
    return unit(prototypes + unit(means))


def mr(ridge, manifold, k, count):
    """Kernel form: one coefficient per known or test instance."""
    X = np.vstack([Xl, Xu])
    n, labeled = len(X), len(Xl)
    order, d = nearest(X, X, k)
    W = np.zeros((n, n))
    rows = np.repeat(np.arange(n), k)
    W[rows, order.ravel()] = np.exp(-(d.ravel() ** 2) / (2 * d.mean() ** 2))
    W = np.maximum(W, W.T)
    L = np.diag(W.sum(1)) - W
    K = (X - x_mean) @ (X - x_mean).T
    J = np.diag(np.r_[np.ones(labeled), np.zeros(n - labeled)])
    targets = np.zeros((n, S.shape[1]))
    targets[:labeled] = T - t_mean
    A = np.linalg.solve(J @ K + ridge * I(n) + manifold * labeled / W.sum() * L @ K, targets)
    points = unit((K @ A)[labeled:])
    prototypes = unit(S - t_mean)
    prototypes = self_trained(prototypes, points, points @ prototypes.T, count)
    cosines = points @ prototypes.T
    return cosines / np.linalg.norm(cosines, axis=0, keepdims=True)


def regression(ridge):
    Xc = Xl - x_mean
    return (Xu - x_mean) @ np.linalg.solve(Xc.T @ Xc + ridge * I(Xl.shape[1]), Xc.T @ (T - t_mean))


def uda(ridge, sparsity, dictionary, prototypes, rounds):
    X, P = Xu - x_mean, S - t_mean
    Tc = T - t_mean
    Ds = np.linalg.solve(Tc.T @ Tc + ridge * I(Tc.shape[1]), Tc.T @ (Xl - x_mean)).T
    w = np.exp(unit(regression(1.0)) @ unit(P).T / 0.1)
    M = (w / w.sum(1, keepdims=True)) @ P
    D = Ds
    for turn in range(rounds):
        if turn > 0:
            D = np.linalg.solve(Z.T @ Z + dictionary * I(Z.shape[1]), Z.T @ X + dictionary * Ds.T).T
        design = np.vstack([D, np.sqrt(prototypes) * I(D.shape[1])])
        rows = np.hstack([X, np.sqrt(prototypes) * M])
        lasso = Lasso(alpha=sparsity / 2 / len(design), fit_intercept=False, tol=1e-14, max_iter=1_000_000)
        Z = np.stack([lasso.fit(design, row).coef_ for row in rows])
    return -np.linalg.norm(Z[:, None] - P[None], axis=2)


def theta(vertices, edges, weights):
    H = np.zeros((vertices, len(edges)))
    for e, members in enumerate(edges):
        H[members, e] = 1
    root = np.diag((H @ weights) ** -0.5)
    return root @ H @ np.diag(weights / H.sum(0)) @ H.T @ root


def propagated(vertices, edges, weights, Y, alpha):
    return (1 - alpha) * np.linalg.solve(I(vertices) - alpha * theta(vertices, edges, weights), Y)


def tmv_hlp(ridge, power, k, alpha, count):
    views = [Xu - Xu.mean(0), regression(1.0)]
    views[1] = views[1] - views[1].mean(0)
    both = np.hstack(views)
    blocks = [v.T @ v for v in views]
    right = scipy.linalg.block_diag(*[b + ridge * np.trace(b) / len(b) * I(len(b)) for b in blocks])
    values, vectors = scipy.linalg.eigh(both.T @ both, right)
    values, vectors = values[::-1], vectors[:, ::-1]
    vectors = vectors * np.maximum(values / 2, 0) ** power
    maps = np.split(vectors, [views[0].shape[1]])
    points = [unit(v @ m) for v, m in zip(views, maps)]
    prototypes = unit((S - t_mean) @ maps[1])
    scores = (points[0] + points[1]) @ prototypes.T
    vertices = [np.vstack([p, self_trained(prototypes, p, scores, count)]) for p in points]
    edges, weights = [], []
    for one in vertices:
        for other in vertices:
            cosines = one @ other.T
            np.fill_diagonal(cosines, -np.inf)
            order = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
            edges += [np.r_[v, order[v]] for v in range(len(one))]
            weights += list(np.maximum(np.take_along_axis(cosines, order, 1).mean(1), 0))
    Y = np.zeros((len(Xu) + len(S), len(S)))
    Y[len(Xu) :] = I(len(S))
    F = propagated(len(Y), edges, np.array(weights), Y, alpha)[: len(Xu)]
    return F / F.sum(0, keepdims=True)


def hypergraph():
    """A small one by itself, with labels at its first vertices."""
    random = np.random.default_rng(0)
    edges = [sorted(random.choice(20, random.integers(2, 6), replace=False).tolist()) for _ in range(40)]
    weights = random.uniform(0.1, 1, len(edges))
    Y = I(20)[:, :3]
    found = propagated(20, edges, weights, Y, 0.97)
    return {"edges": edges, "weights": weights.tolist(), "labels": Y.tolist(), "propagated": found.tolist()}


found = {
    "mr": mr(0.5, 0.7, 5, 6).tolist(),
    "mr-plain": mr(0.5, 2.0, 5, 0).tolist(),
    "uda": uda(0.5, 0.05, 0.4, 0.3, 4).tolist(),
    "tmv-hlp": tmv_hlp(0.2, 2.0, 4, 0.8, 5).tolist(),
    "hypergraph": hypergraph(),
}
(here / "methods_transductive.json").write_text(json.dumps(found, indent=1))
