"""The same work by NumPy, SciPy and faiss: python peers.py neighbors|fit|predict FOLDER THREADS K

Prints one JSON object: seconds of every stage, the peak of resident memory, and figures by which the results of both
programs are compared.
"""

import json
import resource
import sys
import time
import tomllib
from pathlib import Path

import faiss
import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.sparse
from threadpoolctl import threadpool_limits

ALPHA, DIM = 10.0, 100


def load(folder):
    """Training rows (l2-normalised, float32), their labels, and semantic vectors of known and unseen classes."""
    about = tomllib.loads((folder / "dataset.toml").read_text())
    names = (folder / about["classes"]).read_text().split("\n")[: -1]
    split = next(iter(about["split"].values()))
    unseen = split["unseen"]
    if isinstance(unseen, str):
        unseen = (folder / unseen).read_text().split()
    place = {name.strip(): index for index, name in enumerate(names)}
    unseen = sorted(place[name] for name in unseen)
    known = [index for index in range(len(names)) if index not in set(unseen)]
    labels = np.load(folder / about["labels"])
    visual = np.load(folder / next(iter(about["visual"].values()))["file"], mmap_mode="r")
    chosen = np.flatnonzero(np.isin(labels, known))
    features = np.ascontiguousarray(visual[chosen], dtype=np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.searchsorted(known, labels[chosen])
    vectors = np.load(folder / next(iter(about["semantic"].values()))["file"]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return features, labels, vectors[known], vectors[unseen]


def neighbors(features, k):
    index = faiss.IndexFlatL2(features.shape[1])
    index.add(features)
    squares, lists = index.search(features, k + 1)
    rows = np.repeat(np.arange(len(features)), k + 1)
    keep = lists.ravel() != rows
    return rows[keep], lists.ravel()[keep], np.sqrt(np.maximum(squares.ravel()[keep], 0.0))


def graph(found, labels):
    rows, columns, distances = found
    same = labels[rows] == labels[columns]
    shape = (len(labels), len(labels))
    weights = np.exp(-distances[same].astype(np.float64) / 2)
    one_way = scipy.sparse.csr_matrix((weights, (rows[same], columns[same])), shape)
    return one_way.maximum(one_way.T)


def scatter(features, weights):
    wide = features.astype(np.float64)
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    degree = (wide * degrees[:, None]).T @ wide
    laplacian = degree - wide.T @ (weights @ wide)
    return degree, laplacian


def eigen(degree, laplacian):
    size = len(degree)
    right = laplacian + ALPHA * np.eye(size)
    values, vectors = scipy.linalg.eigh(degree, right, subset_by_index=[size - DIM, size - 1])
    return values[::-1], vectors[:, ::-1]


def landmarks(features, labels, projection):
    points = features @ projection.astype(np.float32)
    points = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    places = np.zeros((labels.max() + 1, projection.shape[1]))
    np.add.at(places, labels, points)
    return places / np.linalg.norm(places, axis=1, keepdims=True)


def distances(left, right):
    return np.sqrt(np.maximum((left**2).sum(1)[:, None] + (right**2).sum(1) - 2 * left @ right.T, 0.0))


def mapping(places, known, unseen):
    outer, inner = distances(known, unseen), distances(unseen, unseen)
    count, dim = len(unseen), places.shape[1]
    pairs = np.triu_indices(count, 1)
    weight_outer, weight_inner = 1 / outer.size, 2 / (count * (count - 1))
    np.fill_diagonal(inner, 1.0)

    def cost(flat):
        points = flat.reshape(count, dim)
        far, near = distances(places, points), distances(points, points)
        np.fill_diagonal(near, 1.0)
        value = weight_outer * ((far - outer) ** 2 / outer).sum()
        value += weight_inner * (((near - inner) ** 2 / inner)[pairs]).sum()
        pull = 2 * weight_outer * (far - outer) / (outer * far)
        push = 2 * weight_inner * (near - inner) / (inner * near)
        gradient = points * (pull.sum(0) + push.sum(0))[:, None] - pull.T @ places - push.T @ points
        return value, gradient.ravel()

    near = outer**-2
    start = (near / near.sum(0)).T @ places
    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-11, "maxcor": 20}
    found = scipy.optimize.minimize(cost, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.fun


def predict(folder):
    """The nearest class of every row of a mapped file, in float32 and in blocks that stay in the cache."""
    rows = np.load(folder / "rows.npy", mmap_mode="r")
    projection, mean, classes = (
        np.load(folder / name).astype(np.float32) for name in ("projection.npy", "mean.npy", "classes.npy")
    )
    squares, total = (classes**2).sum(1), 0
    for first in range(0, len(rows), 4096):
        block = rows[first : first + 4096]
        points = (block @ projection) / np.linalg.norm(block, axis=1, keepdims=True) - mean
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        total += int(np.argmin(squares - 2 * points @ classes.T, axis=1).sum())
    return total / len(rows)


def main():
    stage, folder, threads, k = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    faiss.omp_set_num_threads(threads)
    seconds, figures = {}, {}
    began = time.perf_counter()

    def timed(name, work, *inputs):
        start = time.perf_counter()
        result = work(*inputs)
        seconds[name] = time.perf_counter() - start
        return result

    with threadpool_limits(threads):
        if stage == "predict":
            figures["mean label"] = timed("predict", predict, folder)
            return report(seconds, figures)
        features, labels, known, unseen = timed("load", load, folder)
        found = timed("neighbors", neighbors, features, k)
        figures["mean distance"] = float(found[2].mean(dtype=np.float64))
        if stage == "fit":
            weights = graph(found, labels)
            degree, laplacian = timed("scatter", scatter, features, weights)
            values, vectors = timed("eigen", eigen, degree, laplacian)
            figures["largest eigenvalue"] = float(values[0])
            places = timed("landmarks", landmarks, features, labels, vectors)
            figures["stress"] = float(timed("top_down", mapping, places, known, unseen))
    seconds["total"] = time.perf_counter() - began
    report(seconds, figures)


def report(seconds, figures):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "figures": figures}))


main()
