r"""Dual bounds in a bounded ball: lower bounds of the optimum from an adversary's plan.

The plan gives the mass pi_kn of row n to the pair k = (winner j, label c), and moves it to
x_kn in the box, at a cost.  If sum_k pi_kn <= w_n for every row, if

    sum over k, n of pi_kn (e_j - e_c) (x_kn, 1)' = 0

and if moves, switches and labels together cost no more than the radius, then sum pi is a
lower bound: on this plan, every classifier has at least this loss.  A smooth loss adds the
entropy of the winners of each label.  The cost of moving is
computed as the norm of the total movement of each pair.  For l1 transport this is the cost
of the plan.  For other norms it gives a bound of the shared risk (``worst_case.py``).

An approximate plan is made feasible in three steps: shares of the room are clipped to
[0, 1], the masses are tilted until the equation holds (``certificate/tilts.py``), and all
masses are scaled into the budget.  All steps need only sums over the rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..problem import RobustProblem
from .balance import Balance
from .masses import SplitMasses, Switch
from .plan_sums import PairPlan


def bounded_dual_bound(problem: RobustProblem, plan: PairPlan) -> float:
    """A lower bound of the optimum; 0, which is always valid, if none better is found."""
    balance, found = Balance(problem, plan), []
    for attempt in _attempts(balance):
        found.append(attempt.bound())
        if not balance.is_poor(found[-1]):
            break
    if found == [None] * len(found):
        found.append(Balance(problem, plan, loosened=True).bound())
    return max(0.0 if bound is None else bound for bound in found)


def _attempts(balance: Balance) -> Iterator[Balance]:
    """Ways to balance a plan, the cheapest first."""
    rebalanced = balance.rebalanced()
    yield rebalanced
    settled = rebalanced.settled()
    if settled is not None:
        yield settled
    yield balance
    if balance.plan.switched:
        yield Balance(balance.problem, _split(balance))


def _split(balance: Balance) -> PairPlan:
    """The same plan with one pair for each category that a pair switches to.

    A tilt changes the masses of these pairs one by one.  Thus it also balances categories
    whose own rows hold hardly any mass, beside masses that are switched into them.
    """
    plan, groups, n_pairs = balance.plan, balance.groups, len(balance.plan.winner)
    switches, group_of = [], []
    for g, (group, share) in enumerate(zip(groups, balance.switch_shares, strict=True)):
        for k, to in np.argwhere(share.any(axis=1)).tolist():
            switches.append(Switch(k, group, to, share[k, :, to]))
            group_of.append(g)
    pair = np.append(np.arange(n_pairs), [switch.pair for switch in switches]).astype(int)
    mass = SplitMasses(balance.start, switches)
    moments = balance.totals(mass, np.asarray(plan.label)[pair]).moments
    switched = [np.zeros((len(pair), len(g.columns), len(g.columns))) for g in groups]
    numbered = enumerate(zip(switches, group_of, strict=True), start=n_pairs)
    for number, (switch, g) in numbered:
        switched[g][number, :, switch.to] = moments[number, switch.group.columns]
    shares = balance.shares[pair]
    moved = balance.movement(shares, moments)
    moved[:n_pairs] += balance.endless
    return PairPlan(plan.winner[pair], plan.label[pair], mass, moved, switched)
