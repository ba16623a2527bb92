"""What one pass over the rows says of the columns of a bounded problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...rows.blocks import dense_rows
from ..ball import CategoricalGroup

if TYPE_CHECKING:
    from ..problem import RobustProblem


class ColumnFacts(NamedTuple):
    """Least and largest entries (P,), weighted sums (P,), the weight of all rows, and
    which groups of categories are one-hot in all rows."""

    low: Floats
    high: Floats
    total: Floats
    weight: float
    is_one_hot: Flags

    @property
    def mean(self) -> Floats:
        return self.total / self.weight


def column_facts(problem: RobustProblem) -> ColumnFacts:
    """The facts of all rows, wherever they are."""
    with problem.reduction() as reduction:
        facts: ColumnFacts = reduction.fold(_facts_of, _joined)
    return facts


def check_columns(
    facts: ColumnFacts, groups: list[CategoricalGroup], cost: Floats, problem: RobustProblem
) -> None:
    """Refuse rows outside the box, and categories that are not one-hot columns."""
    for group, is_one_hot in zip(groups, facts.is_one_hot, strict=True):
        if not is_one_hot:
            raise ValueError(
                "categorical must name one-hot columns, 0 or 1 with a single 1 per row, "
                f"but columns {group.columns.tolist()} of X are not; a row with zeros "
                "only may have a category that its encoder has not seen: leave it out."
            )
    low, high = problem.ball.box(problem.n_features)
    for outside, value in ((facts.low < low, facts.low), (facts.high > high, facts.high)):
        found = np.flatnonzero(outside & np.isfinite(cost))
        if len(found):
            d = found[0]
            raise ValueError(
                f"support must contain the data, but feature {d} has the value "
                f"{value[d]:g}, outside [{low[d]:g}, {high[d]:g}]."
            )


def _facts_of(problem: RobustProblem, rows: slice) -> ColumnFacts:
    block, weight = dense_rows(problem.X[rows]), problem.weight[rows]
    groups = problem.ball.groups(problem.n_features)
    one_hot = [_is_one_hot(block[:, group.columns]) for group in groups]
    return ColumnFacts(
        block.min(axis=0),
        block.max(axis=0),
        weight @ block,
        float(weight.sum()),
        np.array(one_hot, dtype=bool),
    )


def _is_one_hot(block: Floats) -> bool:
    is_binary = ((block == 0) | (block == 1)).all()
    return bool(is_binary and (block.sum(axis=1) == 1).all())


def _joined(one: ColumnFacts, other: ColumnFacts) -> ColumnFacts:
    return ColumnFacts(
        np.minimum(one.low, other.low),
        np.maximum(one.high, other.high),
        one.total + other.total,
        one.weight + other.weight,
        one.is_one_hot & other.is_one_hot,
    )
