"""Forces between classes against the same in NumPy."""

import numpy as np
import pytest

from wdrsvm.solvers.newton import kernels

pytestmark = pytest.mark.tiny


def drawn(seed=0, n_classes=5):
    """Symmetric tables without a diagonal: forces, some of them zero, and lengths."""
    rng = np.random.default_rng(seed)
    tables = np.triu(rng.uniform(0.5, 1.5, (2, n_classes, n_classes)), 1)
    tables[0, 0, 1] = tables[1, 0, 2] = 0.0
    return tables + tables.transpose(0, 2, 1)


def test_pulls_of_pairs_with_a_length():
    forces, lengths = drawn()
    found = np.empty_like(forces)
    kernels.fill_pulls(forces, lengths, found)
    pulls = 2 * forces / np.where(lengths > 0, lengths, np.inf)
    np.testing.assert_allclose(found, np.diag(pulls.sum(axis=1)) - pulls, atol=1e-14)


def test_paces_count_the_pairs_that_have_a_force_or_are_long():
    forces, lengths = drawn()
    forces[0] = forces[:, 0] = 0.0
    compliance = np.random.default_rng(1).uniform(1, 2, forces.shape)
    paces, level = np.empty_like(forces), 1.2
    kernels.fill_paces(forces, lengths, compliance, level, 3.0, paces)
    active = (forces > 0) | (lengths > level)
    moved = compliance * ((1 + active.sum(axis=1)) / 2)[:, None]
    np.testing.assert_allclose(paces, 1.5 / (moved + moved.T))


@pytest.mark.parametrize("margin", [0.0, 0.05, 10.0])
@pytest.mark.parametrize("level", [0.3, 1.0, 1.4])
@pytest.mark.parametrize("size", [0.05, 1.0])
def test_raised_forces_keep_their_total_at_one_level(margin, level, size):
    """The margin only says which pairs are looked at first."""
    forces, lengths = drawn()
    forces *= size
    paces = 0.7 + 0.1 * lengths
    raised = np.empty_like(forces)
    kernels.raise_forces(forces, paces, lengths, level, margin, 30, raised)
    assert raised.sum() == pytest.approx(forces.sum(), rel=1e-12)
    assert (raised >= 0).all()
    assert not raised.diagonal().any()
    levels = lengths - (raised - forces) / paces
    held = raised > 0
    assert np.ptp(levels[held]) < 1e-12
    others = ~held & ~np.eye(len(forces), dtype=bool)
    assert (lengths + forces / paces)[others].max(initial=0) <= levels[held].mean()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("overshot", [-0.5, 0.5])
def test_forces_ahead_of_the_raised_ones(seed, overshot):
    forces, raised = drawn(seed)
    tried, paces = raised + overshot * (raised - forces), 1 + drawn(seed + 20)[1]
    ahead, number = np.empty_like(forces), 4.0
    found = kernels.move_on(forces, tried, raised, paces, number, ahead)
    number = 1.0 if overshot > 0 else number  # Momentum that leads astray is forgotten.
    grown = (1 + np.sqrt(1 + 4 * number**2)) / 2
    expected = np.maximum(raised + (number - 1) / grown * (raised - forces), 0.0)
    expected *= raised.sum() / expected.sum()
    assert found == pytest.approx(grown)
    np.testing.assert_allclose(ahead, expected, rtol=1e-12)


def test_no_force_at_all_is_told():
    none, some = np.zeros((2, 2)), np.ones((2, 2))
    assert kernels.move_on(none, none, none, some, 1.0, none.copy()) == 0
