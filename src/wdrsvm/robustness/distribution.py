"""The worst-case distribution: what the adversary does with its budget, as data.

The knapsack behind the worst-case risk flips whole rows, best gain per cost first, and at
most one in part.  What is left of the budget moves a mass q -> 0 of one row ever farther:
with L(M) = ||(M_i - M_j) / cost||_* attained at (i, j) and delta the steepest direction,
mass q of label j moved by (left / q) delta gains left L(M) - O(q).  The supremum is
therefore approached and generally not attained.
"""

from __future__ import annotations

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
    atoms, left = _relabelled(judged)
    if left > 0:
        atoms = _with_tail(judged, atoms, left, _checked_mass(tail_mass))
    names = feature_names(classifier, judged.problem.n_features)
    return _described(judged, atoms.only(atoms.weight > 0), names)


def _checked_mass(tail_mass: Any) -> float:
    if not isinstance(tail_mass, (float, int, np.floating)) or not 0 < tail_mass <= 1:
        raise ValueError(f"tail_mass must be a number in (0, 1], got {tail_mass!r}.")
    return float(tail_mass)


class Atoms(NamedTuple):
    """Where each atom's mass comes from, its label code and weight.

    The last ``len(moved_by)`` atoms are moved, each by one row of ``moved_by``.
    """

    source: Codes
    label: Codes
    weight: Floats
    moved_by: Floats

    def only(self, kept: NDArray[np.bool_]) -> Atoms:
        n_moved = len(self.moved_by)
        moved_by = self.moved_by[kept[len(kept) - n_moved :]]
        return Atoms(self.source[kept], self.label[kept], self.weight[kept], moved_by)

    def split(self, atom: int, label: int, mass: float, moved_by: Floats) -> Atoms:
        """Take ``mass`` off an atom and give it a label and a movement (0 or 1 rows)."""
        weight = np.append(self.weight, mass)
        weight[atom] = max(weight[atom] - mass, 0.0)
        return Atoms(
            np.append(self.source, self.source[atom]),
            np.append(self.label, label),
            weight,
            moved_by,
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
    nowhere = np.empty((0, problem.n_features))
    atoms = Atoms(np.arange(problem.n_rows), label, problem.weight, nowhere)
    for last in np.flatnonzero(~whole):
        mass = bought.share[last] * problem.weight[row[last]]
        atoms = atoms.split(row[last], new_label[last], mass, nowhere)
    return atoms, bought.left


class Tail(NamedTuple):
    """An atom to move along the slope of ``winner`` over ``label``, which it is given.

    ``merit`` is what it adds per unit of mass, beyond what its budget would.
    """

    merit: float
    atom: int
    winner: int
    label: int


def _with_tail(judged: Judged, atoms: Atoms, left: float, tail_mass: float) -> Atoms:
    """Move a small mass of the best atom by all that is left of the budget."""
    problem, coef = judged.problem, judged.scores.coef
    best = _best_tail(judged, atoms)
    if best is None:
        return atoms
    cost = _label_cost(judged, atoms.source[[best.atom]])[0]
    extra = cost[best.label] - cost[atoms.label[best.atom]]
    mass = min(tail_mass, atoms.weight[best.atom])
    if extra > 0:
        # Giving the label must leave nearly all of the budget for moving.
        mass = min(mass, tail_mass * left / extra)
    direction = steepest_direction(
        coef[best.winner] - coef[best.label], problem.ball.norm, problem.feature_cost
    )
    distance = left / mass - extra
    return atoms.split(best.atom, best.label, mass, distance * direction[None, :])


def _best_tail(judged: Judged, atoms: Atoms) -> Tail | None:
    """The atom and the label under which moving comes closest to the supremum."""
    problem, (coef, intercept, _) = judged.problem, judged.scores
    moduli = pairwise_moduli(coef, problem.ball.norm, problem.feature_cost)
    steepest = problem.lipschitz(coef)
    if steepest == 0:
        return None
    scores = problem.scores(coef, intercept)[atoms.source]
    n = np.arange(len(scores))
    losses = problem.loss.of_labels(scores)[n, atoms.label]
    cost = _label_cost(judged, atoms.source)
    tails = []
    for winner, label in np.argwhere(moduli >= steepest * (1 - TIE)):
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
    X = _moved_rows(problem.X, atoms)
    losses = problem.loss.of_labels(np.asarray(X @ coef.T + intercept))
    kind = np.where(atoms.label == problem.y[atoms.source], KEPT, FLIPPED)
    kind[len(kind) - len(atoms.moved_by) :] = MOVED
    order = np.argsort(atoms.source, kind="stable")
    return WorstCaseDistribution(
        X=X[order],
        y=classes[atoms.label[order]],
        weight=atoms.weight[order],
        source=atoms.source[order],
        kind=KINDS[kind[order]],
        transport_cost=_transport_cost(judged, atoms, X),
        risk=float(atoms.weight @ losses[n, atoms.label]),
        supremum=problem.risk(coef, intercept).value,
        feature_names=names,
    )


def _moved_rows(X: Matrix, atoms: Atoms) -> Matrix:
    rows = X[atoms.source]
    if not len(atoms.moved_by):
        return rows
    n_still = len(atoms.source) - len(atoms.moved_by)
    if sparse.issparse(rows):
        moved = sparse.csr_array(rows[n_still:] + sparse.csr_array(atoms.moved_by))
        return sparse.vstack([rows[:n_still], moved], format="csr")
    rows[n_still:] += atoms.moved_by
    return rows


def _transport_cost(judged: Judged, atoms: Atoms, X: Matrix) -> float:
    """Mass times movement and label cost, summed."""
    problem = judged.problem
    n_still = len(atoms.source) - len(atoms.moved_by)
    moved = X[n_still:] - problem.X[atoms.source[n_still:]]
    dense = moved.toarray() if sparse.issparse(moved) else moved
    touched = (dense != 0).any(axis=0)
    distance = NORMS[problem.ball.norm].of_rows(
        dense[:, touched] * problem.feature_cost[touched]
    )
    price = _label_cost(judged, atoms.source)
    relabelled = price[np.arange(len(price)), atoms.label]
    return float(atoms.weight @ relabelled + atoms.weight[n_still:] @ distance)
