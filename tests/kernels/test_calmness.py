"""Radii of features contain radii of inputs."""

import numpy as np
import pytest

from wdrsvm.kernels import input_distance, kernel_of, lifted_radius

from ..robustness.cases import ORDER

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


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
def test_input_distance_inverts_the_distance_of_features(kernel):
    rng = np.random.default_rng(2)
    function = kernel_of(kernel, gamma=0.7, degree=1)
    left, right = rng.normal(size=(2, 40, 3))
    own = "l1" if kernel == "laplacian" else "l2"
    square = function.diagonal(left) + function.diagonal(right)
    square = square - 2 * np.diag(function(left, right))
    for norm in ("l1", "l2", "linf"):
        moved = np.linalg.norm(left - right, ORDER[norm], axis=1)
        bound = input_distance(np.sqrt(square), function, 3, norm)
        assert (bound <= moved * (1 + 1e-9)).all()
        if norm == own:
            np.testing.assert_allclose(bound, moved)
    # All features moved alike: what attains the bound under linf.
    alike, nowhere = np.full((1, 3), 0.1), np.zeros((1, 3))
    square = function.diagonal(alike) + function.diagonal(nowhere)
    square = square - 2 * function(alike, nowhere)[0]
    bound = input_distance(np.sqrt(square), function, 3, "linf")
    np.testing.assert_allclose(bound, 0.1)
