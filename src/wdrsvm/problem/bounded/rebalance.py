r"""Movement and switches of a plan, corrected so that the plan's equation nearly holds.

Multipliers of a solver miss the equation of a plan a little.  Tilts of the masses remove
the error, but leave a part of the budget unspent, which the bound then lacks.  Movement and
switches that the plan has anyway remove it at no such loss.  With potentials S (C, P) the
smallest change, relative to what the plan has, is

    moved_kd     changes by  |moved_kd|      (S_jd - S_cd)
    switched_ft  changes by  switched_ft  ((S_jt - S_ct) - (S_jf - S_cf))

for the pair k = (j, c), and S solves a linear system for each feature and each group of
categories.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Codes, Floats

# Singular directions of a system are those below this share of its largest one.
RANK_ROUNDING = 1e-12


def rebalanced_moves(
    winner: Codes, label: Codes, moved: Floats, residual: Floats
) -> Floats:
    """Movement (K, P) whose change removes the residual (C, P) as far as it can."""
    pairs = _pair_signs(winner, label, len(residual))
    changed = moved.copy()
    for d in np.flatnonzero(residual.any(axis=0)):
        scaled = pairs * np.abs(moved[:, d])[:, None]
        potential = _solved(pairs.T @ scaled, -residual[:, d])
        change = scaled @ potential
        # Movement may shrink to nothing, but it does not turn back.
        changed[:, d] += np.clip(change, -np.abs(moved[:, d]), np.abs(moved[:, d]))
    return changed


def rebalanced_switches(
    winner: Codes, label: Codes, switched: Floats, residual: Floats
) -> Floats:
    """Switches (K, from, to) of a group whose change removes the residual (C, size)."""
    n_classes, size = residual.shape
    pairs = _pair_signs(winner, label, n_classes)
    mass = np.maximum(switched, 0.0)
    both_ways = mass + mass.transpose(0, 2, 1)
    # The potential's system sums outer products of all pairs and ways: e_to - e_from.
    between = np.einsum("ki,kj,kab->iajb", pairs, pairs, both_ways, optimize=True)
    each = np.arange(size)
    system = -between
    system[:, each, :, each] += between.sum(axis=3).transpose(1, 0, 2)
    potential = _solved(system.reshape(n_classes * size, -1), -residual.ravel())
    of_pair = pairs @ potential.reshape(n_classes, size)
    change = mass * (of_pair[:, None, :] - of_pair[:, :, None])
    return np.maximum(mass + change, 0.0)


def _pair_signs(winner: Codes, label: Codes, n_classes: int) -> Floats:
    """(K, C): 1 for the winner of a pair, -1 for its label, 0 if they are the same."""
    unit = np.eye(n_classes)
    return np.asarray(unit[winner] - unit[label])


def _solved(system: Floats, rhs: Floats) -> Floats:
    """The shortest solution of a system, which is singular: potentials may be shifted."""
    return np.asarray(np.linalg.lstsq(system, rhs, rcond=RANK_ROUNDING)[0])
