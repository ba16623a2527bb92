"""``wdrsvm fit``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import Pipeline

from ...estimators._notebook import doubts_labels
from ...inputs.frames import CATEGORY_COST
from ...model_files import save_model
from ...problem import LOSSES, NORMS
from ...report.model.baselines import ATTRIBUTE, Baselines
from ...report.model.promise import Promise
from ..models.classifiers import HINGE, KERNELS, LABEL_COST, LINEAR, NORM, RADIUS, Options
from ..models.promises import WITHSTAND, promised
from ..models.saved import TARGET, labelled_for, within_limits
from ..models.withstand import Choice, best_to_withstand
from ..options import TableOptions, learned_reading
from ..output import (
    Categories,
    Decimal,
    Drop,
    Json,
    LabelKind,
    MergeRare,
    MinRows,
    Numbers,
    Output,
    Share,
    Target,
)
from ..progress import fold_bar
from ..tables.features import Labelled, Prepared
from ..tables.files import checked_output, listed, read_table
from ..tables.labels import FOLDS, about_folds
from ..tables.ranges import GivenRanges, parsed_ranges, with_ranges
from ..tables.trust import TrustColumn

# With an infinite label cost, nothing bounds the coefficients of features that the
# adversary cannot move.  Therefore the search tries finite label costs only.
FINITE_LABEL_COSTS = (1.0, 2.0, 8.0)

EXAMPLES = """Examples:

wdrsvm fit penguins.csv --target species --cv --out penguins.wdrsvm

wdrsvm fit penguins.csv --target species --withstand 0.1 --out penguins.wdrsvm

wdrsvm fit train.parquet --target y --radius 0.1 --label-cost inf --norm l1 --out y.wdrsvm

wdrsvm fit train.csv --target y --cv --loss logistic --out y.wdrsvm

wdrsvm fit train.csv --target y --range age=0:120 --category-cost 2 --out y.wdrsvm

wdrsvm fit train.csv --target y --doubt-labels --out y.wdrsvm

wdrsvm fit checked.csv --target y --cv --trust-column label_trust --out y.wdrsvm

