"""Prediction with Spark: ``mapInArrow`` over a model file.

    tests/cluster/run python spark.py --rows 500000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
from pyspark.sql import SparkSession

from bidilel.arrow import Recognizer

from local import small_model, write_rows

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rows", type=int, default=20_000)
parser.add_argument("--dim", type=int, default=128)
options = parser.parse_args()

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary)
    write_rows(folder / "rows", options.rows, files=4, dim=options.dim, classes=10)
    model = small_model(options.dim, 10)
    model.save(folder / "model")

    # The recipe: three lines.
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    recognizer = Recognizer(str(folder / "model"), keep=["id"])
    labels = spark.read.parquet(str(folder / "rows")).mapInArrow(recognizer.batches, "id long, label string, distance double")

    began = time.time()
    labels.write.parquet(str(folder / "labels"))
    spent = time.time() - began
    labels.orderBy("id").show(5)
    spark.stop()
    found, rows = pq.read_table(folder / "labels").sort_by("id"), pq.read_table(folder / "rows").sort_by("id")
    began = time.time()
    expected = Recognizer(model, keep=["id"], n_jobs=2)(rows)
    own = time.time() - began
    assert found["id"].to_pylist() == rows["id"].to_pylist(), "every row once"
    assert found["label"].to_pylist() == expected["label"].to_pylist(), "the labels of one process"
    assert found["distance"].to_pylist() == expected["distance"].to_pylist(), "the distances of one process"
    print(f"Spark {pyspark.__version__}, {len(found)} x {options.dim}: every row once, all labels and distances those of one process")
    print(f"read, recognized and written in {spent:.1f} s; recognized alone, by one process with 2 threads, in {own:.1f} s")
