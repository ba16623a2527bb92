"""The most suspicious labels as bars."""

from __future__ import annotations

from typing import Any

from ..robustness import LabelAudit
from ._style import Display, axes_for, colour


class LabelAuditDisplay(Display):
    """The most suspicious labels, with the gain per cost of the suggested labels.

    Parameters
    ----------
    audit : LabelAudit
        Result of :func:`wdrsvm.audit_labels`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import audit_labels
    >>> from wdrsvm.plotting import LabelAuditDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LabelAuditDisplay.from_audit(audit_labels(X, y), n_labels=10)
    >>> len(display.ax_.patches)
    10
    """

    def __init__(self, audit: LabelAudit) -> None:
        self.audit = audit

    @classmethod
    def from_audit(
        cls, audit: LabelAudit, *, n_labels: int = 20, ax: Any = None, **kwargs: Any
    ) -> LabelAuditDisplay:
        """Plot an audit.

        Parameters
        ----------
        audit : LabelAudit
            Result of :func:`wdrsvm.audit_labels`.
        n_labels : int, default=20
            Number of labels to show.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.barh``.

        Returns
        -------
        LabelAuditDisplay
            The display.
        """
        return cls(audit).plot(n_labels=n_labels, ax=ax, **kwargs)

    def plot(
        self, *, n_labels: int = 20, ax: Any = None, **kwargs: Any
    ) -> LabelAuditDisplay:
        """Draw the bars, the most suspicious label on top.

        Parameters
        ----------
        n_labels : int, default=20
            Number of labels to show.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.barh``.

        Returns
        -------
        LabelAuditDisplay
            The display itself.
        """
        ax = axes_for(ax)
        audit, shown = self.audit, min(n_labels, len(self.audit.row))
        places = range(shown)
        ax.barh(places, audit.gain[:shown], **{"color": colour(0), **kwargs})
        labels = zip(audit.row, audit.given, audit.suggested, strict=True)
        names = [f"row {row}: {given}, or {other}?" for row, given, other in labels]
        ax.set_yticks(places, names[:shown])
        ax.invert_yaxis()
        ax.set_xlabel("gain over the suggested label, per unit of cost")
        return self._drawn_on(ax)
