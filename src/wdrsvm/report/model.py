"""The page of a fitted model: its accuracy, its promises, and labels to check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from ..robustness import audit_labels
from ..robustness.frames import feature_names
from .baselines import Baselines
from .line_chart import line_chart
from .page import Facts, Page, Part, Section, Table, Text, Verdict
from .promise import BUDGET, Promise, movement_of, promise_of
from .rates import rate_parts
from .words import counted

SHOWN_SUSPECTS = 20
# The ball of the models that audit the labels; its label cost trusts no label fully.
AUDIT_BALL = {"radius": 0.05, "label_cost": 2.0}
SHOWN_FEATURES = 30
PROMISES = "promises more than a constant"
DISTANCES = (0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class ReportedModel:
    """The classifier at the end of a pipeline, and rows in the form that it receives."""

    classifier: Any
    names: Any
    X: Any
    y: Any
    row: Any
    promise: Promise

    @property
    def chosen(self) -> Any:
        """The classifier; the best one if the model is a search."""
        return getattr(self.classifier, "best_estimator_", self.classifier)

    @property
    def classes(self) -> list[Any]:
        return list(self.classifier.classes_)


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
        How far rows move on average in the page's first sentence, in the units of the
        classifier's own features: standard deviations behind a ``StandardScaler``.

    Returns
    -------
    Page
        Error rates, also in the worst case and by class, confusions, recall,
        scores by radius if the model was found by a search, certified
        radii, the worst case, suspicious labels and coefficients.

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
    y = np.asarray(y)
    numbers = np.arange(len(y)) if row is None else np.asarray(row)
    judged = _judged(model, X, y, numbers, radius)
    makers: list[tuple[str, Callable[[ReportedModel], list[Part]]]] = [
        ("In short", _in_short),
        ("Error rates", lambda judged: rate_parts(judged.promise)),
        ("Right and wrong", _confusions),
        ("Certified radii", _certified),
        ("Worst case", _worst_case),
        ("Suspicious labels", _suspects),
    ]
    if hasattr(judged.classifier, "cv_results_"):
        makers.insert(3, ("Score against radius", _scores_by_radius))
    if hasattr(judged.chosen, "coef_"):
        makers.append(("Coefficients", _coefficients))
    sections = [Section(heading, make(judged)) for heading, make in makers]
    rows = counted(len(judged.y), "labelled row", "labelled rows")
    lead = f"{type(judged.chosen).__name__} judged on {rows}."
    return Page(title, lead, sections)


def _judged(model: Any, X: Any, y: Any, row: Any, radius: float) -> ReportedModel:
    baselines, movement = Baselines.of_model(model, y), movement_of(model, radius)
    if hasattr(model, "steps"):
        features, last = model[:-1].transform(X), model[-1]
        names = _names(model, features.shape[1])
    else:
        features, last = X, model
        names = feature_names(model, X.shape[1])
    chosen = getattr(last, "best_estimator_", last)
    promise = promise_of(chosen, features, y, baselines, movement)
    return ReportedModel(last, names, features, y, row, promise)


def _names(model: Any, n_features: int) -> Any:
    """Names of the features, without the name of the step that made the column."""
    names = feature_names(model, n_features)
    return np.array([str(name).rpartition("__")[2] for name in names], dtype=object)


def _in_short(judged: ReportedModel) -> list[Part]:
    chosen = judged.chosen
    risk = judged.classifier.worst_case_risk(judged.X, judged.y)
    model, baselines, movement = judged.promise.sentences()
    loss = (
        f"The expected loss, whatever an adversary with the model's own budget of "
        f"{chosen.radius:.3g} does to these rows, is at most {risk:.3g}."
    )
    facts = {
        "classes": ", ".join(map(str, judged.classes)),
        "features": judged.X.shape[1],
        "radius": float(chosen.radius),
        "label cost": str(chosen.label_cost),
        **_trained_for(chosen),
        "worst-case risk on these rows": float(risk),
        "solver": chosen.solver_,
    }
    return [Verdict(f"{model} {baselines}"), Text(movement), Text(loss), Facts(facts)]


def _trained_for(chosen: Any) -> dict[str, float]:
    """The objective of the fit on the training rows."""
    if hasattr(chosen, "worst_case_error_"):
        return {"worst-case error on the training rows": chosen.worst_case_error_}
    return {
        "worst-case risk on the training rows": float(chosen.objective_),
        "proven to be within": float(chosen.duality_gap_),
    }


def _confusions(judged: ReportedModel) -> list[Part]:
    predicted = judged.classifier.predict(judged.X)
    counts = confusion_matrix(judged.y, predicted, labels=judged.classes)
    names = [str(name) for name in judged.classes]
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


def _scores_by_radius(judged: ReportedModel) -> list[Part]:
    table = judged.classifier.cv_results_
    (name,) = [key for key in table if key.startswith("mean_test_")][:1]
    mean, deviation = table[name], table[name.replace("mean", "std", 1)]
    points = [(point["label_cost"], point["radius"]) for point in table["params"]]
    rows = [
        [f"{radius:.3g}", str(cost), *_finished(m, d), "no" if constant else "yes"]
        for (cost, radius), m, d, constant in zip(
            points, mean, deviation, table["constant"], strict=True
        )
    ]
    header = ["radius", "label cost", "mean score", "deviation over folds", PROMISES]
    best = judged.classifier.best_index_
    alt = f"The best mean score is {mean[best]:.3f}, at radius {points[best][1]:.3g}."
    curves: dict[str, list[tuple[float, float]]] = {}
    for k, (cost, radius) in enumerate(points):
        curves.setdefault(f"label cost {cost}", []).append((radius, mean[k]))
    figure = line_chart(
        curves, "radius", "mean score", "Scores of the search.", alt, log=True
    )
    return [figure, Table("Cross-validated scores", header, rows)]


def _finished(*values: float) -> list[float | None]:
    """The values; None for a point that the search left out of some folds."""
    return [None if np.isnan(value) else float(value) for value in values]


def _certified(judged: ReportedModel) -> list[Part]:
    try:
        radius = judged.classifier.certified_radius(judged.X)
    except ValueError as error:
        return [Text(str(error))]
    is_right = judged.classifier.predict(judged.X) == judged.y
    # The curve ends here, because a few rows far from every boundary would stretch it.
    top = 3 * float(np.median(radius)) if np.isfinite(np.median(radius)) else 1.0
    distances = np.linspace(0, top, 200)
    shares = [float(np.mean(is_right & (radius > each))) for each in distances]
    rows = [[f"{each:g}", float(np.mean(is_right & (radius > each)))] for each in DISTANCES]
    alt = f"The curve falls from {shares[0]:.3f} at 0 to {shares[-1]:.3f} at {top:.3g}."
    caption = "Share of the rows that stay right however far they move."
    curve = {"certified accuracy": list(zip(distances, shares, strict=True))}
    return [
        Text("Distances are those of the features that the classifier sees."),
        line_chart(curve, "distance", "certified accuracy", caption, alt),
        Table("Certified accuracy", ["distance", "certified accuracy"], rows),
    ]


def _worst_case(judged: ReportedModel) -> list[Part]:
    worst = judged.classifier.worst_case_distribution(judged.X, judged.y)
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
    flips = _flips(judged, worst)
    if not flips:
        return [*parts, Text("The worst case changes no label: it only moves features.")]
    header = ["from", "to", "rows", "share of the weight"]
    return [*parts, Table("Labels that the adversary changes", header, flips)]


def _flips(judged: ReportedModel, worst: Any) -> list[list[Any]]:
    flipped = np.flatnonzero(worst.kind == "flipped")
    given, turned = judged.y[worst.source[flipped]], worst.y[flipped]
    pairs = sorted(set(zip(given.tolist(), turned.tolist(), strict=True)))
    rows = []
    for old, new in pairs:
        here = flipped[(given == old) & (turned == new)]
        rows.append([str(old), str(new), len(here), float(worst.weight[here].sum())])
    return rows


def _suspects(judged: ReportedModel) -> list[Part]:
    estimator = type(judged.chosen)(**judged.chosen.get_params() | AUDIT_BALL)
    try:
        audit = audit_labels(judged.X, judged.y, estimator)
    except ValueError as error:
        return [Text(f"Labels were not audited: {error}")]
    said = Text(
        f"{audit.sentence()} Every label is judged by models that never saw it. Rows are "
        "counted from 0."
    )
    shown = slice(0, min(audit.n_suspects, SHOWN_SUSPECTS))
    rows = [
        [int(judged.row[row]), str(given), str(suggested), float(gain)]
        for row, given, suggested, gain in zip(
            *(
                part[shown]
                for part in (audit.row, audit.given, audit.suggested, audit.gain)
            ),
            strict=True,
        )
    ]
    header = ["row", "given", "perhaps", "log-odds"]
    return [said, Table("Most suspicious first", header, rows)] if rows else [said]


def _coefficients(judged: ReportedModel) -> list[Part]:
    coef = judged.chosen.coef_
    order = np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:SHOWN_FEATURES]
    names = judged.classes if len(coef) > 1 else judged.classes[1:]
    rows = [[str(judged.names[p]), *coef[:, p].tolist()] for p in order]
    rows.append(["intercept", *judged.chosen.intercept_.tolist()])
    kept = f"The {len(order)} largest of {counted(coef.shape[1], 'feature', 'features')}."
    header = ["feature", *(f"towards {name}" for name in names)]
    return [Text(kept), Table("Coefficients", header, rows)]
