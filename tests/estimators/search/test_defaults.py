"""What "auto" means, with adversarial and with random label noise."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from wdrsvm import (
    RobustLinearSVCCV,
    RobustLogisticRegressionCV,
    RobustSVCCV,
    radius_max,
)
from wdrsvm.estimators.search.defaults import DOUBT, repeated_folds

from ..cases import CULTIVAR, IRIS, SPECIES, WINE

SEARCHES = (RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV)


@pytest.mark.parametrize("kind", SEARCHES)
def test_auto_is_the_default_of_every_search(kind):
    given = kind().get_params()
    assert {given[name] for name in ("radii", "label_costs", "cv")} == {"auto"}
    assert given.get("norm", "auto") == "auto"


def test_auto_with_adversarial_labels():
    found = RobustLinearSVCCV().fit(IRIS, SPECIES)
    assert len(found.radii_) == 10
    assert set(found.cv_results_["param_label_cost"]) == {2.0, np.inf}
    assert found.n_splits_ == 5
    assert found.best_estimator_.norm == "l2"


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_wide_tables_have_a_label_cost_of_the_length_of_rows(make):
    """Else every label would be nearly free to flip beside the distances of the rows."""
    wide = np.random.default_rng(0).normal(size=(60, 100))
    y = np.arange(60) % 3
    for scale, cost in ((1.0, np.sqrt((wide**2).sum() / 60)), (0.01, 2.0)):
        found = RobustLinearSVCCV(radii=[0.1 * scale], cv=2).fit(make(scale * wide), y)
        tried = np.sort(np.asarray(found.cv_results_["param_label_cost"], dtype=float))
        assert tried == pytest.approx([cost, np.inf])


@pytest.mark.parametrize(
    ("kind", "loss", "unit"),
    [
        (RobustLogisticRegressionCV, "logistic", np.log(3)),
        (RobustLinearSVCCV, "crammer-singer", 1.0),
    ],
)
def test_auto_with_random_label_noise_is_in_units_of_the_data(kind, loss, unit):
    found = kind(label_noise="random", max_disbelief=0.3).fit(WINE, CULTIVAR)
    largest = radius_max(WINE, CULTIVAR, label_cost=np.inf, loss=loss)
    assert found.radii_ == pytest.approx(largest * np.array(DOUBT.radius_shares), rel=1e-3)
    costs = np.unique(np.asarray(found.cv_results_["param_label_cost"], dtype=float))
    assert costs == pytest.approx(np.sort(DOUBT.cost_shares) * unit)
    assert found.n_splits_ == 5
    assert found.best_estimator_.norm == "l2"


def test_scaling_the_features_scales_the_radii():
    options = {"label_noise": "random", "cv": 2}
    plain = RobustLogisticRegressionCV(**options).fit(IRIS, SPECIES)
    scaled = RobustLogisticRegressionCV(**options).fit(1000 * IRIS, SPECIES)
    assert scaled.radii_ == pytest.approx(1000 * plain.radii_, rel=1e-3)
    assert scaled.best_index_ == plain.best_index_


def test_extreme_class_weights_leave_larger_radii():
    """Where one class outweighs the others, the right classifier is nearly constant."""
    weights = {0: 1000.0, 1: 1e-4, 2: 1e-4}
    options = {"label_noise": "random", "label_costs": [np.inf], "cv": 2}
    plain = RobustLogisticRegressionCV(**options).fit(IRIS, SPECIES)
    weighed = RobustLogisticRegressionCV(class_weight=weights, **options)
    weighed.fit(IRIS, SPECIES)
    assert weighed.radii_ == pytest.approx(plain.radii_)
    assert (weighed.predict(IRIS) == 0).all()


def test_folds_divide_the_rows_and_repeat_if_rows_are_few():
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    splits = list(repeated_folds(codes, 0))
    assert len(splits) == DOUBT.n_folds * DOUBT.max_repeats
    for k in (0, 1):
        tests = [test for _, test in splits[5 * k : 5 * k + 5]]
        assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(100))
        assert all(np.bincount(codes[test]).tolist() == [12, 6, 2] for test in tests)
    assert not np.array_equal(splits[0][1], splits[5][1])
    assert len(list(repeated_folds(np.arange(1000) % 3, 0))) == DOUBT.n_folds


def test_small_classes_have_fewer_folds_and_single_rows_are_only_learned():
    codes = np.array([0] * 20 + [1] * 3 + [2])
    splits = list(repeated_folds(codes, 0))
    assert len(splits) == 3 * DOUBT.max_repeats
    assert all(23 in train and 23 not in test for train, test in splits)
    assert all(set(codes[test]) == {0, 1} for _, test in splits)


def test_classes_of_single_rows_are_refused():
    search = RobustLogisticRegressionCV(label_noise="random")
    with pytest.raises(ValueError, match="y must have a class of at least 2 rows"):
        search.fit(IRIS[[0, 149]], SPECIES[[0, 149]])


def test_the_random_state_decides_the_folds():
    first, second, third = (
        next(repeated_folds(CULTIVAR, seed))[1].tolist() for seed in (0, 0, 1)
    )
    assert first == second != third


@pytest.mark.parametrize("name", ["radii", "label_costs", "cv"])
@pytest.mark.parametrize("noise", ["adversarial", "random"])
def test_other_words_are_refused(name, noise):
    search = RobustLogisticRegressionCV(label_noise=noise, **{name: "automatic"})
    with pytest.raises(ValueError, match=f"{name} must be 'auto', .*, got 'automatic'"):
        search.fit(IRIS, SPECIES)


def test_none_is_not_auto():
    with pytest.raises(ValueError, match="radii must be"):
        RobustLogisticRegressionCV(None).fit(IRIS, SPECIES)