wdrsvm fit train.csv --target y --cv --kernel rbf --test test.csv --out y.wdrsvm
"""

# Labels with a smaller belief are not believed.
BELIEVED = 0.5


def register(app: Any) -> None:
    """Add the command."""
    app.command("fit", epilog=EXAMPLES)(fit)


def fit(
    train: Annotated[
        Path, typer.Argument(help="Table: .csv, .tsv, .parquet, .npz or .svmlight.")
    ],
    target: Target,
    out: Annotated[Path, typer.Option(help="Model file to write.")],
    cv: Annotated[
        bool, typer.Option("--cv", help="Choose radius and label cost by cross-validation.")
    ] = False,
    withstand: Annotated[
        float | None,
        typer.Option(
            help="Learn for the least error if rows move by this distance on average, in "
            "standard deviations."
        ),
    ] = None,
    doubt_labels: Annotated[
        bool,
        typer.Option(
            "--doubt-labels",
            help="Some labels are wrong at random: learn which ones not to believe.",
        ),
    ] = False,
    radius: Annotated[
        float | None,
        typer.Option(
            help=f"How far the adversary may move rows on average; {RADIUS} if not given."
        ),
    ] = None,
    label_cost: Annotated[
        float | None,
        typer.Option(help=f"Cost of changing a label, or inf; {LABEL_COST} if not given."),
    ] = None,
    loss: Annotated[
        str, typer.Option(help=f"One of {', '.join(LOSSES)}; logistic has probabilities.")
    ] = HINGE,
    kernel: Annotated[str, typer.Option(help=f"One of {', '.join(KERNELS)}.")] = LINEAR,
    norm: Annotated[str, typer.Option(help=f"One of {', '.join(NORMS)}.")] = NORM,
    category_cost: Annotated[
        float, typer.Option(help="Standard deviations that a switched category costs.")
    ] = CATEGORY_COST,
    ranges: GivenRanges = None,
    landmarks: Annotated[
        int | None, typer.Option(help="Number of landmark rows that approximate a kernel.")
    ] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give every class the same weight.")
    ] = False,
    drop: Drop = None,
    numbers: Numbers = None,
    categories: Categories = None,
    decimal: Decimal = None,
    labels: LabelKind = None,
    min_rows: MinRows = None,
    merge_rare: MergeRare = None,
    trust_column: TrustColumn = None,
    test: Annotated[Path | None, typer.Option(help="Table to test the model on.")] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print a line for each fold of --cv.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Learn a robust classifier from a table and save it.

    Numbers are standardised.  Texts become categories, which the adversary may switch at
    a cost.  In a table with categories, numbers stay within their ranges.  Missing values
    are filled in.  The model file contains all of these steps.
    """
    output = Output(as_json)
    options = Options(
        *(cv, radius, label_cost, loss, kernel, norm, landmarks, balanced),
        withstand=withstand,
        doubt_labels=doubt_labels,
        trust_column=trust_column,
        category_cost=category_cost,
        ranges=parsed_ranges(ranges),
    )
    classifier = options.classifier()
    asked = TableOptions(
        *(drop, numbers, categories, decimal, labels, min_rows, merge_rare, trust_column)
    )
    asked.check()
    checked_output(out, train, *([] if test is None else [test]))
    with output.working("Reading"):
        tested = None if test is None else read_table(test)
        data, columns = asked.prepared(train, target)
        columns = with_ranges(columns, options.ranges, train)
        output.notes += [
            *data.notes,
            *columns.notes,
            *_about_categories(columns, classifier, options),
            *(about_folds(data.y) if options.has_folds else []),
        ]
    with output.working("Fitting", is_shown=not options.has_folds):
        choice = _fit(classifier, columns, data, options, verbose)
        classifier = classifier if choice is None else choice.classifier
        baselines = Baselines.learned(columns.features, data.y)
    output.notes = [
        _for_a_search(note) if options.has_folds else note for note in output.notes
    ]
    learned = learned_reading(data, columns) | {WITHSTAND: withstand, TARGET: target}
    model = _with_columns(classifier, columns, learned, baselines)
    facts = _facts(classifier, columns.features, data.y, choice)
    output.notes += _about_disbelief(classifier, data, train, target)
    save_model(model, out)
    if tested is None:
        promise = promised(model, columns.features, data.y, kind="training")
    else:
        about_test, promise = _tested(model, labelled_for(model, tested, target), output)
        facts |= about_test
    output.show({"model": str(out), **facts}, promise)


def _with_columns(
    classifier: Any, columns: Prepared, learned: dict[str, Any], baselines: Baselines
) -> Pipeline:
    """The model as it is saved: with all that prepares a table, and its baselines."""
    model = Pipeline([("columns", columns.transformer), ("classifier", classifier)])
    model.reading_ = learned
    setattr(model, ATTRIBUTE, baselines.plain())
    return model


def _tested(model: Any, rows: Any, output: Output) -> tuple[dict[str, Any], Promise]:
    """Facts about the rows of a test table, and the promise on those within the limits."""
    output.notes += rows.notes
    facts = _test_facts(model, rows)
    rows = within_limits(model, rows)
    output.notes += rows.notes
    return facts, promised(model, model[0].transform(rows.X), rows.y, kind="test")


def _about_categories(columns: Prepared, classifier: Any, options: Options) -> list[str]:
    if not columns.categories:
        return []
    names = listed(columns.categories)
    if options.doubt_labels:
        return [f"Categories, which here can be touched like numbers: {names}."]
    if not hasattr(classifier, "feature_cost"):
        return [f"Categories, which with a kernel can be touched like numbers: {names}."]
    cost = options.category_cost
    if np.isfinite(cost):
        unit = "standard deviation" if cost == 1 else "standard deviations"
        return [
            f"Categories, each of which the adversary may switch at a cost of {cost:g} "
            f"{unit}, while numbers stay within their ranges: {names}."
        ]
    said = [f"Categories, which the adversary cannot touch (cost inf): {names}."]
    if hasattr(classifier, "label_costs"):
        tried = ", ".join(f"{cost:g}" for cost in FINITE_LABEL_COSTS)
        said.append(f"Label costs tried, finite for the sake of the categories: {tried}.")
    elif np.isinf(classifier.label_cost):
        said.append(
            "At label cost inf nothing bounds the coefficients of untouchable categories; "
            "a finite one does."
        )
    return said


