"""The page of Experiment 2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...experiments.real_data import LABEL_COSTS, RADII, TABLES
from ...experiments.splits import INFERRED, READINGS
from ..figures import COLOURS, new_figure, saved_figure
from ..page import Bullets, Figure, Section, Table, Text, Verdict
from .panels import NO_ERROR

LEAD = (
    "Seven models on five tables: what the paper prints, what we find with its protocol, "
    "and what an honest protocol gives."
)
LINEAR = ("DR-MSVM", "DR-OVA", "R-MSVM", "R-MLR")
KERNEL = ("kDR-MSVM", "kDR-OVA", "kR-MSVM")
# The printed deviations of Penguins are too small for 103 test rows.  Therefore Penguins
# is compared in percentage points.
IN_POINTS, POINTS = "penguins", 0.5
ERRORS = 2.0
AS_PUBLISHED = (
    "As published: raw features, no intercept, 70/30 splits, the peak over radius and "
    "label cost of the mean test accuracy. This chooses on the test set, so all accuracies "
    "are too high. R-MSVM is label_cost=inf. R-MLR is read as the robust logistic "
    "regression with the same norm and label_cost=inf; scikit-learn's with C = 1/(N "
    "radius) is shown too."
)
AS_IT_SHOULD_BE = (
    "As it should be: features standardised, with an intercept, radius and label cost "
    "chosen by three-fold cross-validation inside the training set. The table has mean, "
    "standard deviation and number of repetitions. Kernel machines take most of the time "
    "and have fewer repetitions. kDR-MSVM has the exact bound, not the paper's triangle "
    "bound."
)
SIZES = dict.fromkeys(
    ("quick", "full"),
    "70/30 splits; AI4I 300 training rows (278 healthy) and 40 test rows per class; radii "
    f"{', '.join(f'{radius:g}' for radius in RADII)}, label costs "
    f"{', '.join(f'{cost:g}' for cost in LABEL_COSTS)}",
)


def sections(tables: dict[str, Any], folder: Path) -> list[Section]:
    """Verdicts, both protocols, and kernels."""
    table = tables["real_data"]
    return [
        Section("Verdict", _verdicts(table)),
        Section("Published and ours", [Text(AS_PUBLISHED), _figure(table, folder)]),
        Section("Table by table", [_compared(table, name) for name in TABLES]),
        Section("As it should be", [Text(AS_IT_SHOULD_BE), _nested(table)]),
        Section(
            "Kernel machines and AI4I", [Bullets(_readings(table)), _ai4i_readings(table)]
        ),
        *_inferred(table),
    ]


def agrees(row: Any) -> bool:
    """Whether means agree: within two standard errors, or half a point on Penguins."""
    if row["table"] == IN_POINTS:
        return bool(abs(row["difference"]) <= POINTS)
    return bool(abs(row["in_errors"]) <= ERRORS)


def _verdicts(table: Any) -> list[Verdict]:
    printed = table.dropna(subset=["published"])
    small = printed[printed["table"].isin(TABLES) & (printed["table"] != "ai4i")]
    groups = {
        "Linear models on Wine, Penguins, Iris, Seeds": small[small["model"].isin(LINEAR)],
        "Kernel models on Wine, Penguins, Iris, Seeds": small[small["model"].isin(KERNEL)],
        "All models on AI4I": printed[
            (printed["table"] == "ai4i") & printed["model"].isin(LINEAR + KERNEL)
        ],
    }
    return [_verdict(name, rows) for name, rows in groups.items()]


def _verdict(name: str, rows: Any) -> Verdict:
    """The verdict on some rows; none if one repetition has no standard error."""
    if (rows["in_errors"].isna() & (rows["table"] != IN_POINTS)).any():
        return Verdict(f"{name}: {NO_ERROR}")
    holds = rows.apply(agrees, axis=1)
    text = (
        f"{name}: {holds.sum()} of {len(rows)} printed means are within two standard "
        "errors of the difference (half a point on Penguins)."
    )
    apart = [
        f"{row['model']} on {row['table']} ({row['difference']:+.2f} points)"
        for _, row in rows[~holds].iterrows()
    ]
    if apart:
        text += f" Apart: {', '.join(apart)}."
    return Verdict(text, bool(holds.all()))


def _compared(table: Any, name: str) -> Table:
    names = {
        "model": "model",
        "published": "published %",
        "published_sd": "sd",
        "ours": "ours %",
        "ours_sd": "our sd",
        "difference": "difference, points",
        "in_errors": "in standard errors",
        "radius": "at radius",
        "label_cost": "label cost",
        "repetitions": "repetitions",
    }
    part = table[table["table"] == name][list(names)].rename(columns=names)
    percent = [name for name in part.columns if name not in ("model", "at radius")]
    part = part.round(dict.fromkeys(percent, 2))
    return Table.of_frame(f"{name}: peaks as published", part)


def _nested(table: Any) -> Table:
    part = table.dropna(subset=["nested"])
    cells = [
        f"{row['nested']:.1f} ({_deviation(row['nested_sd'])}{row['nested_repetitions']:g})"
        for _, row in part.iterrows()
    ]
    wide = part.assign(cell=cells).pivot(index="model", columns="table", values="cell")
    wide = wide.reindex(columns=list(TABLES)).fillna("")
    ordered = wide.loc[[model for model in table["model"].unique() if model in wide.index]]
    return Table.of_frame(
        "Test accuracy in percent, tuned inside the training set (deviation, repetitions)",
        ordered.reset_index(),
    )


def _deviation(value: float) -> str:
    """The deviation as text; empty for a single repetition, which has none."""
    return "" if value != value else f"{value:.1f}, "


def _ai4i_readings(table: Any) -> Table:
    """Our peaks for every set of classes, and the printed peaks."""
    part = table[table["table"].isin(("ai4i", *READINGS))].dropna(subset=["published"])
    wide = part.pivot(index="model", columns="table", values="ours")
    printed = part.groupby("model")["published"].first()
    wide = wide.reindex(columns=["ai4i", *READINGS]).round(2)
    wide.insert(0, "published", printed)
    order = [model for model in (*LINEAR, *KERNEL) if model in wide.index]
    return Table.of_frame(
        "AI4I with all four faults, and with three of them: peaks in percent",
        wide.loc[order].reset_index(),
    )


def _inferred(table: Any) -> list[Section]:
    """The reading of AI4I that was inferred from the print, if it was run."""
    if INFERRED not in set(table["table"]):
        return []
    parts = [Text(INFERENCE), _compared(table, INFERRED)]
    return [Section("AI4I, an inferred reading", parts)]


INFERENCE = (
    "This reading is an inference from the printed means, and not a statement about the "
    "authors. Some 25 readings were tried, and this one was selected because it fits all "
    "seven models. Here it is run on other seeds. Rows without a machine failure are "
    "healthy, rows with several faults are left out, 276 healthy rows and 6 per fault are "
    "for training, and 40 rows per class are for testing. The faults for training are test "
    "rows too: with 42 rows of TWF, 40 and 6 cannot be disjoint."
)


def _readings(table: Any) -> list[str]:
    """The results of plausible readings, where the paper does not print a detail."""
    kernels = table[table["model"].str.startswith("kDR-MSVM")]
    kernels = kernels[kernels["table"].isin(TABLES)]
    sentences = []
    for name, part in kernels.groupby("table", sort=False):
        values = ", ".join(
            f"{row['model']} {row['ours']:.2f}" for _, row in part.iterrows()
        )
        sentences.append(f"{name}: {values}; printed {part['published'].iloc[0]:.2f}.")
    printed = table[(table["table"] == "ai4i")].dropna(subset=["published"])
    below = int((printed["difference"] < 0).sum())
    sentences.append(
        f"AI4I with five classes: {below} of {len(printed)} models are below the print."
    )
    return [*sentences, *FINDINGS]


# The findings from plausible readings; their accuracies are in the tables of the page.
FINDINGS = (
    "The bound in the kernel program (triangle, squared norms as in the authors' program, "
    "or exact) hardly moves the accuracy: the squared norms are the triangle bound at a "
    "radius and label cost smaller by a factor of 1.41.",
    "On raw features with gamma = 1/P most kernel values are next to nothing: the largest "
    "one of a test row with a training row has the median 2e-4 on Wine, 1e-3 on Penguins "
    "and 5e-19 on AI4I, but 0.98 on Iris and Seeds. Where it is that small the machines "
    "decide by the nearest training row, whatever radius and label cost are, and "
    "accuracies are low.",
    "AI4I: scaling the features or adding the product type does not bring five classes "
    "closer to the print; leaving out one fault does. With four classes TWF's 46 rows are "
    "too few for a balanced test set of 200, which the paper states, so this is a reading, "
    "not an answer.",
)


def _figure(table: Any, folder: Path) -> Figure:
    figure, axes = new_figure(10, 3.2, ncols=len(TABLES))
    for ax, name in zip(axes, TABLES, strict=True):
        part = table[(table["table"] == name)].dropna(subset=["published"])
        part = part[part["model"].isin(LINEAR + KERNEL)]
        places = range(len(part))
        pairs = (("published", -0.12, COLOURS[1]), ("ours", 0.12, COLOURS[0]))
        for column, shift, colour in pairs:
            ax.errorbar(
                part[column],
                [place + shift for place in places],
                xerr=part[f"{column}_sd"].fillna(0.0),
                fmt="o",
                markersize=4,
                color=colour,
                label=column,
            )
        ax.set_yticks(places, part["model"] if ax is axes[0] else [])
        ax.invert_yaxis()
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("accuracy %")
    axes[0].legend(fontsize=7)
    return saved_figure(
        figure,
        folder / "published-and-ours",
        "Peak mean accuracy and one standard deviation, published and ours.",
        "Five panels, one per table, with the published and our mean accuracy of seven "
        "models side by side; the numbers are in the tables below.",
    )
