r"""The table V of coefficients, which the l1 and the linf norm share.

A proximal step about the centre M_k has a step size t_d for each column,

    V = M_k - t_d (G + what the norm's own multipliers add),

and M is V, clipped if the norm is a box.  V moves with every row that is settled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....arrays import Codes, Floats
from ..kernels import sweep_table
from ..samples import Duals, FreeTable, SampleArrays, samples_of
from ..settings import FIRST_ORDER
from ..step_sizes import column_steps


def rows_a_call(rows: SampleArrays, n_classes: int, is_smooth: bool) -> int:
    """Number of rows of one call of compiled code; Ctrl-C works between calls."""
    a_row = (len(rows.touch.data) / len(rows.y) + n_classes) * n_classes
    if is_smooth:
        a_row += FIRST_ORDER.systems_per_row * n_classes**3
    return max(1, int(FIRST_ORDER.max_call_work / a_row))


def order_parts(order: Codes, n_rows: int) -> Iterator[Codes]:
    """The rows in their order, at most so many at a time."""
    return (order[first : first + n_rows] for first in range(0, len(order), n_rows))


class TableBlock:
    """Coefficients M (T, C), the centre of the next step, and the table V (T, C).

    The step of a column is t_d ~ (column mass) ^ -rarity, so that rare columns have larger
    steps.  ``boxed`` tells whether scores are those of the clipped table.
    """

    rarity: float
    boxed: bool

    def __init__(
        self, rows: SampleArrays, duals: Duals, free: FreeTable, price: Any, coef: Floats
    ):
        self.rows, self.price = rows, price
        self.samples = samples_of(rows, duals, free)
        self.steps, curvature = column_steps(
            rows.touch, rows.weight, len(coef), self.rarity
        )
        rows.touch_curvature[:] = curvature
        self.coef, self.table = coef, coef.copy()

    @property
    def stiffness(self) -> float:
        """Mean curvature of a row."""
        return float(self.rows.touch_curvature.mean())

    def sweep_rows(self, order: Codes, tol: float) -> None:
        """Settle the given rows."""
        state = self.samples, self.table, self.steps, self.price
        is_smooth = self.price.temperature > 0
        n_rows = rows_a_call(self.rows, self.coef.shape[1], is_smooth)
        for part in order_parts(order, n_rows):
            sweep_table(part, *state, self.boxed, tol)

    def point(self) -> Floats:
        """M at the present V."""
        return self.table.copy()

    def recentre(self) -> None:
        """Make the present M the centre of the next proximal step."""
        coef = self.point()
        self.table += coef - self.coef
        self.coef = coef

    def soften(self, factor: float) -> None:
        """Longer proximal steps: G stays what it is."""
        self.steps *= factor
        self.rows.touch_curvature[:] *= factor
        self.table += (factor - 1) * (self.table - self.coef)
