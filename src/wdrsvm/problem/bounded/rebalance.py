r"""Movement and switches of a plan, corrected so that the plan's equation nearly holds.

Multipliers of a solver miss the equation of a plan a little.  Tilts of the masses remove
the error, but leave a part of the budget unspent, which the bound then lacks.  Movement and
switches that the plan has anyway remove it at no such loss.  With potentials S (C, P) the
smallest change, relative to what the plan has, is

    moved_kd     changes by  |moved_kd|      (S_jd - S_cd)
    switched_ft  changes by  switched_ft  ((S_jt - S_ct) - (S_jf - S_cf))

for the pair k = (j, c), and S solves a linear system for each feature and each group of
categories.

If a plan has too little movement for that, the error that is left is spread over all pairs
with room: |moved_kd| and switched_ft give way to the harmonic mean of the room on both
sides, so that a small change stays within the room.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Codes, Floats

# Singular directions of a system are those below this share of its largest one.
RANK_ROUNDING = 1e-12
# Room without an end counts as this much.
ENDLESS_ROOM = 1.0


def rebalanced_moves(
    winner: Codes, label: Codes, moved: Floats, residual: Floats
) -> Floats:
    """Movement (K, P) whose change removes the residual (C, P) as far as it can."""
    change = _removing_moves(winner, label, np.abs(moved), residual)
    # Movement may shrink to nothing, but it does not turn back.
    return moved + np.clip(change, -np.abs(moved), np.abs(moved))


def spread_moves(
    winner: Codes,
    label: Codes,
    moved: Floats,
    rooms: tuple[Floats, Floats],
    residual: Floats,
) -> Floats:
    """The same, by changes of all movement that has room (K, P) up and down."""
    up, down = rooms
    room = _room_both_ways(np.maximum(up - moved, 0.0), np.maximum(down + moved, 0.0))
    changed = moved + _removing_moves(winner, label, room, residual)
    return np.asarray(np.clip(changed, -down, up))


def _removing_moves(winner: Codes, label: Codes, ways: Floats, residual: Floats) -> Floats:
    """The change (K, P) that removes the residual, smallest relative to ``ways``."""
    pairs = _pair_signs(winner, label, len(residual))
    change = np.zeros_like(ways)
    for d in np.flatnonzero(residual.any(axis=0)):
        scaled = pairs * ways[:, d, None]
        change[:, d] = scaled @ _solved(pairs.T @ scaled, -residual[:, d])
    return change


def rebalanced_switches(
    winner: Codes, label: Codes, switched: Floats, residual: Floats
) -> Floats:
    """Switches (K, from, to) of a group whose change removes the residual (C, size)."""
    mass = np.maximum(switched, 0.0)
    along = _switch_potential(winner, label, mass + mass.transpose(0, 2, 1), residual)
    return np.maximum(mass + mass * along, 0.0)


def spread_switches(
    winner: Codes, label: Codes, switched: Floats, held: Floats, residual: Floats
) -> Floats:
    """The same, by changes of all switches; ``held`` (K, size) is the categories' mass."""
    staying = np.maximum(held - switched.sum(axis=2), 0.0)
    # Mass goes from f to t if it is switched, or if it is not switched back.
    room = staying[:, :, None] + switched.transpose(0, 2, 1)
    ways = _room_both_ways(room, room.transpose(0, 2, 1))
    along = _switch_potential(winner, label, ways, residual)
    more = np.maximum(ways * along, 0.0)
    not_back = np.minimum(more, switched.transpose(0, 2, 1))
    return np.asarray(switched + more - not_back - not_back.transpose(0, 2, 1))


def _switch_potential(
    winner: Codes, label: Codes, both_ways: Floats, residual: Floats
) -> Floats:
    """(S_jt - S_ct) - (S_jf - S_cf) of all pairs and ways, (K, from, to)."""
    n_classes, size = residual.shape
    pairs = _pair_signs(winner, label, n_classes)
    # The potential's system sums outer products of all pairs and ways: e_to - e_from.
    between = np.einsum("ki,kj,kab->iajb", pairs, pairs, both_ways, optimize=True)
    each = np.arange(size)
    system = -between
    system[:, each, :, each] += between.sum(axis=3).transpose(1, 0, 2)
    potential = _solved(system.reshape(n_classes * size, -1), -residual.ravel())
    of_pair = pairs @ potential.reshape(n_classes, size)
    return np.asarray(of_pair[:, None, :] - of_pair[:, :, None])


def _room_both_ways(one: Floats, other: Floats) -> Floats:
    """Half of the harmonic mean: 0 if there is no room on one side."""
    one, other = np.minimum(one, ENDLESS_ROOM), np.minimum(other, ENDLESS_ROOM)
    total = one + other
    return np.divide(one * other, total, out=np.zeros_like(total), where=total > 0)


def _pair_signs(winner: Codes, label: Codes, n_classes: int) -> Floats:
    """(K, C): 1 for the winner of a pair, -1 for its label, 0 if they are the same."""
    unit = np.eye(n_classes)
    return np.asarray(unit[winner] - unit[label])


def _solved(system: Floats, rhs: Floats) -> Floats:
    """The shortest solution of a system, which is singular: potentials may be shifted."""
    return np.asarray(np.linalg.lstsq(system, rhs, rcond=RANK_ROUNDING)[0])
