"""Rows in the feature space of a kernel, and back."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import canonical_rows
from wdrsvm.robustness.paths import lift as _lift
from wdrsvm.robustness.paths.lift import lift
from wdrsvm.robustness.paths.parts import RobustPath

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 2))
Y = np.arange(6) % 2
WEIGHT = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0])


def rows_of(X, weight=WEIGHT):
    return canonical_rows(X, Y, weight, None)


def gram_of(rows):
    return np.exp(-0.7 * ((rows[:, None] - rows) ** 2).sum(axis=2))


def path_of(coef):
    shape = coef.shape[:2]
    value = np.zeros(shape)
    radii, costs = np.zeros(shape[0]), [1.0] * shape[1]
    intercept = np.zeros(coef.shape[:3])
    return RobustPath(radii, costs, coef, intercept, value, value, value, np.arange(2))


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "sparse"])
def test_features_have_the_kernels_products_and_scores_come_back(kernel):
    """Scores linear in the features are sums of kernel values over all training rows."""
    given = {"rbf": X, "precomputed": gram_of(X), "sparse": sparse.csr_array(gram_of(X))}
    rows = rows_of(given[kernel])
    name = "rbf" if kernel == "rbf" else "precomputed"
    found = lift(name, rows, 6, gamma=0.7)
    whole = gram_of(X)
    assert 2 not in rows.source
    inner = found.rows.X @ found.rows.X.T
    np.testing.assert_allclose(inner, whole[np.ix_(rows.source, rows.source)], atol=1e-9)
    np.testing.assert_array_equal(found.rows.y, rows.y)
    np.testing.assert_array_equal(found.rows.weight, rows.weight)
    rank = found.rows.X.shape[1]
    coef = rng.normal(size=(3, 2, 2, rank))
    path = found.on_samples(path_of(coef), 6)
    assert path.coef.shape == (3, 2, 2, 6)
    assert not path.coef[..., 2].any()
    scores = path.coef @ whole[:, rows.source]
    np.testing.assert_allclose(scores, coef @ found.rows.X.T, atol=1e-7)


def test_a_kernel_is_told_the_rows_and_their_weights(monkeypatch):
    asked, original = [], _lift.kernel_of
    monkeypatch.setattr(
        _lift,
        "kernel_of",
        lambda kernel, **known: asked.append((kernel, known)) or original(kernel, **known),
    )
    rows = rows_of(X)
    lift("rbf", rows, 6, gamma="scale")
    ((kernel, known),) = asked
    assert kernel == "rbf"
    assert known["X"] is rows.X
    assert known["weight"] is rows.weight
    assert known["gamma"] == "scale"


@pytest.mark.parametrize("known", [True, False])
def test_the_factor_is_told_whether_the_kernel_is_positive(monkeypatch, known):
    asked = []

    def factorise(gram, **options):
        asked.append(options)
        return SimpleNamespace(features=gram[:, :1])

    monkeypatch.setattr(_lift, "factorise", factorise)
    lift("rbf" if known else lambda left, right: left @ right.T, rows_of(X), 6)
    assert asked == [{"known_positive": known}]


def test_kernel_values_of_other_rows_are_refused():
    message = r"X must be square for kernel='precomputed', .* got shape \(6, 2\)"
    with pytest.raises(ValueError, match=message):
        lift("precomputed", rows_of(X), 6)
