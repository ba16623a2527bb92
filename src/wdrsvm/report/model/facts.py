"""Facts about a fitted model that both its page and its card tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from ...estimators._notebook import DOUBTING, doubts_labels
from ..page import Flags, Part, Table, Text
from ..words import counted
from .flags import flags_of
from .reported import ReportedModel


def lead_of(reported: ReportedModel) -> str:
    """What was judged, and on how many rows."""
    rows = counted(len(reported.y), "labelled row", "labelled rows")
    return f"{type(reported.chosen).__name__} judged on {rows}."


def checks_of(reported: ReportedModel) -> list[Part]:
    """What to check before the model is used; empty if nothing stands out."""
    flags = flags_of(reported)
    return [Text("Check before use:"), Flags(flags)] if flags else []


def about_loss(reported: ReportedModel) -> str:
    """The worst-case risk in the model's own ball, as a sentence."""
    risk = reported.classifier.worst_case_risk(reported.X, reported.y)
    return (
        "The expected loss, whatever an adversary with the model's own budget of "
        f"{reported.chosen.radius:.3g} does to these rows, is at most {risk:.3g}."
    )


def label_cost_text(cost: Any) -> str:
    """A label cost with four digits, or the whole matrix of label costs."""
    return f"{cost:.4g}" if np.ndim(cost) == 0 else str(cost)


def fit_facts(reported: ReportedModel) -> dict[str, Any]:
    """What the fit was asked for, and what it proves."""
    chosen = reported.chosen
    return {
        "classes": ", ".join(map(str, reported.classes)),
        "features": reported.X.shape[1],
        "radius": float(chosen.radius),
        "label cost": label_cost_text(chosen.label_cost),
        **_trained_for(chosen),
        "solver": chosen.solver_,
    }


def _trained_for(chosen: Any) -> dict[str, float]:
    """The objective of the fit on the training rows."""
    if hasattr(chosen, "worst_case_error_"):
        return {"worst-case error on the training rows": chosen.worst_case_error_}
    if doubts_labels(chosen):
        return {DOUBTING: float(chosen.objective_)}
    return {
        "worst-case risk on the training rows": float(chosen.objective_),
        "proven to be within": float(chosen.duality_gap_),
    }


def confusions(reported: ReportedModel) -> list[Part]:
    """How often each class is taken for another, with recall and precision."""
    counts = confusion_matrix(reported.y, reported.predicted, labels=reported.classes)
    names = [str(name) for name in reported.classes]
    rows = [[name, *line] for name, line in zip(names, counts.tolist(), strict=True)]
    header = ["given label", *(f"predicted {name}" for name in names)]
    return [
        Table("Confusion matrix, in rows of the table", header, rows),
        Table(
            "Recall and precision of every class",
            ["class", "rows", "recall", "precision"],
            [
                [name, int(total), _share(right, total), _share(right, found)]
                for name, right, total, found in zip(
                    names, counts.diagonal(), counts.sum(1), counts.sum(0), strict=True
                )
            ],
        ),
    ]


def _share(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole else None
