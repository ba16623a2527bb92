"""What to check before a model is used: what was found, and what to do about it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..review import mostly_suspected
from ..words import counted, listed, share
from .id_columns import id_columns
from .promise import Promise
from .reported import ReportedModel
from .verdict import is_vacuous


def flags_of(reported: ReportedModel) -> dict[str, str]:
    """All flags of a model, by their names; empty if there is nothing to check."""
    promise = reported.promise
    return {
        **_constant_promise(promise),
        **_hopeless_classes(promise),
        **_unrecognised(reported),
        **_edge_of_grid(reported.classifier),
        **_identifiers(reported.given),
        **_suspects(reported),
    }


def _constant_promise(promise: Promise) -> dict[str, str]:
    if not is_vacuous(promise):
        return {}
    constant, movement = promise.constant_error, promise.movement
    reach = float(promise.curve.budget_for(constant))
    better = f"It promises fewer up to a movement of {_down(reach)}. " if reach > 0 else ""
    return {
        "The promise is empty": f"If the rows move by {movement.told()}, the model "
        f"promises no fewer errors than always answering {promise.largest_class}, which is "
        f"wrong for {share(constant)}. {better}State a smaller movement (radius=, "
        "--radius), or learn for this one (loss='ramp', --withstand)."
    }


def _down(value: float) -> str:
    """A positive number with two digits, rounded down, because less is promised above."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.floor(value / step) * step:.2g}"


def _hopeless_classes(promise: Promise) -> dict[str, str]:
    """Classes in which the movement can make every row wrong, though some are right now."""
    lost = [
        str(name)
        for name, rates in promise.by_class.items()
        if rates.worst_case_error >= 1 > rates.error
    ]
    if not lost or is_vacuous(promise):
        return {}
    return {
        "Classes without a promise": f"{listed(lost)}: all rows of such a class may be "
        "wrong if they move so far. State a smaller movement, or collect more rows of "
        "these classes."
    }


def _unrecognised(reported: ReportedModel) -> dict[str, str]:
    is_right = reported.predicted == reported.y
    lost = {
        str(name): int((reported.y == name).sum())
        for name in reported.classes
        if (reported.y == name).any() and not is_right[reported.y == name].any()
    }
    if not lost:
        return {}
    named = listed([f"{name} ({counted(n, 'row', 'rows')})" for name, n in lost.items()])
    return {
        "Classes that are never recognised": f"{named}. Give every class the same weight "
        "(class_weight='balanced', --balanced), collect more rows, or join rare classes "
        "(--merge-rare)."
    }


def _edge_of_grid(classifier: Any) -> dict[str, str]:
    """A radius at the end of a search's grid: the best one may lie beyond."""
    tried = np.unique(getattr(classifier, "radii_", ()))
    if len(tried) < 2:
        return {}
    chosen = float(classifier.radius_)
    ends = ((tried[0], "smallest", "smaller"), (tried[-1], "largest", "larger"))
    for end, superlative, comparative in ends:
        if np.isclose(chosen, end, rtol=1e-9):
            return {
                "Radius at the edge of the grid": f"The search chose {chosen:.3g}, its "
                f"{superlative} radius. Try {comparative} ones (radii=, --radius)."
            }
    return {}


def _identifiers(given: Any) -> dict[str, str]:
    found = id_columns(given)
    if not found:
        return {}
    return {
        "Columns that look like identifiers": f"{listed(found)}. They name the rows and "
        "tell nothing about others. Learn the model without them (--drop)."
    }


def _suspects(reported: ReportedModel) -> dict[str, str]:
    audit = reported.audit
    if isinstance(audit, str) or not audit.n_suspects:
        return {}
    n_labels = len(reported.y)
    look = counted(
        audit.n_suspects, f"of {n_labels} labels looks", f"of {n_labels} labels look"
    )
    told = (
        f"{look} wrong to models that never saw them. Read them, and correct or confirm "
        "each (audit_labels, wdrsvm audit)."
    )
    return {"Labels that look wrong": " ".join([told, *mostly_suspected(audit)])}
