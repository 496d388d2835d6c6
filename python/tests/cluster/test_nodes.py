"""Several machines in networks of their own: one that is lost costs time, no rows and no bit."""

from __future__ import annotations

from pathlib import Path

import nodes


def test_a_machine_that_is_lost_costs_time_alone(tmp_path: Path) -> None:
    nodes.run(tmp_path, rows_at_all=24_000, dim=24, count=2, partitions=3)
