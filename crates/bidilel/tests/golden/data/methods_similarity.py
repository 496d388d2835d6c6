"""Simplex codes, and scores of `sse`, `jlse` and `kdica` on the golden inputs, by NumPy, SciPy and scikit-learn.

    python methods_similarity.py        # reads inputs.json beside it, writes methods_similarity.json

Features are rounded to float32 first, as the program has them; everything else is float64. `kdica` is solved in the
dual form of its paper, with the kernel of all training instances; the program solves the primal one.
"""

import json
import pathlib

import numpy as np
import scipy.linalg
import scipy.optimize
from sklearn.linear_model import LogisticRegression

here = pathlib.Path(__file__).parent
inputs = json.loads((here / "inputs.json").read_text())
X = np.array(inputs["Xl"], dtype=np.float32).astype(float)  # instances x dimensions
Xu = np.array(inputs["Xu"], dtype=np.float32).astype(float)
y = np.array(inputs["yl"])
raw = np.array(inputs["S"])  # classes x attributes
S = raw / np.linalg.norm(raw, axis=1, keepdims=True)
known = 6
n, d = X.shape


def codes(gamma):
    """Classes x known classes, by sequential quadratic programming and one solve on the support."""
    K = S[:known]
    G = K @ K.T + gamma * np.eye(known)
    found = []
    for s in S:
        b = K @ s
        solution = scipy.optimize.minimize(
            lambda a: 0.5 * a @ G @ a - b @ a,
            np.full(known, 1 / known),
            jac=lambda a: G @ a - b,
            bounds=[(0, None)] * known,
            constraints={"type": "eq", "fun": lambda a: a.sum() - 1, "jac": lambda a: np.ones(known)},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        ).x
        support = solution > 1e-5
        m = support.sum()
        system = np.block([[G[np.ix_(support, support)], np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
        a = np.zeros(known)
        a[support] = np.linalg.solve(system, np.append(b[support], 1))[:m]
        # The conditions of Karush, Kuhn and Tucker.
        slope = G @ a - b
        assert a.min() >= 0 and (slope >= a @ slope - 1e-10).all()
        found.append(a)
    return np.array(found)


def sse(gamma, lam, relu):
    A = codes(gamma)
    V = np.stack([X[y == c].mean(0) for c in range(known)]).astype(np.float32).astype(float)
    psi = (lambda x: np.maximum(0, x[:, None] - V[None])) if relu else (lambda x: np.minimum(x[:, None], V[None]))
    means = np.stack([psi(X[y == c]).mean(0) for c in range(known)])  # classes x references x dimensions
    F = np.einsum("yjd,cj->ycd", means, A[:known])
    margins = np.concatenate([F[c, c] - np.delete(F[c], c, axis=0) for c in range(known)])

    def objective(w):
        short = np.maximum(0, 1 - margins @ w)
        return lam / 2 * w @ w + short @ short / (2 * known), lam * w - margins.T @ short / known

    w = np.zeros(d)  # Newton's method: the objective is piecewise quadratic
    for _ in range(100):
        active = 1 - margins @ w > 0
        H = lam * np.eye(d) + margins[active].T @ margins[active] / known
        w = np.linalg.solve(H, margins[active].sum(0) / known)
    assert np.abs(objective(w)[1]).max() < 1e-10
    return (psi(Xu) @ w) @ A.T


def jlse(gamma, atoms, mu, rho, lam, rounds):
    A = codes(gamma)
    Z = A[:known].T
    mean = X.mean(0)
    Xc = (X - mean).T  # dimensions x instances
    T = np.where(np.arange(known)[:, None] == y, 1.0, -1 / (known - 1))
    D = np.linalg.svd(Xc, full_matrices=False)[0][:, :atoms]
    W = np.zeros((known, atoms))

    def similarity(C):
        system = np.kron(C @ C.T, rho * Z @ Z.T) + lam * np.eye(known * atoms)
        return np.linalg.solve(system, rho * (Z @ T @ C.T).ravel(order="F")).reshape(known, atoms, order="F")

    for _ in range(rounds):
        U = W.T @ Z
        C = np.linalg.solve(D.T @ D + mu * np.eye(atoms) + rho * U @ U.T, D.T @ Xc + rho * U @ T)
        W = similarity(C)
        for k in range(atoms):
            rest = Xc - D @ C + np.outer(D[:, k], C[k])
            D[:, k] = rest @ C[k] / (C[k] @ C[k])
            D[:, k] /= max(1, np.linalg.norm(D[:, k]))
    E = np.linalg.solve(D.T @ D + mu * np.eye(atoms), D.T)
    W = similarity(E @ Xc)
    return (Xu - mean) @ E.T @ W.T @ A.T


def kdica(g, r, dim, ridge):
    K = X @ X.T
    H = np.eye(n) - 1 / n
    L = H @ (S[y] @ S[y].T) @ H
    L /= n * np.linalg.norm(L)
    one = np.stack([(y == c) / (y == c).sum() for c in range(known)])
    one = one - one.mean(0)
    Q = one.T @ one / known
    left = g * K @ L @ K + (1 - g) / n * K @ K
    right = K @ Q @ K + r * K
    # The kernel has the rank of the features: the problem lives in its range.
    values, vectors = np.linalg.eigh(K)
    basis = vectors[:, values > 1e-9 * values[-1]]
    values, inner = scipy.linalg.eigh(basis.T @ left @ basis, basis.T @ right @ basis)
    B = basis @ inner[:, ::-1][:, :dim]
    P, Pu = K @ B, Xu @ X.T @ B
    scale = np.sqrt((P**2).sum(1).mean())
    bits = (raw > raw.mean(0)).astype(float)
    share = bits[:known].mean(0)
    kept = (share > 0) & (share < 1)
    bits, prior = bits[:, kept], np.clip(share[kept], 1e-2, 1 - 1e-2)

    def probability(b):
        model = LogisticRegression(C=1 / ridge, tol=1e-12, max_iter=100_000, solver="newton-cholesky")
        return model.fit(P / scale, b[y]).predict_proba(Pu / scale)[:, 1]

    p = np.stack([probability(b) for b in bits.T], axis=1)
    own, other = np.log(p) - np.log(prior), np.log(1 - p) - np.log(1 - prior)
    return own @ bits.T + other @ (1 - bits).T


found = {
    "codes": codes(0.05),
    "sse": sse(0.05, 0.02, False),
    "sse-relu": sse(0.05, 0.02, True),
    "jlse": jlse(0.05, 4, 0.3, 0.5, 0.7, 4),
    "kdica": kdica(0.6, 0.02, 4, 0.1),
}
(here / "methods_similarity.json").write_text(
    json.dumps({name: scores.tolist() for name, scores in found.items()}, indent=1)
)
