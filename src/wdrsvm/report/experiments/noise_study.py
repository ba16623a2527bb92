"""The page of the noise study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...experiments.noise_data import (
    CONDITIONS,
    CROWD_CONDITIONS,
    N_COMPONENTS,
    N_TEST,
    N_TRAIN,
    TABLES,
)
from ...experiments.noise_study import (
    BALL,
    BUDGETS,
    MODELS,
    N_CANDIDATES,
    ON_A_PAR,
    QUICK_TABLES,
    RECIPE,
    REFERENCE,
    WEIGHTS,
)
from ...plotting._style import marker
from ..figures import COLOURS, new_figure, saved_figure
from ..page import Bullets, Figure, Section, Table, Text, Verdict
from .panels import NO_ERROR

LEAD = (
    "Tables with and without noise. Every model is tuned by cross-validation on the noisy "
    "training rows, with the same number of candidates. Test labels are right."
)
NOTE = (
    "Differences are to logistic regression with the same class weights, paired by table "
    "and repetition. Their standard error is that of the mean over tables. Labels of a "
    "crowd have none, because only one table has such labels. A star marks Wilcoxon's "
    "p < 0.05 over tables, not corrected for the number of comparisons. Certified "
    "accuracy is the share of test rows that are right at every perturbation up to "
    f"{BUDGETS['l1']:g} in l1 or {BUDGETS['l2']:g} in l2, in standard deviations; SVC has "
    "no certificate. The worst-case risk is on test rows, radius "
    f"{BALL.radius:g} and label cost {BALL.label_cost:g}, at the best scale of the scores. "
    f"{RECIPE} is the recipe: trusted labels, radii below radius_max. It was chosen by a "
    "pilot on other splits of these tables."
)
CLAIM = (
    f"The claim: no robust model is more than {ON_A_PAR:g} points behind tuned "
    f"{REFERENCE}, neither on average over tables nor, beyond chance, on any table."
)
# The score of a verdict is the score by which the candidates were chosen.
SCORES = {"none": "accuracy", "balanced": "balanced_accuracy"}
SHOWN = ("accuracy", "certified_l1", "certified_l2", "worst_case_risk")
SIZES = {
    preset: f"{', '.join(tables)}, as far as they are at hand; at most {N_TRAIN} training "
    f"rows (AI4I 300) and {N_TEST} test rows"
    for preset, tables in {"quick": QUICK_TABLES, "full": TABLES}.items()
}


def sections(tables: dict[str, Any], folder: Path) -> list[Section]:
    """Verdicts, differences, ranks and means."""
    differences = tables["differences"]
    return [
        Section(
            "Verdict",
            [Text(CLAIM), *_verdicts(differences), Text(NOTE), Bullets(_limits())],
        ),
        Section(
            "Accuracy",
            [
                _figure(differences, "accuracy", folder),
                _difference_table(differences, "accuracy"),
            ],
        ),
        Section(
            "Certified accuracy",
            [
                _figure(differences, "certified_l1", folder),
                _difference_table(differences, "certified_l1"),
                _difference_table(differences, "certified_l2"),
            ],
        ),
        Section(
            "Rare classes",
            [
                _difference_table(differences, "balanced_accuracy"),
                _difference_table(differences, "worst_recall"),
            ],
        ),
        Section("Average ranks", [_rank_table(tables["ranks"])]),
        Section("Means", [_mean_table(tables["means"], metric) for metric in SHOWN]),
    ]


def _limits() -> list[str]:
    return [
        "Training sets have at most 300 rows; what holds there need not hold for "
        "thousands.",
        f"Tables with more than {2 * N_COMPONENTS} features are reduced to "
        f"{N_COMPONENTS} principal components.",
        f"Grids are coarse: {N_CANDIDATES} candidates for every model.",
        "The balls here are in l2; a promise in another norm needs a fit in that norm.",
    ]


def _verdicts(differences: Any) -> list[Verdict]:
    robust = [name for name, model in MODELS.items() if model.robust]
    return [
        _verdict(differences, model, weights, metric)
        for model in robust
        for weights, metric in SCORES.items()
    ]


def _verdict(differences: Any, model: str, weights: str, metric: str) -> Verdict:
    """Whether a model is not behind on average, and on no table by more than chance."""
    part = differences[
        (differences["model"] == model)
        & (differences["metric"] == metric)
        & (differences["weights"] == weights)
    ].dropna(subset=["difference"])
    averages = part[part["condition"].isin(CONDITIONS)]
    worst = averages.loc[averages["difference"].idxmin()]
    name = model if weights == "none" else f"{model} with balanced weights"
    text = (
        f"{name}, {metric.replace('_', ' ')} against tuned {REFERENCE}: between "
        f"{_with_error(worst['difference'], worst['standard_error'])} "
        f"({worst['condition']}) and {averages['difference'].max():+.1f} points on average "
        f"over tables; {_worst_table(part)}."
    )
    if part["worst_error"].isna().any():
        return Verdict(f"{text} But {NO_ERROR}")
    nowhere = worst["difference"] >= -ON_A_PAR and not part["tables_behind"].sum()
    return Verdict(text, bool(nowhere))


def _worst_table(part: Any) -> str:
    """The table with the largest deficit, and the number of deficits beyond chance."""
    worst = part.loc[part["worst_difference"].idxmin()]
    return (
        f"worst {_with_error(worst['worst_difference'], worst['worst_error'])} on "
        f"{worst['worst_table']}, {worst['condition']}; behind by more than {ON_A_PAR:g} "
        f"and two standard errors in {part['tables_behind'].sum()} of "
        f"{part['tables'].sum()} tables and conditions"
    )


def _with_error(mean: float, error: float) -> str:
    """A difference, and its standard error if there is one."""
    return f"{mean:+.1f}" if error != error else f"{mean:+.1f} ({error:.1f})"


def _conditions(differences: Any) -> list[str]:
    there = set(differences["condition"])
    return [name for name in (*CONDITIONS, *CROWD_CONDITIONS) if name in there]


def _difference_table(differences: Any, metric: str) -> Table:
    """Differences and standard errors, one row per model and weights."""
    part = differences[differences["metric"] == metric].dropna(subset=["difference"])
    conditions = _conditions(part)
    rows = []
    for weights in (name for name in WEIGHTS if name in set(part["weights"])):
        for model in (name for name in MODELS if name in set(part["model"])):
            chosen = part[(part["model"] == model) & (part["weights"] == weights)]
            cells = chosen.set_index("condition")
            rows.append(
                [model, weights]
                + [_cell(cells.loc[c]) if c in cells.index else "" for c in conditions]
            )
    caption = f"{metric.replace('_', ' ')}: points above {REFERENCE} (standard error)"
    return Table(caption, ["model", "class weights", *conditions], rows)


def _cell(row: Any) -> str:
    star = " *" if row["p_value"] < 0.05 else ""
    return _with_error(row["difference"], row["standard_error"]) + star


def _rank_table(ranks: Any) -> Table:
    ordered = ranks.sort_values("all")
    columns = ["name", *[c for c in (*CONDITIONS, *CROWD_CONDITIONS) if c in ranks], "all"]
    return Table.of_frame("Average rank of accuracy; 1 is best", ordered[columns])


def _mean_table(means: Any, metric: str) -> Table:
    wide = means.pivot(index="name", columns="condition", values=metric)
    columns = [c for c in (*CONDITIONS, *CROWD_CONDITIONS) if c in wide]
    caption = f"Mean {metric.replace('_', ' ')} over tables"
    return Table.of_frame(caption, wide[columns].dropna().reset_index())


def _figure(differences: Any, metric: str, folder: Path) -> Figure:
    part = differences[
        (differences["metric"] == metric)
        & (differences["weights"] == "none")
        & differences["condition"].isin(CONDITIONS)
    ].dropna(subset=["difference"])
    models = [name for name in MODELS if name in set(part["model"])]
    figure, ax = new_figure(9, 3.6)
    conditions = [c for c in CONDITIONS if c in set(part["condition"])]
    for number, (colour, model) in enumerate(zip(COLOURS, models, strict=False)):
        line = part[part["model"] == model].set_index("condition").loc[conditions]
        places = [place + 0.1 * (number - len(models) / 2) for place in range(len(line))]
        ax.errorbar(
            places,
            line["difference"],
            yerr=line["standard_error"].fillna(0.0),
            fmt=marker(number),
            markersize=4,
            color=colour,
            label=model,
        )
    ax.axhline(0.0, color="#888", linewidth=1)
    ax.set_xticks(range(len(conditions)), conditions)
    ax.set_ylabel(f"points above {REFERENCE}")
    figure.legend(loc="outside right", fontsize=8)
    return saved_figure(
        figure,
        folder / f"differences-{metric.replace('_', '-')}",
        f"{metric.replace('_', ' ').capitalize()} of unweighted models less that of "
        f"{REFERENCE}, mean over tables with one standard error.",
        f"Differences in {metric.replace('_', ' ')} to {REFERENCE} for each model and "
        "condition; the numbers are in the table below.",
    )
