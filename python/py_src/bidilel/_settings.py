"""Settings of methods by name, as the program has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._inputs import SEMANTICS


def to_json(settings: Mapping[str, Any]) -> str:
    """The settings that are given, as a JSON object."""
    given = {name: _value(value) for name, value in settings.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number, found {value}")
    return json.dumps(given, default=_plain)


def settings_of(settings: Any) -> dict[str, Any]:
    """Settings in a dict, where one is given, with refiners as a list."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise ValueError(f"settings must be a dict of settings by name, found {settings!r}")
    return {name: post_of(value) if name == "post" else value for name, value in settings.items()}


def experiment_settings(settings: Mapping[str, Any]) -> str:
    """Settings of a fit to a dataset, in which representations are named, as a JSON object."""
    given = settings_of(settings)
    for name in ("visual", "semantic"):
        given[name] = _names(given.get(name))
    return to_json(given)


def _names(wanted: str | Sequence[str] | None) -> list[str] | None:
    """One name, several separated by commas, or a list of names, as a list."""
    if wanted is None:
        return None
    return [name.strip() for name in wanted.split(",")] if isinstance(wanted, str) else list(wanted)


def _value(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        # The order of a set of names differs from process to process.
        return sorted(value)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else value


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise ValueError(f"a setting must be a number, a name or a list of these, found {value!r}")


def check_representations(settings: Mapping[str, Any], given: list[str]) -> None:
    """Refuse names of representations that are not those of the arrays of a fit.

    What :func:`bidilel.tune` chose has the names with it. One name stands for X, and for semantics without a name.
    """
    visual, semantic = (
        [value] if isinstance(value, str) else value for value in (settings.get("visual"), settings.get("semantic"))
    )
    if visual is not None and len(visual) != 1:
        raise ValueError(f"visual must be one representation, that of X, found {', '.join(visual)}")
    unnamed = given in ([], [SEMANTICS])
    if semantic is not None and list(semantic) != given and not (unnamed and len(semantic) == 1):
        raise ValueError(f"semantic must be {', '.join(given)}, as semantics has it, found {', '.join(semantic)}")


def post_of(post: Any) -> Any:
    """Refiners as a list: one name, several joined by ``+``, or a list of names."""
    return post.split("+") if isinstance(post, str) else post