def _has_untouchable(columns: Prepared, options: Options) -> bool:
    return bool(columns.categories) and bool(np.isinf(options.category_cost))


def _fit(
    classifier: Any, columns: Prepared, data: Labelled, options: Options, verbose: bool
) -> Choice | None:
    _set_folds(classifier, data.y, options)
    _set_costs(classifier, columns, options)
    with fold_bar(classifier, verbose) if options.has_folds else nullcontext():
        if options.withstand is not None:
            return best_to_withstand(classifier, columns.features, data.y)
        trust = {} if data.trust is None else {"label_trust": data.trust}
        classifier.fit(columns.features, data.y, **trust)
    return None


def _set_folds(classifier: Any, y: Any, options: Options) -> None:
    """No more folds than the smallest class has rows."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if options.has_folds and not (options.doubt_labels and smallest >= FOLDS):
        classifier.set_params(cv=min(FOLDS, smallest))


def _set_costs(classifier: Any, columns: Prepared, options: Options) -> None:
    """The adversary may switch categories at their cost, and keeps numbers in their
    ranges, unless labels are doubted.

    The search for doubtful labels tries an infinite label cost, which bounds only the
    coefficients of features that can be moved.
    """
    if options.doubt_labels or not hasattr(classifier, "feature_cost"):
        return
    classifier.set_params(**columns.limits(options.category_cost))
    if options.has_folds and _has_untouchable(columns, options):
        classifier.set_params(label_costs=FINITE_LABEL_COSTS)


def _for_a_search(note: str) -> str:
    """A note without advice about a radius that the search has chosen."""
    kept, _, advice = note.partition(" Choose a radius below")
    return f"{kept} No radius that was tried has a better score." if advice else note


def _facts(classifier: Any, features: Any, y: Any, choice: Choice | None) -> dict[str, Any]:
    facts: dict[str, Any] = {} if choice is None else choice.facts()
    facts |= {
        "rows": len(y),
        "features": features.shape[1],
        "classes": classifier.classes_.tolist(),
    }
    if hasattr(classifier, "best_score_"):
        facts["cross-validated score"] = classifier.best_score_
    chosen = getattr(classifier, "best_estimator_", classifier)
    return (
        facts
        | _about_beliefs(chosen)
        | {
            "radius": float(chosen.radius),
            "label cost": float(chosen.label_cost),
            "training accuracy": Share(np.mean(chosen.predict(features) == y)),
            **_trained_for(chosen),
            "solver": chosen.solver_,
        }
    )


def _about_beliefs(chosen: Any) -> dict[str, Any]:
    """How many labels were not believed, if labels could be doubted."""
    if not doubts_labels(chosen):
        return {}
    doubted = int((chosen.label_belief_ < BELIEVED).sum())
    return {"labels not believed": doubted}


def _about_disbelief(
    classifier: Any, data: Labelled, train: Path, target: str
) -> list[str]:
    """The rows whose labels were not believed, the worst first, and how to read them."""
    chosen = getattr(classifier, "best_estimator_", classifier)
    if not doubts_labels(chosen):
        return []
    order = np.argsort(chosen.label_belief_, kind="stable")
    doubted = data.row[order[chosen.label_belief_[order] < BELIEVED]].tolist()
    if not doubted:
        return []
    return [
        f"Rows whose labels were not believed, counted from 0: {listed(doubted)}. Next: "
        f"wdrsvm audit {quote(str(train))} --target {quote(target)} --out suspects.html "
        "shows the labels to check."
    ]


def _trained_for(chosen: Any) -> dict[str, float]:
    """The objective of the fit, and its largest distance to the optimum if it is known."""
    if hasattr(chosen, "worst_case_error_"):
        return {"bound of the worst-case error": float(chosen.objective_)}
    if doubts_labels(chosen):
        return {"objective": float(chosen.objective_)}
    return {
        "certified worst-case risk": float(chosen.objective_),
        "duality gap": float(chosen.duality_gap_),
    }


def _test_facts(model: Any, rows: Any) -> dict[str, Any]:
    predicted = model.predict(rows.X)
    return {
        "test rows": len(rows.y),
        "test accuracy": Share(np.mean(predicted == rows.y)),
        "balanced test accuracy": Share(balanced_accuracy_score(rows.y, predicted)),
    }
