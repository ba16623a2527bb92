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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ....arrays import Codes, Floats, Labels
from ....problem import Loss, WassersteinBall
from ...frames import feature_names, imported_pandas
from ...notebook import SHOWN, html_result, html_table
from ..worst_case import Judged, judged_classifier
from .atoms import Atoms, label_costs, move_distances, planned, relabelled, with_tail
from .zero_one import largest_error, wrong_atoms, wrong_rows

KINDS = np.array(["kept", "flipped", "moved"])
KEPT, FLIPPED, MOVED = range(3)
# The loss that counts wrong predictions.
ZERO_ONE = "zero-one"


@dataclass(frozen=True, eq=False, repr=False)
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
    >>> worst
    WorstCaseDistribution(5 atoms of 4 rows: 73.3 % kept, 26.7 % flipped; cost 0.4, risk \
0.7833 of at most 0.7833)
    """

    X: Any
    y: Labels
    weight: Floats
    source: Codes
    kind: NDArray[np.str_]
    transport_cost: float
    risk: float
    supremum: float
    feature_names: Labels

    def to_frame(self) -> Any:
        """One row per atom: source, kind, weight, label, then the features.

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

    def __repr__(self) -> str:
        masses = ((kind, float(self.weight[self.kind == kind].sum())) for kind in KINDS)
        told = ", ".join(f"{100 * mass:.3g} % {kind}" for kind, mass in masses if mass)
        n_rows = len(np.unique(self.source))
        return (
            f"WorstCaseDistribution({len(self.weight)} atoms of {n_rows} rows: {told}; "
            f"cost {self.transport_cost:.4g}, risk {self.risk:.4g} of at most "
            f"{self.supremum:.4g})"
        )

    def _repr_html_(self) -> str:
        changed = np.flatnonzero(self.kind != KINDS[KEPT])
        heaviest = changed[np.argsort(-self.weight[changed], kind="stable")][:SHOWN]
        columns = (self.source, self.kind, self.weight, self.y)
        table = html_table(
            "Atoms that the adversary changes, heaviest first",
            ["source", "kind", "weight", "label"],
            [[column[k] for column in columns] for k in heaviest],
            len(changed),
        )
        return html_result(self, table)


def worst_case_distribution(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    *,
    tail_mass: float = 1e-4,
    loss: str | Loss = "crammer-singer",
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
        such as scikit-learn's, a :class:`~wdrsvm.RobustSVC`, or a pipeline that ends in
        one.  A fitted search of scikit-learn stands for its ``best_estimator_``.  The atoms
        of a pipeline lie in the space of its last step, those of a kernel model in its
        feature space, with the coordinates of its ``linear_form``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels, each one of ``classifier.classes_``.
    ball : WassersteinBall
        What the adversary may do.
    tail_mass : float, default=1e-4
        Mass that moves.  The smaller it is, the farther it moves, and the closer the
        expected loss comes to the worst-case risk.
    loss : {"crammer-singer", "logistic", "zero-one"} or Loss, default="crammer-singer"
        Loss whose expectation is taken; any member of the family of
        :class:`wdrsvm.problem.Loss`.  ``"zero-one"`` counts wrong predictions, ties among
        them: atoms then move to the nearest point of another class and a hair beyond,
        ``risk`` is their error and ``supremum`` the :func:`worst_case_error`.
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
    if isinstance(loss, str) and loss == ZERO_ONE:
        judged = judged_classifier(
            classifier, X, y, ball, "crammer-singer", sample_weight, label_trust
        )
        _checked_mass(tail_mass)
        names = feature_names(classifier, judged.problem.n_features)
        return _described_errors(judged, names)
    judged = judged_classifier(classifier, X, y, ball, loss, sample_weight, label_trust)
    # No distribution attains the triangle bound: what moving gains is exact.
    judged = judged._replace(problem=replace(judged.problem, lipschitz="exact"))
    plan = planned if judged.problem.is_bounded else relabelled
    atoms, left = plan(judged)
    if left > 0:
        atoms = with_tail(judged, atoms, left, _checked_mass(tail_mass))
    names = feature_names(classifier, judged.problem.n_features)
    return _described(judged, atoms.only(atoms.weight > 0), names)


def _checked_mass(tail_mass: Any) -> float:
    if not isinstance(tail_mass, (float, int, np.floating)) or not 0 < tail_mass <= 1:
        raise ValueError(f"tail_mass must be a number in (0, 1], got {tail_mass!r}.")
    return float(tail_mass)


def _described(judged: Judged, atoms: Atoms, names: Labels) -> WorstCaseDistribution:
    """The atoms as data, judged by the definitions alone."""
    problem, (coef, intercept, *_) = judged.problem, judged.scores
    n = np.arange(len(atoms.source))
    losses = problem.loss.of_labels(np.asarray(atoms.X @ coef.T + intercept))
    supremum = problem.risk(coef, intercept).value
    return _table(judged, atoms, losses[n, atoms.label], supremum, names)


def _described_errors(judged: Judged, names: Labels) -> WorstCaseDistribution:
    """The same for the share of wrong predictions."""
    atoms = wrong_atoms(judged)
    atoms = atoms.only(atoms.weight > 0)
    scores = np.asarray(atoms.X @ judged.scores.coef.T + judged.scores.intercept)
    wrong = wrong_rows(scores, atoms.label).astype(np.float64)
    return _table(judged, atoms, wrong, largest_error(judged), names)


def _table(
    judged: Judged,
    atoms: Atoms,
    loss: Floats,
    supremum: float,
    names: Labels,
) -> WorstCaseDistribution:
    """Atoms whose losses are known, sorted by source; costs from the definition."""
    n = np.arange(len(atoms.source))
    distance = move_distances(judged, atoms)
    kind = np.where(atoms.label == judged.problem.y[atoms.source], KEPT, FLIPPED)
    kind[distance > 0] = MOVED
    cost = distance + label_costs(judged, atoms.source)[n, atoms.label]
    order = np.lexsort((kind, atoms.source))
    return WorstCaseDistribution(
        X=atoms.X[order],
        y=judged.scores.classes[atoms.label[order]],
        weight=atoms.weight[order],
        source=atoms.source[order],
        kind=KINDS[kind[order]],
        transport_cost=float(atoms.weight @ cost),
        risk=float(atoms.weight @ loss),
        supremum=supremum,
        feature_names=names,
    )
