"""Tables of the paper from Python: those of the program, typed, resumed, interrupted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import matplotlib
import pytest

import bidilel

from conftest import interrupt, program
from test_experiments import without_times

matplotlib.use("agg")

#: A table with a column that has data and one that has none, and curves of a search.
OWN = """title = "Small"
stub = ["label"]
head = ["dataset"]

[searches.two]
grid = { alpha = [0.1, 10.0] }

[curves]
of = "search"
settings = ["alpha"]

[datasets.small]
title = "Generated"
folds = 2

[datasets.far]
title = "Far away"
get = "the data of others"

[[rows]]
label = "searched"
search = "two"
settings = { init = "random" }
starts = 2

[[rows]]
label = "fixed"
settings = { dim = 8 }

[[columns]]
dataset = "small"
visual = "cnn"
semantic = "attributes"

[[columns]]
dataset = "far"
visual = "cnn"
semantic = "attributes"

[published]
columns = ["small/cnn/attributes", "far/cnn/attributes"]
[published.rows]
"fixed" = ["99.0", "47.6 ± 0.1"]
"""


@pytest.fixture(scope="module")
def folder(small: bidilel.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    small.save(folder / "small")
    (folder / "own.toml").write_text(OWN)
    return folder


@pytest.fixture(scope="module")
def table(folder: Path) -> bidilel.Reproduction:
    with pytest.warns(UserWarning, match="2 of 4 cells have data"):
        return bidilel.reproduce(folder / "own.toml", data=folder)


def test_a_table_is_that_of_the_program(folder: Path, table: bidilel.Reproduction) -> None:
    done = program("reproduce", folder / "own.toml", "--data", folder, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert without_times(table.to_dict()) == without_times(json.loads(done.stdout))


def test_cells_have_our_number_the_published_one_and_what_is_missing(table: bidilel.Reproduction) -> None:
    assert (table.name, table.rows, table.columns) == ("own", ["searched", "fixed"], ["Generated", "Far away"])
    fixed = table.cell("fixed", "Generated")
    assert fixed.status == "measured" and fixed.mean is not None and fixed.published == pytest.approx(0.99)
    assert fixed.difference == pytest.approx(fixed.mean - 0.99)
    assert fixed.p_value is not None and fixed.tested_over == "classes"
    searched = table.cell("searched", "Generated")
    assert len(searched.runs) == 2 and searched.published is None
    assert searched.mean == pytest.approx(sum(run["per_class"] for run in searched.runs) / 2)
    absent = table.cell("fixed", "Far away")
    assert (absent.status, absent.mean, absent.published_spread) == ("missing", None, pytest.approx(0.001))
    parts = ["the semantic representation `attributes`", "the visual representation `cnn`"]
    assert [one.get for one in table.missing] == ["the data of others", *parts]
    assert table.manifest["seed"] == 0 and table.manifest["reduced"] is None
    with pytest.raises(KeyError, match="rows are"):
        table.cell("fixed", "nowhere")


def test_a_table_can_be_looked_at(table: bidilel.Reproduction) -> None:
    rows = table.to_pandas()
    assert list(rows["status"]) == ["measured", "missing", "measured", "missing"]
    html = table._repr_html_()
    assert "(99.0, -" in html and "n/a (47.6)" in html and "the data of others" in html
    assert [curve.x for curve in table.figures[0].curves] == [[0.1, 10.0]]
    axes = table.plot()
    assert axes.get_xlabel() == "alpha" and table.plot(ax=axes) is axes
    with pytest.raises(IndexError, match="figure must be below 1, found 1"):
        table.plot(figure=1)
    plain = bidilel.Reproduction({**table.to_dict(), "figures": []})
    assert len(plain.plot().get_yticklabels()) == 3, "cells with a number of ours or of the publication"


def test_a_table_is_written_and_resumed(folder: Path, tmp_path: Path, table: bidilel.Reproduction) -> None:
    events: list[tuple[str, int, int | None]] = []
    tell = lambda *event: events.append(event)
    with pytest.warns(UserWarning, match="cells have data"):
        first = bidilel.reproduce([folder / "own.toml"], data=folder, out=tmp_path / "out", progress=tell)
    assert without_times(first[0].to_dict()) == without_times(table.to_dict())
    assert events[-1] == ("cells", 2, 2)
    assert {"own.txt", "own.md", "own.tex", "own.csv", "own.json", "journal.jsonl"} <= set(os.listdir(tmp_path / "out"))
    before = (tmp_path / "out" / "journal.jsonl").read_bytes()
    with pytest.warns(UserWarning, match="computations are in the journal"):
        again = bidilel.reproduce(folder / "own.toml", data=folder, out=tmp_path / "out", resume=True)
    assert again.cells == table.cells
    assert (tmp_path / "out" / "journal.jsonl").read_bytes() == before, "nothing was computed again"


def test_stand_ins_have_a_scale_and_say_so(folder: Path) -> None:
    table = bidilel.reproduce(folder / "own.toml", scale=0.3, folds=1, starts=1, seed=3)
    assert table.manifest["reduced"] == {"splits": None, "folds": 1, "starts": 1, "stand_ins": 0.3}
    assert table.manifest["seed"] == 3 and not table.missing
    assert all(cell.status == "measured" and len(cell.runs) == 1 for cell in table.cells)


def test_an_interrupt_stops_a_table_soon_and_what_was_done_is_kept(tmp_path: Path) -> None:
    with interrupt((tmp_path / "out" / "journal.jsonl").exists, delay=0.2) as took:
        bidilel.reproduce("object-recognition", scale=0.05, out=tmp_path / "out")
    # The whole takes minutes of the processors.
    assert took[0] < 4.0
    assert (tmp_path / "out" / "journal.jsonl").exists() and not (tmp_path / "out" / "object-recognition.txt").exists()
    assert bidilel.evaluate("synthetic:small").accuracy > 0.2, "everything is usable"


def test_mistakes_are_told_before_anything_is_computed(folder: Path) -> None:
    for arguments, words in [
        ({"tables": "gamma"}, "say where the data are"),
        ({"tables": "gamma", "data": folder, "scale": 0.1}, "say where the data are"),
        ({"tables": "gama", "data": folder}, "did you mean `gamma`"),
        ({"tables": "all", "data": folder}, "several tables"),
        ({"tables": [], "data": folder}, "name a table"),
        ({"tables": "gamma", "data": folder / "nothing"}, "there is no such folder"),
        ({"tables": "gamma", "scale": 1.5}, "scale must be above 0 and up to 1, found 1.5"),
        ({"tables": "gamma", "scale": 0.0}, "scale must be above 0"),
        ({"tables": "gamma", "data": folder, "splits": 0}, "splits must be at least 1, found 0"),
        ({"tables": "gamma", "data": folder, "resume": True}, "resume needs"),
    ]:
        with pytest.raises(ValueError, match=words):
            bidilel.reproduce(**arguments)  # type: ignore[call-overload]
    with pytest.raises(OSError, match="cannot be read"):
        bidilel.reproduce("nothing.toml", data=folder)


def test_the_list_is_that_of_the_program() -> None:
    listed = bidilel.reproductions()
    done = program("reproduce", "--list", "--format", "json")
    assert listed == json.loads(done.stdout)["experiments"]
    assert {"awa", "cub"} <= set(listed[0]["datasets"])
