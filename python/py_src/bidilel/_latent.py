"""What all estimators with a fitted model have in common: rows that are checked before they are projected."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._columns import plain
from ._inputs import native
from ._model import Model

F = TypeVar("F", bound=Callable[..., Any])


def all_or_nothing(fit: F) -> F:
    """A fit that fails or is interrupted leaves the estimator as it was: never classes of one fit with a model of another."""

    @wraps(fit)
    def fit_or_restore(self: Any, *arguments: Any, **named: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *arguments, **named)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast("F", fit_or_restore)


class LatentTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):  # type: ignore[misc]
    """A transformer whose fit makes a model."""

    model_: Model

    @property
    def _n_features_out(self) -> int:
        return int(self.model_._raw.class_points("known").shape[1])

    def _validated(self, X: Any) -> NDArray[Any]:
        """Rows as the compiled half takes them; it checks the numbers itself."""
        check_is_fitted(self, "model_")
        return native(validate_data(self, plain(X), dtype="numeric", ensure_all_finite=False, reset=False))
