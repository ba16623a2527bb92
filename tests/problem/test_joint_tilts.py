"""Tilting kept and flipped mass together, against finite differences."""

import numpy as np
import pytest

from wdrsvm.problem.joint_tilts import JointRows
from wdrsvm.problem.multipliers import RowMultipliers


def random_rows(seed, n_rows=7, n_classes=4):
    """Rows that are torn between labels; masses of flips and of their winners agree."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    alpha, phi, beta = rng.random((3, n_rows, n_classes))
    phi[np.arange(n_rows), y] = 0.0
    beta *= (phi.sum(axis=1) / beta.sum(axis=1))[:, None]
    return JointRows(RowMultipliers(alpha, phi, beta), y), rng


@pytest.mark.parametrize("seed", range(5))
def test_curvature_is_how_slopes_answer_a_tilt(seed):
    rows, rng = random_rows(seed)
    columns, tilt = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    step = 1e-6
    there, back = (
        rows.tilted(sign * step * columns @ tilt.T).slopes(rows.y).T @ columns
        for sign in (1, -1)
    )
    expected = np.einsum("idje,je->id", rows.curvature(columns), tilt)
    np.testing.assert_allclose((there - back) / (2 * step), expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_a_tilt_moves_mass_and_makes_none(seed):
    rows, rng = random_rows(seed)
    moved = rows.tilted(0.1 * rng.normal(size=(7, 4))).masses
    before = rows.masses
    np.testing.assert_allclose(
        moved.alpha.sum(axis=1) + moved.phi.sum(axis=1),
        before.alpha.sum(axis=1) + before.phi.sum(axis=1),
    )
    np.testing.assert_allclose(moved.beta.sum(axis=1), moved.phi.sum(axis=1))
    assert min(part.min() for part in moved) >= 0
