"""The page of a fitted model: in short, error rates, promises, and labels to check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..line_chart import line_chart
from ..page import Facts, Page, Part, Section, Table, Text
from ..review import percent
from ..words import counted
from .facts import (
    about_loss,
    checks_of,
    confusions,
    fit_facts,
    label_cost_text,
    lead_of,
)
from .promise import BUDGET
from .rates import rate_parts
from .reported import ReportedModel, reported_model
from .verdict import summary_of

SHOWN_SUSPECTS = 20
SHOWN_FEATURES = 30
PROMISES = "beats a constant"
DISTANCES = (0.1, 0.25, 0.5, 1.0)
LEFT_OUT = (
    "A dash marks a point that was far behind after the first folds, or promised no more "
    "than a constant classifier there. Such a point is left out of the other folds."
)
NO_FLAGS = (
    "Nothing stands out: every class is recognised, the promise says more than a constant "
    "answer would, and no column looks like an identifier."
)


def model_page(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str = "A robust model",
    row: Any = None,
    radius: float = BUDGET,
) -> Page:
    """A page about a fitted classifier of this library and labelled rows.

    Parameters
    ----------
    model : estimator
        The classifier, or a pipeline that ends in it.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Features in the form that the model takes.
    y : array-like of shape (n_samples,)
        Labels, each one of ``model.classes_``.
    title : str, default="A robust model"
        Title of the page.
    row : array-like of shape (n_samples,), default=None
        Numbers of the rows on the page; None counts the rows from 0.
    radius : float, default=0.1
        How far rows move on average in the page's box, in the units of the classifier's
        own features: standard deviations behind a ``StandardScaler``.

    Returns
    -------
    Page
        First a box with error rates, baselines and a verdict, and what to check before
        use.  Then figures: error rates, scores by radius if the model was found by a
        search, and certified radii.  Details come last: confusions, recall, the worst
        case, suspicious labels, coefficients and the fit.

    See Also
    --------
    model_card : The same as a model card in Markdown.

    Notes
    -----
    A model of ``wdrsvm fit`` has its baselines with it.  For other models, logistic
    regression is cross-validated on the rows given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from wdrsvm import RobustLinearSVC
    >>> from wdrsvm.report import model_page
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), RobustLinearSVC()).fit(X, y)
    >>> page = model_page(model, X, y)
    >>> [section.heading for section in page.sections][:2]
    ['In short', 'Error rates']
    """
    return page_of(reported_model(model, X, y, row, radius), title)


def page_of(
    reported: ReportedModel, title: str, tell: Callable[[str], None] = lambda what: None
) -> Page:
    """The page; ``tell`` is called with the heading of each section before it is made."""
    sections = []
    for heading, make in _makers(reported).items():
        tell(heading)
        sections.append(Section(heading, make(reported)))
    return Page(title, lead_of(reported), sections)


def _makers(reported: ReportedModel) -> dict[str, Callable[[ReportedModel], list[Part]]]:
    """The sections of the page in their order: in short, figures, details."""
    makers: dict[str, Callable[[ReportedModel], list[Part]]] = {
        "In short": _in_short,
        "Error rates": lambda reported: rate_parts(reported.promise),
    }
    if hasattr(reported.classifier, "cv_results_"):
        makers["Score against radius"] = _scores_by_radius
    makers |= {
        "Certified radii": _certified,
        "Right and wrong": confusions,
        "Worst case": _worst_case,
        "Suspicious labels": _suspects,
    }
    if hasattr(reported.chosen, "coef_"):
        makers["Coefficients"] = _coefficients
    return makers | {"The fit": _the_fit}


def _in_short(reported: ReportedModel) -> list[Part]:
    promise = reported.promise
    checks = checks_of(reported) or [Text(NO_FLAGS)]
    return [summary_of(promise), Text(promise.movement.meaning()), *checks]


def _the_fit(reported: ReportedModel) -> list[Part]:
    return [Text(about_loss(reported)), Facts(fit_facts(reported))]


def _scores_by_radius(reported: ReportedModel) -> list[Part]:
    table = reported.classifier.cv_results_
    (name,) = [key for key in table if key.startswith("mean_test_")][:1]
    mean, deviation = table[name], table[name.replace("mean", "std", 1)]
    points = [
        (label_cost_text(point["label_cost"]), point["radius"]) for point in table["params"]
    ]
    rows = [
        [f"{radius:.3g}", cost, *_finished(m, d), "no" if constant else "yes"]
        for (cost, radius), m, d, constant in zip(
            points, mean, deviation, table["constant"], strict=True
        )
    ]
    header = ["radius", "label cost", "mean score", "deviation over folds", PROMISES]
    best = reported.classifier.best_index_
    alt = f"The best mean score is {mean[best]:.3f}, at radius {points[best][1]:.3g}."
    curves: dict[str, list[tuple[float, float]]] = {}
    for k, (cost, radius) in enumerate(points):
        curves.setdefault(f"label cost {cost}", []).append((radius, mean[k]))
    caption = "Mean cross-validated score of each radius, one line for each label cost."
    figure = line_chart(curves, "radius", "mean score", caption, alt, log=True)
    parts: list[Part] = [figure, Table("Cross-validated scores", header, rows)]
    return [*parts, Text(LEFT_OUT)] if np.isnan(mean).any() else parts


def _finished(*values: float) -> list[float | None]:
    """The values; None for a point that the search left out of some folds."""
    return [None if np.isnan(value) else float(value) for value in values]


def _certified(reported: ReportedModel) -> list[Part]:
    try:
        radius = reported.classifier.certified_radius(reported.X)
    except ValueError as error:
        return [Text(str(error))]
    is_right = reported.predicted == reported.y
    # The curve ends here, because a few rows far from every boundary would stretch it.
    top = 3 * float(np.median(radius)) if np.isfinite(np.median(radius)) else 1.0
    distances = np.linspace(0, top, 200)
    shares = [float(np.mean(is_right & (radius > each))) for each in distances]
    rows = [[f"{each:g}", float(np.mean(is_right & (radius > each)))] for each in DISTANCES]
    alt = f"The curve falls from {shares[0]:.3f} at 0 to {shares[-1]:.3f} at {top:.3g}."
    caption = "Share of the rows that are right, and stay right however they move so far."
    curve = {"certified accuracy": list(zip(distances, shares, strict=True))}
    return [
        Text(
            "Distances are those of the features that the classifier sees. A category that "
            "can switch adds its cost."
        ),
        line_chart(curve, "distance", "certified accuracy", caption, alt),
        Table("Certified accuracy", ["distance", "certified accuracy"], rows),
    ]


def _worst_case(reported: ReportedModel) -> list[Part]:
    worst = reported.classifier.worst_case_distribution(reported.X, reported.y)
    mass = {
        kind: float(worst.weight[worst.kind == kind].sum())
        for kind in np.unique(worst.kind)
    }
    facts = {
        "budget that is spent": float(worst.transport_cost),
        "expected loss in this worst case": float(worst.risk),
        "its limit, the worst-case risk": float(worst.supremum),
        **{f"share of the weight that is {kind}": share for kind, share in mass.items()},
    }
    parts: list[Part] = [
        Text("What an adversary would do to these rows with the budget of the model."),
        Facts(facts),
    ]
    flips = _flips(reported, worst)
    if not flips:
        return [*parts, Text("The worst case changes no label: it only moves features.")]
    header = ["from", "to", "rows", "share of the weight"]
    return [*parts, Table("Labels that the adversary changes", header, flips)]


def _flips(reported: ReportedModel, worst: Any) -> list[list[Any]]:
    flipped = np.flatnonzero(worst.kind == "flipped")
    given, turned = reported.y[worst.source[flipped]], worst.y[flipped]
    pairs = sorted(set(zip(given.tolist(), turned.tolist(), strict=True)))
    rows = []
    for old, new in pairs:
        here = flipped[(given == old) & (turned == new)]
        rows.append([str(old), str(new), len(here), float(worst.weight[here].sum())])
    return rows


def _suspects(reported: ReportedModel) -> list[Part]:
    audit = reported.audit
    if isinstance(audit, str):
        return [Text(f"Labels were not audited: {audit}")]
    said = Text(
        f"{audit.sentence()} Every label is judged by models that never saw it. Rows are "
        "counted from 0. The command wdrsvm audit writes a page on which to decide."
    )
    shown = slice(0, min(audit.n_suspects, SHOWN_SUSPECTS))
    rows = [
        [int(reported.row[row]), str(given), str(suggested), percent(float(wrong))]
        for row, given, suggested, wrong in zip(
            audit.row[shown],
            audit.given[shown],
            audit.suggested[shown],
            audit.wrong_probability[shown],
            strict=True,
        )
    ]
    header = ["row", "given", "perhaps", "wrong with a probability of"]
    return [said, Table("Most suspicious first", header, rows)] if rows else [said]


def _coefficients(reported: ReportedModel) -> list[Part]:
    coef = reported.chosen.coef_
    order = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:SHOWN_FEATURES]
    names = reported.classes if len(coef) > 1 else reported.classes[1:]
    rows = [[str(reported.names[p]), *coef[:, p].tolist()] for p in order]
    rows.append(["intercept", *reported.chosen.intercept_.tolist()])
    n_features = coef.shape[1]
    kept = f"The {len(order)} largest of {counted(n_features, 'feature', 'features')}."
    if len(order) == n_features:
        kept = "All features, the largest coefficients first."
    header = ["feature", *(f"towards {name}" for name in names)]
    return [Text(kept), Table("Coefficients", header, rows)]
