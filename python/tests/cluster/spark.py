"""Prediction with Spark: ``mapInArrow`` over a model file.

    tests/cluster/run python spark.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from bidilel.arrow import Recognizer

from local import small_model, write_rows

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary)
    write_rows(folder / "rows", 20_000, files=4, dim=64, classes=10)
    model = small_model(64, 10)
    model.save(folder / "model")

    # The recipe: three lines.
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    recognizer = Recognizer(str(folder / "model"), keep=["id"])
    labels = spark.read.parquet(str(folder / "rows")).mapInArrow(recognizer.batches, "id long, label string, distance double")

    labels.write.parquet(str(folder / "labels"))
    labels.orderBy("id").show(5)
    spark.stop()
    found, rows = pq.read_table(folder / "labels").sort_by("id"), pq.read_table(folder / "rows").sort_by("id")
    expected = Recognizer(model, keep=["id"])(rows)
    assert found["id"].to_pylist() == rows["id"].to_pylist(), "every row once"
    assert found["label"].to_pylist() == expected["label"].to_pylist(), "the labels of one process"
    print(f"{len(found)} rows, every one once, all labels those of one process")
