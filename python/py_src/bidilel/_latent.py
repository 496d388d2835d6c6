"""What all estimators with a fitted model have in common: rows that are checked before they are projected."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._inputs import native, plain
from ._model import Model


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
