"""Tests that start Ray: only in a network of their own, by the script ``run``."""

from __future__ import annotations

import os

collect_ignore_glob = [] if "BIDILEL_CLUSTER" in os.environ else ["test_*.py"]
