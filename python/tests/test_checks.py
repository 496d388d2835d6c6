"""scikit-learn's own checks: all of them, none skipped."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

import bidilel

ESTIMATORS = [
    bidilel.ZeroShotClassifier(),
    bidilel.ZeroShotClassifier(bottom_up="lda", normalize="none"),
    bidilel.SLPP(),
    bidilel.SLPP(unit_norm=True),
    bidilel.LPP(),
    bidilel.Sammon(),
    bidilel.LandmarkSammon(),
]

#: Checks that do not apply, and why; scikit-learn skips them by itself.
NOT_APPLICABLE = {
    "check_array_api_input": "the array API is experimental, and its libraries are not installed",
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_every_check_of_scikit_learn_passes(estimator: object, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None)
    failed = [f"{one['check_name']}: {one['exception']!r}" for one in results if one["status"] == "failed"]
    assert not failed, "\n".join(failed)
    skipped = {one["check_name"] for one in results if one["status"] == "skipped"}
    assert skipped <= set(NOT_APPLICABLE), skipped
    assert not [one for one in results if one["status"] == "xfail"]
    passed = sum(one["status"] == "passed" for one in results)
    with capsys.disabled():
        line = f"check_estimator({estimator!r}): {passed} of {len(results)} checks passed"
        print(f"\n{line}, not applicable: {', '.join(sorted(skipped)) or 'none'}")
    assert len(results) > 30
