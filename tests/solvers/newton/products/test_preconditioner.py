"""The preconditioner inverts what it says it stands for."""

import numpy as np

from wdrsvm.solvers.newton.products.design import CurvatureSums
from wdrsvm.solvers.newton.products.preconditioner import Preconditioner


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
    apply = Preconditioner.of(CurvatureSums(mass, first, second), stiffness)
    gradient = rng.normal(size=(3, 4))
    found = apply(gradient)
    for c in range(3):
        curvature = mass[c] * (spread + np.outer(means[c], means[c]))
        curvature += stiffness[c] * np.eye(4)
        np.testing.assert_allclose(curvature @ found[c], gradient[c], rtol=1e-5, atol=1e-6)
