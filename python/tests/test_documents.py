"""What is written about the package holds: examples, docstrings, types, the notebook."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib
import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from numpydoc.docscrape import ClassDoc, FunctionDoc

import bidilel

matplotlib.use("agg")

HERE = Path(__file__).parent
PACKAGE = Path(bidilel.__file__).parent
PUBLIC = sorted(name for name in bidilel._HOMES if not name.startswith("_"))
MODULES = [module.name for module in pkgutil.iter_modules([str(PACKAGE)]) if module.name not in ("_bidilel", "__main__", "ray")]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_run(name: str) -> None:
    module = importlib.import_module(f"bidilel.{name}" if name else "bidilel")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not found.failed


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("document", ["README.md", "python/README.md", "docs/guide.md"])
def test_examples_in_documents_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Where an example reads data of the paper: without them its table says what is missing.
    (tmp_path / "DIR").mkdir()
    examples = re.findall(r"```python\n(.*?)```", (HERE.parents[1] / document).read_text(), re.DOTALL)
    assert examples
    for example in examples:
        exec(compile(example, document, "exec"), {})


def test_everything_public_has_a_docstring_that_names_its_parameters() -> None:
    missing = []
    for name in PUBLIC:
        item = getattr(bidilel, name)
        if inspect.isclass(item):
            documented = {one for part in ClassDoc(item)["Parameters"] for one in part.name.split(", ")}
            signature = set(inspect.signature(item).parameters) if issubclass(item, _estimators()) else set()
            missing += [f"{name}({parameter})" for parameter in signature - documented]
            # Those of base classes of ours, too
            own = [base for base in item.__mro__ if base.__module__.startswith("bidilel")]
            members = {key: value for base in reversed(own) for key, value in vars(base).items()}
            methods = [(f"{name}.{key}", value) for key, value in members.items() if inspect.isfunction(value)]
        else:
            methods = [(name, item)]
        for where, function in methods:
            if where.split(".")[-1].startswith("_"):
                continue
            documented = {one.strip("*") for part in FunctionDoc(function)["Parameters"] for one in part.name.split(", ")}
            parameters = set(inspect.signature(function).parameters) - {"self"}
            missing += [f"{where}({parameter})" for parameter in parameters - documented]
        if item.__doc__ is None:
            missing.append(name)
    assert not missing


def test_every_function_and_estimator_has_an_example() -> None:
    made = [getattr(bidilel, name) for name in PUBLIC]
    wanted = [item for item in made if not inspect.isclass(item) or issubclass(item, _estimators())]
    assert not [item.__name__ for item in wanted if not FunctionDoc(item)["Examples"]]


def _estimators() -> tuple[type, ...]:
    from sklearn.base import BaseEstimator

    return (BaseEstimator, bidilel.ClassFolds)


def test_types_hold() -> None:
    """The package itself, and a program that uses it, by mypy --strict."""
    configuration = HERE.parent / "pyproject.toml"
    for target in (["-p", "bidilel"], [str(HERE / "typed_usage.py")]):
        command = [sys.executable, "-m", "mypy", "--config-file", str(configuration), *target]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_stub_is_that_of_the_compiled_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "bidilel._bidilel", "--ignore-disjoint-bases"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_notebook_runs(tmp_path: Path) -> None:
    notebook = nbformat.read(HERE.parent / "notebooks" / "emoji.ipynb", as_version=4)
    # Over files: a kernel needs no port of the machine.
    kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", connection_file=str(tmp_path / "kernel.json"))
    NotebookClient(notebook, km=kernel, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs), "a plot"
    assert any("text/html" in output.get("data", {}) for output in outputs), "a table"


def test_names_are_those_of_the_interface() -> None:
    fixed = (
        "ZeroShotClassifier SLPP LPP LandmarkSammon Sammon ClassFolds Model open emoji generate evaluate tune compare inspect "
        "reproduce reproductions"
    )
    assert set(fixed.split()) <= set(PUBLIC)
    assert set(PUBLIC) - set(bidilel.__all__) == {"open", "inspect"}, "a star takes no builtin away"
    names = {row["name"] for row in bidilel.settings()}
    parameters = set(inspect.signature(bidilel.ZeroShotClassifier).parameters)
    own = {"metric", "candidates", "calibrate", "keep_instances", "settings", "n_jobs", "random_state", "progress"}
    assert parameters - own <= names, "parameters have the names of settings"


def test_profiles_are_those_of_the_workspace() -> None:
    """Otherwise dependencies would be compiled again, and a wheel would be slower than the program."""
    own, theirs = (tomllib.loads((HERE.parents[up] / "Cargo.toml").read_text()) for up in (0, 1))
    assert own["profile"] == theirs["profile"]
