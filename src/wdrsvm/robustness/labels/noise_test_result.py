"""The result of the test which label noise the data have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Labels
from ..notebook import html_result, html_table

# A confusion that is likelier than the right label still costs something.
LEAST_COST = 0.05


@dataclass(frozen=True, eq=False)
class LabelNoiseTest:
    """Which kind of label noise the data have.

    Attributes
    ----------
    p_none : float
        P-value of the hypothesis that no label is wrong.
    p_uniform : float
        P-value of the hypothesis that all wrong labels are equally likely.
    p_by_class : float
        P-value of the hypothesis that wrong labels depend on the class only.
    wrong_share : float
        Estimated share of wrong labels.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    confusion : ndarray of shape (n_classes, n_classes)
        Estimated probability of each given label (column) for each true one (row).
    level : float
        A hypothesis is rejected if its p-value is at most this.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import label_noise_test
    >>> X, y = load_iris(return_X_y=True)
    >>> found = label_noise_test(X, y, n_draws=19)
    >>> found.confusion.shape
    (3, 3)
    """

    p_none: float
    p_uniform: float
    p_by_class: float
    wrong_share: float
    classes: Labels
    confusion: Floats
    level: float

    def __repr__(self) -> str:
        return (
            f"LabelNoiseTest(noise: {self.kind}, {100 * self.wrong_share:.1f} % wrong; p "
            f"of none {self.p_none:.2g}, uniform {self.p_uniform:.2g}, by class "
            f"{self.p_by_class:.2g})"
        )

    def _repr_html_(self) -> str:
        names = [str(name) for name in self.classes]
        rows = [
            [name, *line] for name, line in zip(names, self.confusion.tolist(), strict=True)
        ]
        header = ["true label", *(f"given {name}" for name in names)]
        table = html_table("Estimated probabilities of the given labels", header, rows)
        return html_result(self.sentence(), table)

    @property
    def kind(self) -> str:
        """``"none"``, ``"uniform"``, ``"by class"`` or ``"by row"``."""
        if self.p_none > self.level:
            return "none"
        if self.p_by_class <= self.level:
            return "by row"
        return "by class" if self.p_uniform <= self.level else "uniform"

    @property
    def label_cost(self) -> Floats:
        """Label costs for estimators: likely confusions are cheap.

        The entry for the given label (row) and another one (column) is the log-odds that
        the given label is right, if both are equally likely for the row.  Estimators with
        ``label_noise="random"`` take this matrix, and :func:`wdrsvm.audit_labels` its
        transpose.
        """
        right = np.diag(self.confusion)[:, None]
        cost = np.maximum(np.log(right / self.confusion.T), LEAST_COST)
        np.fill_diagonal(cost, 0.0)
        return np.asarray(cost)

    def sentence(self) -> str:
        """The result in words.

        Returns
        -------
        str
            A sentence.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from wdrsvm import label_noise_test
        >>> X, y = load_iris(return_X_y=True)
        >>> label_noise_test(X, y, n_draws=19).sentence().endswith(".")
        True
        """
        share = f"an estimated {100 * self.wrong_share:.1f} % of the labels are wrong"
        said = {
            "none": f"No label noise is seen (p = {self.p_none:.3f}).",
            "uniform": f"Labels are wrong at random: {share}, and no class is confused "
            f"more than others (p = {self.p_uniform:.3f}).",
            "by class": f"Some classes are confused more than others: {share} "
            f"(uniform noise has p = {self.p_uniform:.3f}).",
            "by row": f"Labels are wrong more often for some rows than for others: {share} "
            f"(noise by class alone has p = {self.p_by_class:.3f}).",
        }
        return said[self.kind]
