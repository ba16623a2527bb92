"""What a fitted estimator says of its own robustness."""

import numpy as np

from wdrsvm import RobustLinearSVC, certified_radius

from .cases import IRIS, SPECIES


def test_categories_do_not_move_within_a_certified_radius():
    """The adversary switches categories at a price; distances are about the others."""
    rows = np.column_stack([IRIS[:, :2], SPECIES == 0, SPECIES != 0]).astype(float)
    model = RobustLinearSVC(0.05, 2.0, categorical=[((2, 3), 1.0)]).fit(rows, SPECIES)
    expected = certified_radius(model, rows, "l2", np.array([1.0, 1.0, np.inf, np.inf]))
    np.testing.assert_allclose(model.certified_radius(rows), expected)
