"""The result of an audit of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Codes, Flags, Floats, Labels
from ..frames import ColumnsMixin
from ..notebook import SHOWN, html_result, html_table, share

# Columns of the table, in this order.
COLUMNS = ("row", "given", "suggested", "gain", "margin", "exposure", "wrong_probability")


@dataclass(frozen=True, eq=False, repr=False)
class LabelAudit(ColumnsMixin):
    """Labels from the most to the least suspicious, and how many to check.

    Attributes
    ----------
    row : ndarray of shape (n_samples,)
        Row of the data.
    given : ndarray of shape (n_samples,)
        Its label.
    suggested : ndarray of shape (n_samples,)
        The likeliest other label.
    gain : ndarray of shape (n_samples,)
        Log-odds of the suggested label over the given one, per unit of label cost: what
        turning the one into the other would have gained an adversary.  Positive where the
        suggested label is the likelier one; ``-inf`` for verified labels.
    margin : ndarray of shape (n_samples,)
        Out-of-fold score of the given label less the best other one.
    exposure : ndarray of shape (n_samples,)
        What turning the given label into another would gain an adversary, per unit of
        label cost: labels that hurt most if they are wrong, hence worth verifying.
    wrong_probability : ndarray of shape (n_samples,)
        Probability that the label is wrong.
    n_suspects : int
        How many labels at the top of the list to check: the number with the largest
        expected F1, the harmonic mean of precision and recall.
    wrong_share : float
        Estimated share of labels that are wrong.
    wrong_share_interval : tuple of two floats
        Confidence interval of this share (90 %).  It covers the random draw of the rows,
        and assumes that the model of the noise is right.

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
    wrong_probability: Floats
    n_suspects: int
    wrong_share: float
    wrong_share_interval: tuple[float, float]

    @property
    def label_quality(self) -> Floats:
        """Probability that each label is right, in the order of the data.

        The scores of cleanlab's ``get_label_quality_scores`` have this form.
        """
        quality = np.empty(len(self.row))
        quality[self.row] = 1 - self.wrong_probability
        return quality

    def issue_mask(self) -> Flags:
        """Which labels to check, in the order of the data.

        cleanlab's ``find_label_issues`` returns this form.

        Returns
        -------
        ndarray of shape (n_samples,)
            True for the first ``n_suspects`` labels of the list.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import audit_labels
        >>> X, y = load_iris(return_X_y=True)
        >>> audit = audit_labels(X, y)
        >>> int(audit.issue_mask().sum()) == audit.n_suspects
        True
        """
        mask = np.zeros(len(self.row), dtype=bool)
        mask[self.row[: self.n_suspects]] = True
        return mask

    def sentence(self) -> str:
        """How many labels to check and how many are wrong, in words.

        Returns
        -------
        str
            A sentence.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import audit_labels
        >>> X, y = load_iris(return_X_y=True)
        >>> audit_labels(X, y).sentence().startswith("Check the first")
        True
        """
        low, high = self.wrong_share_interval
        share = (
            f"an estimated {100 * self.wrong_share:.1f} % are wrong "
            f"({100 * low:.1f} to {100 * high:.1f} %)"
        )
        if not self.n_suspects:
            return f"No label is worth a check: {share}."
        labels = "label" if self.n_suspects == 1 else f"{self.n_suspects} labels"
        return f"Check the first {labels} of {len(self.row)}: {share}."

    def _columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in COLUMNS}

    def __repr__(self) -> str:
        return suspects_text(self)

    def _repr_html_(self) -> str:
        return suspects_html(self, self.wrong_probability)


def suspects_text(result: Any) -> str:
    """A list of labels, the most suspicious first, in a line."""
    n_suspects = result.n_suspects
    first = ", ".join(
        f"row {row} ({given}, perhaps {suggested})"
        for row, given, suggested in zip(
            result.row[: min(n_suspects, 3)], result.given, result.suggested, strict=False
        )
    )
    told = f": {first}{', ...' if n_suspects > 3 else ''}" if first else ""
    name = type(result).__name__
    return f"{name}({len(result.row)} labels, {n_suspects} suspicious{told})"


def suspects_html(result: Any, doubt: Floats) -> str:
    """The same for notebooks, with a table of the most suspicious labels."""
    if not result.n_suspects:
        return html_result(result)
    n_shown = min(result.n_suspects, SHOWN)
    told = [share(each) for each in doubt[:n_shown]]
    columns = (result.row, result.given, result.suggested)
    rows = zip(*(each[:n_shown] for each in columns), told, strict=True)
    header = ["row", "given", "suggested", "doubt"]
    table = html_table("Suspicious labels", header, rows, result.n_suspects)
    return html_result(result, table)
