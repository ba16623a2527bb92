"""What a fitted estimator says of its own robustness."""

from itertools import product

import numpy as np
import pytest

from wdrsvm import RobustLinearSVC, RobustLinearSVCCV, certified_radius

from .cases import IRIS, SPECIES

# Two measurements and two categories, the second of which hardly depends on the species.
FLAG = IRIS[:, 1] > 3
CATEGORIES = np.column_stack([SPECIES == 0, SPECIES != 0, FLAG, ~FLAG]).astype(float)
ROWS = np.hstack([IRIS[:, :2], CATEGORIES])
GROUPS = [((2, 3), 1.0), ((4, 5), 0.3)]


def switched(rows, groups):
    """The rows with other values of some categories of two values."""
    rows = rows.copy()
    for columns, _ in groups:
        rows[:, columns] = rows[:, columns[::-1]]
    return rows


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_certified_radii_count_switches_at_their_cost(norm):
    """The least over all sets of switches of their cost and the distance after them."""
    model = RobustLinearSVC(0.05, 2.0, norm=norm, categorical=GROUPS).fit(ROWS, SPECIES)
    still = np.r_[1.0, 1.0, np.full(4, np.inf)]
    before, expected = model.predict(ROWS), np.full(len(ROWS), np.inf)
    for chosen in product((False, True), repeat=2):
        used = [group for group, is_used in zip(GROUPS, chosen, strict=True) if is_used]
        moved = switched(ROWS, used)
        rest = certified_radius(model, moved, norm, still)
        rest[model.predict(moved) != before] = 0.0
        expected = np.minimum(expected, sum(cost for _, cost in used) + rest)
    np.testing.assert_allclose(model.certified_radius(ROWS), expected)
    numbers_only = certified_radius(model, ROWS, norm, still)
    assert (expected < numbers_only - 1e-6).any()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_certified_radii_in_a_box_are_those_of_moves_inside(norm):
    rows = IRIS[SPECIES == 1]
    model = RobustLinearSVC(0.05, 2.0, norm=norm).fit(IRIS, SPECIES)
    everywhere = model.certified_radius(rows)
    tight = (rows.min(axis=0), rows.max(axis=0))
    inside = model.set_params(support=tight).certified_radius(rows)
    assert (inside >= everywhere * (1 - 1e-9)).all()
    assert (inside > everywhere * (1 + 1e-6)).any()
    far = model.set_params(support=(-1e6, 1e6)).certified_radius(rows)
    np.testing.assert_allclose(far, everywhere, rtol=1e-9)


def test_rows_outside_the_box_widen_it():
    box = (IRIS.min(axis=0), IRIS.max(axis=0))
    model = RobustLinearSVC(0.05, support=box).fit(IRIS, SPECIES)
    radii = model.certified_radius((IRIS + 10.0).tolist())
    wide = (box[0], box[1] + 10.0)
    expected = model.set_params(support=wide).certified_radius(IRIS + 10.0)
    np.testing.assert_array_equal(radii, expected)


@pytest.mark.parametrize("kind", [RobustLinearSVC, RobustLinearSVCCV])
def test_rows_without_a_category_have_no_certified_radius(kind):
    model = kind(categorical=GROUPS).fit(ROWS, SPECIES)
    strange = ROWS.copy()
    strange[7, 2:4] = 0.0
    with pytest.raises(ValueError, match="that its encoder has not seen: leave it out"):
        model.certified_radius(strange)
