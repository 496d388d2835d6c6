"""Prediction and fits on a Ray cluster.

Features stay where Ray has them; workers that die cost time, never rows. Install it with ``pip install './python[ray]'``.
"""

from __future__ import annotations

try:
    import ray as _ray  # noqa: F401
    import ray.data as _data  # noqa: F401
except ImportError as error:
    raise ImportError("bidilel.ray needs Ray and pyarrow: pip install './python[ray]'") from error

from ._fit import fit
from ._predict import predict

__all__ = ["fit", "predict"]
