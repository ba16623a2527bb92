r"""Which labels look wrong, and which would hurt most if they were.

*Suspicion.*  A row's label is judged by models that never saw it, averaged over repeated
folds.  Margins of a support vector machine say little where classes overlap, so a
logistic model turns them into log-probabilities s of the labels, out of fold too.  On
these the loss of a label is -s, and an adversary who turned c into the given y has gained
s_c - s_y at the cost k[c, y].

*Exposure.*  What an adversary would gain per unit of cost by turning the given label into
another, under a model of all rows: that model's worst-case flips, best first.  Verifying
these labels takes most from the worst-case risk.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length

from ...arrays import Codes, Floats, Labels
from ...inputs.arrays import checked_trust, checked_weight, observed_classes
from ...problem import LOSSES, RobustProblem, WassersteinBall
from ...problem.label_flips import flip_envelope
from ..frames import imported_pandas, write_csv
from ..notebook import SHOWN, html_result, html_table
from .default_classifier import StandardModel
from .out_of_fold import LabelledRows, all_scores, mean_opinion, repeated_folds

# A label that is trusted not at all can be changed for next to nothing.
LEAST_PRICE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class LabelAudit:
    """Labels from the most to the least suspicious.

    Attributes
    ----------
    row : ndarray of shape (n_samples,)
        Row of the data.
    given : ndarray of shape (n_samples,)
        Its label.
    suggested : ndarray of shape (n_samples,)
        The likeliest other label.
    gain : ndarray of shape (n_samples,)
        What turning the suggested label into the given one would have gained an
        adversary, per unit of label cost.  Positive where the suggested label is the
        likelier one; ``-inf`` for verified labels.
    margin : ndarray of shape (n_samples,)
        Out-of-fold score of the given label less the best other one.
    exposure : ndarray of shape (n_samples,)
        What turning the given label into another would gain an adversary, per unit of
        label cost: labels that hurt most if they are wrong, hence worth verifying.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import audit_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2
    >>> audit = audit_labels(X, y)
    >>> print(audit.row[0], audit.given[0], audit.suggested[0])
    7 2 0
    """

    row: Codes
    given: Labels
    suggested: Labels
    gain: Floats
    margin: Floats
    exposure: Floats

    def to_frame(self) -> Any:
        """The audit as a table, one label a row.

        Returns
        -------
        pandas.DataFrame
            The table.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import audit_labels
        >>> X, y = load_iris(return_X_y=True)
        >>> audit_labels(X, y).to_frame().columns.tolist()
        ['row', 'given', 'suggested', 'gain', 'margin', 'exposure']
        """
        return imported_pandas("to_frame").DataFrame(vars(self))

    def to_csv(self, path: str | Path) -> None:
        """Write the audit to a file, which appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to write.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import audit_labels
        >>> X, y = load_iris(return_X_y=True)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "suspects.csv"
        ...     audit_labels(X, y).to_csv(path)
        ...     print(path.read_text().splitlines()[0])
        row,given,suggested,gain,margin,exposure
        """
        write_csv(Path(path), vars(self))

    def __repr__(self) -> str:
        n_suspects = int((self.gain > 0).sum())
        first = ", ".join(
            f"row {row} ({given}, perhaps {suggested})"
            for row, given, suggested in zip(
                self.row[: min(n_suspects, 3)], self.given, self.suggested, strict=False
            )
        )
        told = f": {first}{', ...' if n_suspects > 3 else ''}" if first else ""
        return f"LabelAudit({len(self.row)} labels, {n_suspects} suspicious{told})"

    def _repr_html_(self) -> str:
        n_suspects = int((self.gain > 0).sum())
        columns = (self.row, self.given, self.suggested, self.gain)
        rows = zip(*(column[: min(n_suspects, SHOWN)] for column in columns), strict=True)
        header = ["row", "given", "suggested", "gain"]
        return html_result(self, html_table("Suspicious labels", header, rows, n_suspects))


def audit_labels(
    X: Any,
    y: ArrayLike,
    estimator: Any = None,
    *,
    label_cost: float | ArrayLike = 1.0,
    n_splits: int = 5,
    n_repeats: int = 3,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    random_state: int = 0,
) -> LabelAudit:
    """Rank labels by how suspicious they are, and by how much they would hurt if wrong.

    Fix or confirm the labels at the top, pass ``label_trust=inf`` for those confirmed,
    and fit or audit again.  With many features and many wrong labels, a larger radius
    than the default one finds more of them: pass an ``estimator`` of your own.  One with
    ``label_noise="random"`` is not misled by the wrong labels it learns from, which tells
    where these are many.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels; each class needs two rows at least.
    estimator : object, default=None
        Classifier with ``fit``, ``decision_function`` and ``sample_weight``, or a
        pipeline that ends in one.  None is a :class:`wdrsvm.RobustLinearSVC` with its
        default ball on standardised features.
    label_cost : float or array of shape (n_classes, n_classes), default=1.0
        Cost of turning a true label (row) into a given one (column), positive; ``inf``
        marks a mistake that nobody makes.
    n_splits : int, default=5
        Number of folds; fewer where a class has fewer rows.
    n_repeats : int, default=3
        How often rows are divided into folds anew.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row; ``inf`` marks a verified label.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    LabelAudit
        The labels, most suspicious first.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from wdrsvm import audit_labels
    >>> X, y = load_wine(return_X_y=True)
    >>> wrong = np.array([3, 70, 150])
    >>> y[wrong] = [2, 0, 1]
    >>> np.sort(audit_labels(X, y).row[:3])
    array([  3,  70, 150])
    """
    classes, codes = observed_classes(y)
    check_consistent_length(X, codes)
    trust = checked_trust(label_trust, len(codes))
    rows = LabelledRows(X, codes, checked_weight(sample_weight, len(codes)), trust)
    cost = _checked_cost(label_cost, len(classes))
    counts = (
        _checked_count(n_splits, "n_splits", 2),
        _checked_count(n_repeats, "n_repeats"),
    )
    model = StandardModel() if estimator is None else estimator
    opinion = mean_opinion(model, rows, repeated_folds(codes, *counts, random_state))
    whole = all_scores(rows.fitted(model, np.arange(len(codes))), X)
    gain, suggested = _doubt(opinion.log_probability, rows, cost)
    order = np.argsort(-gain, kind="stable")
    return LabelAudit(
        row=order,
        given=classes[codes[order]],
        suggested=classes[suggested[order]],
        gain=gain[order],
        margin=_margin(opinion.scores, codes)[order],
        exposure=_exposure(whole, rows, cost)[order],
    )


def _checked_cost(label_cost: float | ArrayLike, n_classes: int) -> Floats:
    cost = WassersteinBall(0.0, label_cost).label_cost_matrix(n_classes)
    if (cost[~np.eye(n_classes, dtype=bool)] == 0).any():
        raise ValueError(f"label_cost must be > 0 for every mistake, got {label_cost!r}.")
    return cost


def _checked_count(value: Any, name: str, least: int = 1) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}.")
    return int(value)


def _prices(rows: LabelledRows, cost: Floats) -> Floats:
    """Trust times the cost of turning each row's label into each other, inf for its own."""
    ball = WassersteinBall(0.0, cost)
    problem = RobustProblem.of(
        rows.X, rows.y, rows.weight, ball, len(cost), label_trust=rows.label_trust
    )
    return np.maximum(problem.flip_cost(), LEAST_PRICE)


