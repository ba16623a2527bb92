"""Standard errors of means, paired differences, ranks, and comparisons with print."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats


class Difference(NamedTuple):
    """A mean difference and its standard error."""

    mean: float
    error: float

    @property
    def in_errors(self) -> float:
        """The difference divided by its standard error; infinite if the error is zero."""
        if self.error == 0:
            return 0.0 if self.mean == 0 else float(np.copysign(np.inf, self.mean))
        return self.mean / self.error


def difference_of_means(
    mean: float, deviation: float, n: int, other: float, other_deviation: float, m: int
) -> Difference:
    """Difference of two independent means, from their printed means and deviations."""
    error = np.sqrt(deviation**2 / n + other_deviation**2 / m)
    return Difference(mean - other, float(error))


def paired_difference(values: Any, others: Any, groups: Any = None) -> Difference:
    """Mean difference over pairs; with groups, over the means of the groups.

    Repetitions on one data set share rows and are not independent.  With one group per data
    set, the standard error is that of the mean over data sets.
    """
    gaps = np.asarray(values, dtype=float) - np.asarray(others, dtype=float)
    if groups is not None:
        labels = np.asarray(groups)
        gaps = np.array([gaps[labels == label].mean() for label in np.unique(labels)])
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
    return Difference(float(gaps.mean()), float(error))


def average_ranks(table: Any) -> Any:
    """Mean rank of each column over the rows; rank 1 is the highest value.

    Equal values get the mean of their ranks.
    """
    return table.rank(axis=1, ascending=False).mean()


def signed_rank_p_value(gaps: Any) -> float:
    """Two-sided p-value of Wilcoxon's test that differences are symmetric about zero."""
    gaps = np.asarray(gaps, dtype=float)
    gaps = gaps[np.isfinite(gaps)]
    if not np.any(gaps):
        return 1.0
    return float(stats.wilcoxon(gaps).pvalue)
