"""The memory of steps."""

import numpy as np

from wdrsvm.solvers.newton.products.quasi_newton import Memory


def test_it_finds_the_minimum_of_a_parabola_from_as_many_steps_as_unknowns():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    curvature = root @ root.T + np.eye(3)
    memory = Memory()
    for step in np.linalg.eigh(curvature)[1].T:
        memory.add(step, curvature @ step)
    gradient = rng.normal(size=3)
    found = memory.direction(gradient, lambda vector: vector.copy())
    np.testing.assert_allclose(curvature @ found, -gradient, atol=1e-10)


def test_steps_without_curvature_are_not_remembered():
    memory = Memory()
    memory.add(np.array([1.0, 0.0]), np.array([-1.0, 0.0]))
    memory.add(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert not memory.steps
    memory.add(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    memory.forget()
    gradient = np.array([1.0, 2.0])
    np.testing.assert_array_equal(memory.direction(gradient, np.copy), -gradient)
