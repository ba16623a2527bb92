"""The memory of steps."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.quasi_newton import Memory
from wdrsvm.solvers.newton.products.settings import PRODUCTS


class Diagonal:
    """The inverse of a curvature that is a diagonal."""

    def __init__(self, entries=1.0):
        self.entries = entries

    def __call__(self, gradient):
        return self.entries * gradient

    def with_square(self, gradient, other):
        return self(gradient), np.vdot(other, self(other))


def test_it_finds_the_minimum_of_a_parabola_from_as_many_steps_as_unknowns():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    curvature = root @ root.T + np.eye(3)
    memory = Memory()
    for step in np.linalg.eigh(curvature)[1].T:
        memory.add(step, curvature @ step)
    gradient = rng.normal(size=3)
    found = memory.direction(gradient, Diagonal())
    np.testing.assert_allclose(curvature @ found, -gradient, atol=1e-10)


def test_only_the_last_steps_are_remembered():
    """A long memory that has forgotten its first steps is a short one."""
    rng, short = np.random.default_rng(0), Memory()
    size, long = PRODUCTS.memory + 5, Memory()
    steps = rng.normal(size=(size, 40))
    changes = steps * rng.uniform(1, 2, 40)
    for k in range(size):
        long.add(steps[k], changes[k])
        if k >= size - PRODUCTS.memory:
            short.add(steps[k], changes[k])
    gradient = rng.normal(size=40)
    found = [memory.direction(gradient, Diagonal()) for memory in (long, short)]
    np.testing.assert_allclose(*found, rtol=1e-10)


def test_steps_without_curvature_are_not_remembered():
    memory = Memory()
    memory.add(np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    memory.add(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert not memory.order
    memory.add(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    memory.forget()
    gradient = np.array([1.0, 2.0])
    np.testing.assert_array_equal(memory.direction(gradient, Diagonal()), -gradient)


@pytest.mark.parametrize("factor", [1.0, 0.1])
def test_the_preconditioner_is_scaled_as_the_last_step_shows(factor):
    """A step that saw the curvature of all columns makes a wrong scale right."""
    rng, curvature = np.random.default_rng(0), np.array([1.0, 4.0, 9.0])
    step, gradient = rng.normal(size=(2, 3))
    memory = Memory()
    memory.add(step, curvature * step)
    found = memory.direction(gradient, Diagonal(1 / (factor * curvature)))
    np.testing.assert_allclose(found, -gradient / curvature, rtol=1e-12)


def test_the_last_step_does_not_lengthen_others_by_much():
    rng, memory = np.random.default_rng(0), Memory()
    step, gradient = rng.normal(size=(2, 3))
    memory.add(step, step)
    gradient -= np.vdot(gradient, step) / np.vdot(step, step) * step
    found = memory.direction(gradient, Diagonal(0.01))
    across = found - np.vdot(found, step) / np.vdot(step, step) * step
    np.testing.assert_allclose(across, -0.01 * PRODUCTS.max_stretch * gradient)
