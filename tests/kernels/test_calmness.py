"""Radii of features contain radii of inputs."""

import numpy as np
import pytest

from wdrsvm.kernels import kernel_of, lifted_radius

CALM = [
    kernel_of("linear"),
    kernel_of("rbf", gamma=0.05),
    kernel_of("rbf", gamma=3.0),
    kernel_of("laplacian", gamma=0.4),
    kernel_of("laplacian", gamma=5.0),
    kernel_of("poly", gamma=4.0, degree=1),
]


@pytest.mark.parametrize("kernel", CALM)
def test_features_move_no_farther_than_promised(kernel):
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = rng.normal(size=(1, 4))
        step = rng.normal(size=(1, 4)) * (rng.random(4) < 0.5)
        step *= 10 ** rng.uniform(-4, 1) / max(np.linalg.norm(step), 1e-12)
        moved = x + step
        square = kernel(x, x) + kernel(moved, moved) - 2 * kernel(x, moved)
        apart = np.sqrt(max(float(square[0, 0]), 0.0))
        assert apart <= lifted_radius(float(np.linalg.norm(step)), kernel, 4) + 1e-6


@pytest.mark.parametrize("kernel", CALM)
def test_the_modulus_is_concave_and_at_least_the_identity(kernel):
    t = np.linspace(0, 5, 201)
    f = np.array([lifted_radius(value, kernel, 4) for value in t])
    assert (f >= t - 1e-12).all()
    assert (np.diff(f, 2) <= 1e-12).all()


def test_the_laplacian_bound_is_attained():
    """Equal steps along all axes are the worst for the l1 norm inside it."""
    kernel = kernel_of("laplacian", gamma=0.4)
    step = np.full((1, 4), 1e-6)
    apart = np.sqrt(2 - 2 * kernel(np.zeros((1, 4)), step)[0, 0])
    promised = lifted_radius(float(np.linalg.norm(step)), kernel, 4)
    assert apart == pytest.approx(promised, rel=1e-4)


@pytest.mark.parametrize(
    ("kernel", "described"),
    [
        (kernel_of("poly", gamma=1.0, degree=3), "'poly' of degree 3"),
        (kernel_of("precomputed"), "'precomputed'"),
        (kernel_of(lambda a, b: a @ b.T), "a callable"),
    ],
)
def test_other_kernels_are_refused(kernel, described):
    with pytest.raises(ValueError, match=f"kernel must be calm .* got {described}"):
        lifted_radius(0.1, kernel, 4)


def test_a_bad_radius():
    with pytest.raises(ValueError, match="radius must be a number >= 0, got -1"):
        lifted_radius(-1, kernel_of("linear"), 4)
