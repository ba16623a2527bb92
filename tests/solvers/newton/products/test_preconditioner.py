"""The preconditioner inverts what it says it stands for."""

import numpy as np

from wdrsvm.solvers.newton.products.design import CurvatureSums
from wdrsvm.solvers.newton.products.preconditioner import ClassCurvature, Preconditioner


def test_it_is_the_inverse_of_spread_mean_and_stiffness():
    rng = np.random.default_rng(0)
    mass, means, stiffness = (
        rng.uniform(size=3),
        rng.normal(size=(3, 4)),
        rng.uniform(size=3),
    )
    spread = np.cov(rng.normal(size=(4, 30)))
    first = mass[:, None] * means
    second = mass.sum() * spread + (means.T * mass) @ means
    curvature = ClassCurvature.of(CurvatureSums(mass, first, second), n_touchable=4)
    apply = Preconditioner.of(curvature, stiffness)
    gradient = rng.normal(size=(3, 4))
    found = apply(gradient)
    for c in range(3):
        curvature = mass[c] * (spread + np.outer(means[c], means[c]))
        curvature += stiffness[c] * np.eye(4)
        np.testing.assert_allclose(curvature @ found[c], gradient[c], rtol=1e-5, atol=1e-6)


def test_the_curvature_times_a_step_undoes_the_inverse():
    rng = np.random.default_rng(1)
    sums = CurvatureSums(rng.uniform(1, 2, 3), rng.normal(size=(3, 4)), 9 * np.eye(4))
    curvature = ClassCurvature.of(sums, n_touchable=3)
    step = curvature.inverse(np.full(3, 0.5))(rng.normal(size=(3, 4)))
    image = curvature.times(step) + (0.5 + curvature.floor) * step
    again = curvature.inverse(np.full(3, 0.5))(image)
    np.testing.assert_allclose(again, step)


def test_the_basis_leaves_the_intercept_alone():
    rng = np.random.default_rng(2)
    rows = np.column_stack([rng.normal(size=(50, 3)), np.ones(50)])
    sums = CurvatureSums(np.ones(2), rng.normal(size=(2, 4)), rows.T @ rows)
    basis = ClassCurvature.of(sums, n_touchable=3).basis
    np.testing.assert_array_equal(basis[3], [0, 0, 0, 1])
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
