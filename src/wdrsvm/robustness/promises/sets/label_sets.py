"""Sets of labels as a result that people can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....arrays import Codes, Flags, Labels
from ...frames import imported_pandas
from ...notebook import SHOWN, html_result, html_table, share


@dataclass(frozen=True, eq=False, repr=False)
class LabelSets:
    """A set of labels for each row.

    Attributes
    ----------
    held : ndarray of bool of shape (n_samples, n_classes)
        True where a label is in the set of a row.
    classes : ndarray of shape (n_classes,)
        Labels, in the order of the columns of ``held``.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm import LabelSets
    >>> sets = LabelSets(np.array([[True, False], [True, True]]), np.array(["a", "b"]))
    >>> sets
    LabelSets(2 rows: 1.5 labels on average, a single label for 50 %)
    >>> sets[1]
    ['a', 'b']
    """

    held: Flags
    classes: Labels

    @property
    def sizes(self) -> Codes:
        """Number of labels in each set."""
        return np.asarray(self.held.sum(axis=1))

    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, row: int) -> list[Any]:
        """The labels of one row."""
        labels: list[Any] = self.classes[self.held[row]].tolist()
        return labels

    def to_frame(self) -> Any:
        """One row for each set, one column of flags for each label.

        Returns
        -------
        pandas.DataFrame
            The table.
        """
        pandas = imported_pandas("to_frame")
        return pandas.DataFrame(self.held, columns=self.classes)

    def __repr__(self) -> str:
        if not len(self):
            return "LabelSets(0 rows)"
        sizes = self.sizes
        single = share(float(np.mean(sizes == 1)))
        return (
            f"LabelSets({len(self)} rows: {sizes.mean():.3g} labels on average, a single "
            f"label for {single})"
        )

    def _repr_html_(self) -> str:
        rows = [[k, ", ".join(map(str, self[k]))] for k in range(min(len(self), SHOWN))]
        table = html_table("Sets of labels", ["row", "labels"], rows, len(self))
        return html_result(self, table)
