"""The box at the top of a report: error rates, baselines and a verdict in plain words."""

from __future__ import annotations

from typing import NamedTuple

from ...robustness.promises.errors.error_curve import percent
from ..page import Summary
from ..words import share
from .baselines import LOGISTIC
from .promise import Promise, Rates, at_most

# Number of classes that the box names.
NAMED = 3
# Worst-case errors that agree to this many decimals are shown as the same percentage.
DECIMALS = 3
# A difference of at most this many standard errors counts as none.
CHANCE = 2.0
MANY = {-1: "fewer errors", 0: "about as many errors", 1: "more errors"}


class Judgement(NamedTuple):
    """A verdict in words; ``good`` None is neither good nor bad."""

    text: str
    good: bool | None


def summary_of(promise: Promise) -> Summary:
    """The box of a model: the verdict, and the numbers behind it."""
    verdict, good = judgement_of(promise)
    return Summary(verdict, _lines(promise), good)


def judgement_of(promise: Promise) -> Judgement:
    """Compare a model with the constant answer, then with logistic regression."""
    rates, constant = promise.rates, promise.constant_error
    always = f"always answering {promise.largest_class}"
    if rates.error >= constant:
        return Judgement(
            f"Do not use this model as it is: it has no fewer errors than {always}.", False
        )
    if is_vacuous(promise):
        return Judgement(
            "Right more often than a constant answer, but this movement is too large for a "
            f"promise: in the worst case this model has no fewer errors than {always}.",
            None,
        )
    if promise.logistic is None:
        return Judgement(
            f"Worth using: this model has fewer errors than {always}, now and if the rows "
            "move.",
            True,
        )
    return _beside_logistic(rates, promise.logistic, promise.noise or Rates(0.0, 0.0))


def is_vacuous(promise: Promise) -> bool:
    """Whether the constant answer promises as much as the model."""
    return promise.rates.worst_case_error >= promise.constant_error


def _beside_logistic(rates: Rates, logistic: Rates, noise: Rates) -> Judgement:
    now, moved = map(_compared, rates, logistic, noise)
    if now == moved:
        than = "as" if now == 0 else "than"
        told = f"this model has {MANY[now]} {than} {LOGISTIC}, now and if the rows move"
    else:
        told = (
            f"compared with {LOGISTIC}, this model has {MANY[now]} now, and {MANY[moved]} "
            "at most if the rows move"
        )
    if max(now, moved) <= 0 and now + moved < 0:
        return Judgement(f"Worth using: {told}.", True)
    if min(now, moved) > 0:
        return Judgement(f"Use {LOGISTIC} instead: {told}.", False)
    start = "A draw" if now == moved else "Mixed"
    return Judgement(f"{start}: {told}.", None)


def _compared(own: float, other: float, noise: float) -> int:
    """-1 if the own error is less, 0 if both are about the same, 1 if it is more."""
    if abs(own - other) <= CHANCE * noise:
        return 0
    difference = round(own, DECIMALS) - round(other, DECIMALS)
    return (difference > 0) - (difference < 0)


def _lines(promise: Promise) -> dict[str, str]:
    constant = share(promise.constant_error)
    lines = {
        "wrong now": f"{share(promise.rates.error)} of {promise.rows}",
        "wrong if rows move": f"{_promised(promise.rates.worst_case_error)}, for movement "
        f"by {promise.movement.told()} on average",
    }
    if len(promise.by_class) > 1:
        lines["classes that suffer most"] = _suffering(promise)
    lines[f"always {promise.largest_class}"] = f"{constant}, moved or not (largest class)"
    if promise.logistic is not None:
        lines[promise.about_logistic] = (
            f"{share(promise.logistic.error)} now, "
            f"{_promised(promise.logistic.worst_case_error)} if the rows move"
        )
    return lines


def _promised(worst: float) -> str:
    return "all may be wrong" if worst >= 1 else at_most(worst)


def _suffering(promise: Promise) -> str:
    """The classes with the largest worst-case errors, the largest first."""
    order = sorted(promise.by_class.items(), key=lambda each: -each[1].worst_case_error)
    named = "; ".join(
        f"{name}: {share(rates.error)} now, at most {percent(rates.worst_case_error)}"
        for name, rates in order[:NAMED]
    )
    return f"{named} (if the rows of that class move so far on average)"