def _doubt(
    log_probability: Floats, rows: LabelledRows, cost: Floats
) -> tuple[Floats, Codes]:
    """What the likeliest mistake would have gained per unit of cost, and its true label."""
    n = np.arange(len(rows.y))
    gain = log_probability - log_probability[n, rows.y][:, None]
    likely = np.where(np.isfinite(cost.T[rows.y]), gain, -np.inf)
    # The given label itself, where no mistake is possible.
    likely[n, rows.y] = np.finfo(np.float64).min
    suggested = likely.argmax(axis=1)
    price = _prices(rows, cost.T)[n, suggested]
    return np.where(np.isfinite(price), gain[n, suggested] / price, -np.inf), suggested


def _margin(scores: Floats, y: Codes) -> Floats:
    others = scores.copy()
    others[np.arange(len(y)), y] = -np.inf
    return np.asarray(scores[np.arange(len(y)), y] - others.max(axis=1))


def _exposure(scores: Floats, rows: LabelledRows, cost: Floats) -> Floats:
    """The best rate at which flipping each label would raise the loss."""
    losses = LOSSES["crammer-singer"].of_labels(scores)
    flips = flip_envelope(losses, rows.y, _prices(rows, cost)).flips
    exposure = np.zeros(len(rows.y))
    np.maximum.at(exposure, flips.row, flips.rate)
    return exposure
