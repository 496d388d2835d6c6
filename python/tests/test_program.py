"""The command that the package installs, and model files both ways."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import bidilel
from bidilel import Model, ZeroShotClassifier

from conftest import Arrays, arrays_of, built_program, program

#: Caltech-UCSD Birds with features of VGG, where they are at hand.
CUB = os.environ.get("BIDILEL_CUB", "")


def test_the_command_is_the_program() -> None:
    version = program("--version")
    assert version.returncode == 0 and version.stdout == f"bidilel {bidilel.__version__}\n"
    done = program("methods", "--format", "json")
    assert json.loads(done.stdout)["methods"] == bidilel.methods()
    assert program("--help").returncode == 0
    wrong = program("evaluate")
    assert wrong.returncode == 2 and "Usage" in wrong.stderr
    failed = program("evaluate", "/no/such/folder")
    assert failed.returncode == 1 and failed.stderr.startswith("error: ")


@pytest.mark.parametrize("ignored", [True, False])
def test_the_command_ends_at_an_interrupt_unless_it_ignores_them(ignored: bool) -> None:
    """A command in the background of a shell ignores them."""
    code = """
        import os, signal, sys
        from types import SimpleNamespace
        signal.signal(signal.SIGINT, signal.SIG_IGN if {ignored} else signal.default_int_handler)
        from bidilel import _command
        _command._bidilel = SimpleNamespace(main=lambda arguments: os.kill(os.getpid(), signal.SIGINT) or 7)
        _command.main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code.format(ignored=ignored))], timeout=60)
    assert done.returncode == (7 if ignored else -signal.SIGINT)


def _predicted(model: Path, X: np.ndarray, folder: Path, top: int = 1) -> list[dict[str, str]]:
    np.save(folder / "x.npy", X)
    done = program("predict", model, folder / "x.npy", "--top", top)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_program_reads_models_of_python(animals: Arrays, tmp_path: Path) -> None:
    model = ZeroShotClassifier(dim=50).fit(animals.X, animals.y, semantics=animals.semantics)
    model.model_.save(tmp_path / "animals.model")
    rows = _predicted(tmp_path / "animals.model", animals.X_test, tmp_path)
    assert [row["label"] for row in rows] == list(model.predict(animals.X_test))
    distances = -model.decision_function(animals.X_test).max(axis=1)
    assert [float(row["distance"]) for row in rows] == pytest.approx(distances.tolist(), abs=1e-6)


def test_the_program_reads_models_without_unseen_classes(animals: Arrays, tmp_path: Path) -> None:
    model = ZeroShotClassifier(dim=50).fit(animals.X, animals.y)
    model.model_.save(tmp_path / "known.model")
    rows = _predicted(tmp_path / "known.model", animals.X, tmp_path)
    assert [row["label"] for row in rows] == list(model.predict(animals.X))
    listed = program("class", "list", tmp_path / "known.model", "--format", "json")
    assert listed.returncode == 0 and len(json.loads(listed.stdout)["classes"]) == len(model.known_classes_)
    explained = program("explain", tmp_path / "known.model", tmp_path / "x.npy", "--rows", "0", "--format", "json")
    assert explained.returncode == 0, explained.stderr
    assert json.loads(explained.stdout)[0]["label"] == model.predict(animals.X[:1])[0]


@pytest.mark.parametrize("method", ["bidilel", "eszsl"])
def test_python_reads_models_of_the_program(method: str, animals: Arrays, tmp_path: Path) -> None:
    path = tmp_path / "animals.model"
    assert program("fit", "builtin:emoji", "--method", method, "--out", path).returncode == 0
    model = Model.load(path)
    assert model.to_bytes() == path.read_bytes()
    assert model.method == method and set(model.unseen) == set(animals.y_test)
    rows = _predicted(path, animals.X_test, tmp_path)
    assert [row["label"] for row in rows] == list(model.predict(animals.X_test))
    model.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == path.read_bytes()


def test_refiners_of_a_model_are_those_of_the_program(animals: Arrays, tmp_path: Path) -> None:
    path = tmp_path / "refined.model"
    assert program("fit", "builtin:emoji", "--post", "structured", "--out", path).returncode == 0
    rows = _predicted(path, animals.X_test, tmp_path)
    model = Model.load(path)
    assert [row["label"] for row in rows] == list(model.refine(animals.X_test))
    assert not np.array_equal(model.refine(animals.X_test), model.predict(animals.X_test))


def test_several_views_stand_side_by_side(tmp_path: Path) -> None:
    data = bidilel.generate(scale=0.3)
    data.save(tmp_path / "small")
    path = tmp_path / "fused.model"
    assert program("fit", tmp_path / "small", "--visual", "cnn,motion", "--out", path).returncode == 0
    model, test = Model.load(path), data.trials()[0].test
    parts = [data.features(name, test) for name in data.visual]
    X = np.hstack(parts)
    names = []
    for name, part in zip(data.visual, parts):
        np.save(tmp_path / f"{name}.npy", part)
        names.append(f"{name}={tmp_path / name}.npy")
    done = program("predict", path, *names)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["label"] for row in rows] == list(model.predict(X)) == list(model.predict(X.astype(float)))
    assert model.transform(X).shape == (len(X), model.transform(X[:1]).shape[1])


def _same_fit(dataset: bidilel.Dataset, name: str, folder: Path, *options: object) -> None:
    """A dataset, its arrays and the program give one model: the same bits in every array of the file."""
    done = built_program("fit", name, "--out", folder / "program.model", *options)
    assert done.returncode == 0, done.stderr
    program_bytes = (folder / "program.model").read_bytes()
    assert dataset.fit().to_bytes() == program_bytes
    own = arrays_of(dataset)
    fitted = ZeroShotClassifier(metric=dataset.metric()).fit(own.X, own.y, semantics=own.semantics)
    theirs, ours = Model.from_bytes(program_bytes), fitted.model_
    assert (theirs.known, theirs.unseen) == (ours.known, ours.unseen)
    for part in ("known", "unseen"):
        assert np.array_equal(theirs._raw.class_points(part), ours._raw.class_points(part))
    for left, right in zip(theirs._raw.components(), ours._raw.components()):  # type: ignore[arg-type]
        assert np.array_equal(left, right)
    assert np.array_equal(theirs.scores(own.X_test), ours.scores(own.X_test))
    assert theirs.header["fingerprint"] == ours.header["fingerprint"]


# The features of CUB are not here: BIDILEL_CUB names a folder that has them, where there is one.
@pytest.mark.parametrize("name", ["builtin:emoji", *([CUB] if CUB else [])])
def test_fits_are_those_of_the_program_to_the_last_bit(name: str, tmp_path: Path) -> None:
    _same_fit(bidilel.open(name), name, tmp_path)
