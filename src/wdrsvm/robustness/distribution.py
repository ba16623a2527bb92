"""The worst-case distribution: what the adversary does with its budget, as data.

The knapsack behind the worst-case risk flips whole rows, best gain per cost first, and at
most one in part.  What is left of the budget moves a mass q -> 0 of one row ever farther:
with L(M) = ||(M_i - M_j) / cost||_* attained at (i, j) and delta the steepest direction,
mass q of label j moved by (left / q) delta gains left L(M) - O(q).  The supremum is
therefore approached and generally not attained.

In a bounded ball two plans, each of which moves and relabels rows inside the box, are mixed
so that they spend the budget; only features without an end leave something to a tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..problem import NORMS, WassersteinBall
from ..problem.norms import pairwise_moduli
from ..problem.objective import Codes, Floats, Matrix
from ._frames import feature_names, imported_pandas
from .directions import steepest_direction
from .worst_case import Judged, judged_classifier

KINDS = np.array(["kept", "flipped", "moved"])
KEPT, FLIPPED, MOVED = range(3)

# Pairs of classes whose slopes differ by no more than this are equally steep.
TIE = 1e-12


@dataclass(frozen=True, eq=False)
class WorstCaseDistribution:
    """A distribution in the ball whose expected loss approaches the worst-case risk.

    Attributes
    ----------
    X : {ndarray, sparse array} of shape (n_atoms, n_features)
        Features of the atoms.
    y : ndarray of shape (n_atoms,)
        Labels of the atoms.
    weight : ndarray of shape (n_atoms,)
        Probabilities.  Summed by ``source`` they are the nominal weights.
    source : ndarray of shape (n_atoms,)
        Row of the data from which the atom's mass comes.
    kind : ndarray of shape (n_atoms,)
        ``"kept"``, ``"flipped"`` (another label) or ``"moved"`` (other features, and
        another label where no row had the label that moving needs).
    transport_cost : float
        Cost of this distribution, recomputed from the definition.
    risk : float
        Its expected loss, recomputed from the definition.
    supremum : float
        The worst-case risk, which ``risk`` approaches as the tail mass shrinks.
    feature_names : ndarray of shape (n_features,)
        Names for :meth:`to_frame`.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import RobustLinearSVC
    >>> X, y = np.array([[-1.0], [-2.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
    >>> classifier = RobustLinearSVC(radius=0.4, label_cost=1.5).fit(X, y)
    >>> worst = classifier.worst_case_distribution(X, y)
    >>> print(f"{worst.transport_cost:.3f} {worst.risk:.3f} {worst.supremum:.3f}")
    0.400 0.783 0.783
    """

    X: Any
    y: NDArray[np.generic]
    weight: Floats
    source: Codes
    kind: NDArray[np.str_]
    transport_cost: float
    risk: float
    supremum: float
    feature_names: NDArray[np.generic]

    def to_frame(self) -> Any:
        """One atom a row: source, kind, weight, label, then the features.

        Returns
        -------
        pandas.DataFrame
            The table.

        Examples
        --------
        >>> import numpy as np
        >>> from wdrsvm import RobustLinearSVC
        >>> X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
        >>> classifier = RobustLinearSVC(radius=0.1).fit(X, y)
        >>> classifier.worst_case_distribution(X, y).to_frame().columns.tolist()
        ['source', 'kind', 'weight', 'label', 'x0']
        """
        pandas = imported_pandas("to_frame")
        dense = self.X.toarray() if sparse.issparse(self.X) else self.X
        about = {
            "source": self.source,
            "kind": self.kind,
            "weight": self.weight,
            "label": self.y,
        }
        features = pandas.DataFrame(dense, columns=self.feature_names)
        return pandas.concat([pandas.DataFrame(about), features], axis=1)


def worst_case_distribution(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    *,
    tail_mass: float = 1e-4,
    loss: str = "crammer-singer",
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
) -> WorstCaseDistribution:
    """A distribution in the ball that is nearly as bad as any, as weighted rows.

    It shows which labels the adversary would change first, and where moving features
    hurts most.

    Parameters
    ----------
    classifier : object
        A fitted linear classifier with ``coef_``, ``intercept_`` and ``classes_``,
        such as scikit-learn's, or a pipeline that ends in one.  The atoms of a pipeline
        lie in the space of its last step.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels, each one of ``classifier.classes_``.
    ball : WassersteinBall
        What the adversary may do.
    tail_mass : float, default=1e-4
        Mass that moves.  The smaller it is, the farther it moves, and the closer the
        expected loss comes to the worst-case risk.
    loss : {"crammer-singer", "logistic"}, default="crammer-singer"
        Loss whose expectation is taken.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows, normalised to sum to 1.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row; ``inf`` marks a verified label.

    Returns
    -------
    WorstCaseDistribution
        The atoms, their transport cost and their expected loss.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import WassersteinBall, worst_case_distribution
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> ball = WassersteinBall(0.1, label_cost=2.0)
    >>> worst = worst_case_distribution(classifier, X, y, ball)
    >>> print(f"{worst.risk:.3f} {worst.supremum:.3f} {worst.transport_cost:.3f}")
    1.083 1.083 0.100
    >>> sorted(set(worst.kind.tolist()))
    ['flipped', 'kept']
    """
    judged = judged_classifier(classifier, X, y, ball, loss, sample_weight, label_trust)
    plan = _planned if judged.problem.is_bounded else _relabelled
    atoms, left = plan(judged)
    if left > 0:
        atoms = _with_tail(judged, atoms, left, _checked_mass(tail_mass))
    names = feature_names(classifier, judged.problem.n_features)
    return _described(judged, atoms.only(atoms.weight > 0), names)


def _checked_mass(tail_mass: Any) -> float:
    if not isinstance(tail_mass, (float, int, np.floating)) or not 0 < tail_mass <= 1:
        raise ValueError(f"tail_mass must be a number in (0, 1], got {tail_mass!r}.")
    return float(tail_mass)


class Atoms(NamedTuple):
    """Where each atom's mass comes from, where it lies, its label code and weight."""

    source: Codes
    X: Matrix
    label: Codes
    weight: Floats

    def only(self, kept: NDArray[np.bool_]) -> Atoms:
        return Atoms(self.source[kept], self.X[kept], self.label[kept], self.weight[kept])

    def split(self, atom: int, label: int, mass: float, step: Floats) -> Atoms:
        """Take ``mass`` off an atom, give it a label and move it by ``step``."""
        weight = np.append(self.weight, mass)
        weight[atom] = max(weight[atom] - mass, 0.0)
        return Atoms(
            np.append(self.source, self.source[atom]),
            _stacked(self.X, self.X[[atom]] + _like(self.X, step[None, :])),
            np.append(self.label, label),
            weight,
        )


def _stacked(first: Matrix, second: Matrix) -> Matrix:
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([first, second])


def _like(X: Matrix, rows: Floats) -> Matrix:
    return sparse.csr_array(rows) if sparse.issparse(X) else rows


def _planned(judged: Judged) -> tuple[Atoms, float]:
    """What a bounded ball's worst plans do with the rows, and what is left to spend."""
    problem, (coef, intercept, _) = judged.problem, judged.scores
    moves = problem.moves
    worst = moves.worst_plans(coef, intercept)
    rows = np.arange(problem.n_rows)
    parts: list[Atoms] = []
    for plan, share in zip(worst.plans, worst.share, strict=True):
        places = moves.rows.copy()
        for j, c in np.argwhere(~np.eye(problem.n_classes, dtype=bool)):
            active = (plan.winner == j) & (plan.label == c)
            if active.any():
                places[active] = moves.moved(coef[j] - coef[c], plan.lam)[0][active]
        parts.append(Atoms(rows, places, plan.label, share * problem.weight))
    atoms = _merged(*parts) if len(parts) == 2 else parts[0]
    return atoms._replace(X=_like(problem.X, atoms.X)), worst.left


def _merged(first: Atoms, second: Atoms) -> Atoms:
    """Two plans for the same rows as one; where they agree, one atom has the mass."""
    same = (first.label == second.label) & (first.X == second.X).all(axis=1)
    added = np.where(same, second.weight, 0.0)
    return Atoms(
        np.concatenate([first.source, second.source]),
        np.vstack([first.X, second.X]),
        np.concatenate([first.label, second.label]),
        np.concatenate([first.weight + added, second.weight - added]),
    )


def _relabelled(judged: Judged) -> tuple[Atoms, float]:
    """The flips that the budget buys, and what is left of it."""
    problem, scores = judged.problem, judged.scores
    choices = problem.flip_choices(scores.coef, scores.intercept)
    bought = problem.spend(choices.flips, scores.coef)
    row, new_label = choices.flips.row[bought.flips], choices.flips.label[bought.flips]
    whole = bought.share == 1
    label = choices.label.copy()
    # A row's later flips follow its earlier ones, and the last assignment counts.
    label[row[whole]] = new_label[whole]
    atoms = Atoms(np.arange(problem.n_rows), problem.X, label, problem.weight)
    for last in np.flatnonzero(~whole):
        mass = bought.share[last] * problem.weight[row[last]]
        still = np.zeros(problem.n_features)
        atoms = atoms.split(row[last], new_label[last], mass, still)
    return atoms, bought.left


class Tail(NamedTuple):
    """An atom to move along the slope of ``winner`` over ``label``, which it is given.

    ``merit`` is what it adds per unit of mass, beyond what its budget would.
    """

    merit: float
    atom: int
    winner: int
    label: int


def _escape(judged: Judged) -> tuple[Floats, Callable[[Floats], Floats], Floats]:
    """Rates (C, C) at which moving without end pays, the slopes that count, their costs."""
    problem, coef = judged.problem, judged.scores.coef
    if problem.is_bounded:
        moves = problem.moves
        return moves.escape_rates(coef), moves.escape_slope, moves.cost
    rates = pairwise_moduli(coef, problem.ball.norm, problem.feature_cost)
    return rates, lambda slope: slope, problem.feature_cost


def _with_tail(judged: Judged, atoms: Atoms, left: float, tail_mass: float) -> Atoms:
    """Move a small mass of the best atom by all that is left of the budget."""
    coef = judged.scores.coef
    rates, escaping, feature_cost = _escape(judged)
    best = _best_tail(judged, atoms, rates)
    if best is None:
        return atoms
    cost = _label_cost(judged, atoms.source[[best.atom]])[0]
    extra = cost[best.label] - cost[atoms.label[best.atom]]
    mass = min(tail_mass, atoms.weight[best.atom])
    if extra > 0:
        # Giving the label must leave nearly all of the budget for moving.
        mass = min(mass, tail_mass * left / extra)
    slope = escaping(coef[best.winner] - coef[best.label])
    direction = steepest_direction(slope, judged.problem.ball.norm, feature_cost)
    return atoms.split(best.atom, best.label, mass, (left / mass - extra) * direction)


def _best_tail(judged: Judged, atoms: Atoms, rates: Floats) -> Tail | None:
    """The atom and the label under which moving comes closest to the supremum."""
    problem, (coef, intercept, _) = judged.problem, judged.scores
    steepest = float(rates[:, problem.reachable].max(initial=0.0))
    if steepest == 0:
        return None
    scores = np.asarray(atoms.X @ coef.T + intercept)
    n = np.arange(len(scores))
    losses = problem.loss.of_labels(scores)[n, atoms.label]
    cost = _label_cost(judged, atoms.source)
    tails = []
    for winner, label in np.argwhere(rates >= steepest * (1 - TIE)):
        extra = cost[:, label] - cost[n, atoms.label]
        gain = scores[:, winner] - scores[:, label] + problem.loss.margin - losses
        possible = np.isfinite(extra) & (atoms.weight > 0)
        merit = np.where(possible, gain - steepest * extra, -np.inf)
        atom = int(merit.argmax())
        tails.append(Tail(float(merit[atom]), atom, int(winner), int(label)))
    return max(tails)


def _label_cost(judged: Judged, source: Codes) -> Floats:
    """Cost of giving each of some rows each label; its own costs nothing."""
    cost = judged.problem.flip_cost()[source]
    cost[np.arange(len(source)), judged.problem.y[source]] = 0.0
    return np.asarray(cost)


def _described(
    judged: Judged, atoms: Atoms, names: NDArray[np.generic]
) -> WorstCaseDistribution:
    """The atoms as data, judged by the definitions alone; sorted by source."""
    problem, (coef, intercept, classes) = judged.problem, judged.scores
    n = np.arange(len(atoms.source))
    losses = problem.loss.of_labels(np.asarray(atoms.X @ coef.T + intercept))
    distance = _distances(judged, atoms)
    kind = np.where(atoms.label == problem.y[atoms.source], KEPT, FLIPPED)
    kind[distance > 0] = MOVED
    cost = distance + _label_cost(judged, atoms.source)[n, atoms.label]
    order = np.lexsort((kind, atoms.source))
    return WorstCaseDistribution(
        X=atoms.X[order],
        y=classes[atoms.label[order]],
        weight=atoms.weight[order],
        source=atoms.source[order],
        kind=KINDS[kind[order]],
        transport_cost=float(atoms.weight @ cost),
        risk=float(atoms.weight @ losses[n, atoms.label]),
        supremum=problem.risk(coef, intercept).value,
        feature_names=names,
    )


def _distances(judged: Judged, atoms: Atoms) -> Floats:
    """What moving each atom from its source costs, switches of categories included."""
    problem = judged.problem
    moved = atoms.X - problem.X[atoms.source]
    distance = np.zeros(len(atoms.source))
    travelled = np.flatnonzero(np.asarray(abs(moved).sum(axis=1)).ravel())
    step = moved[travelled]
    step = step.toarray() if sparse.issparse(step) else step
    numeric = (step != 0).any(axis=0)
    for group in problem.ball.groups(problem.n_features):
        switched = (step[:, group.columns] != 0).any(axis=1)
        distance[travelled[switched]] += group.cost
        numeric[group.columns] = False
    cost = problem.feature_cost[numeric]
    distance[travelled] += NORMS[problem.ball.norm].of_rows(step[:, numeric] * cost)
    return distance
