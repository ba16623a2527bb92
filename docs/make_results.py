"""Small tables and figures for the documentation from the results of full runs.

Run as ``python docs/make_results.py FOLDER`` with the folder of ``wdrsvm reproduce``, or
with ``benchmarks/results``.
"""

from __future__ import annotations

import json
import shutil
import sys
from itertools import product
from pathlib import Path

import pandas

from wdrsvm.experiments.noise_data import CONDITIONS, CROWD_CONDITIONS
from wdrsvm.experiments.noise_study import MODELS, WEIGHTS
from wdrsvm.experiments.real_data import TABLES as TABLES_OF_THE_PAPER

RESULTS = Path(__file__).parent / "results"
SIMULATION = {
    "n_classes": "C",
    "n_features": "P",
    "balance": "training set",
    "WDR-MSVM peak": "WDR-MSVM",
    "DR-OVA-SVM peak": "DR-OVA-SVM",
    "lead": "lead",
    "standard_error": "s.e.",
}
SUBGRADIENT = {
    "N": "N",
    "P": "P",
    "C": "C",
    "ratio": "ratio",
    "lowest_ratio": "lowest",
    "ratio_at_once": "ratio at once",
    "above": "above optimum",
    "accuracy": "Algorithm 1",
    "peer_accuracy": "barrier",
    "repetitions": "repetitions",
}
CLAIMS = (
    "verdicts",
    "worst-case-error-differences",
    "rare-classes-gains",
    "rare-classes-gains-by-table",
    "wrong-labels-gains",
    "wrong-labels-gains-by-table",
    "many-classes-found",
)
VERDICT = ("claim", "aim", "found", "reached")
FIGURES = {
    "simulation": ("curves-4-classes", "curves-8-classes"),
    "real-data": ("published-and-ours",),
    "scalability": ("times-linear", "ratios-linear", "times-kernel", "ratios-kernel"),
    "subgradient": ("ratio", "accuracy"),
    "noise-study": ("differences-accuracy", "differences-certified-l1"),
}


# Sizes of the tables of the benchmark family b13.
SIZES = {
    "5000 rows": "5000 x 20 x 6",
    "100 000 rows": "100 000 x 20 x 6",
    "embeddings": "3000 x 384 x 20, unit rows",
}


def beside_sklearn(path: Path) -> None:
    """Times of scikit-learn's classifiers over ours, to two digits."""
    records = pandas.DataFrame(json.loads(path.read_text(encoding="utf-8"))["records"])
    table = pandas.DataFrame({"rows x features x classes": records["data"].map(SIZES)})
    table["our loss"] = records["loss"]
    table["label cost"] = records["label_cost"].map(lambda cost: f"{float(cost):g}")
    for peer in ("LogisticRegression", "LinearSVC"):
        table[peer] = records[peer].map(two_digits)
    table.to_csv(RESULTS / "beside-sklearn.csv", index=False)


def two_digits(ratio: float) -> str:
    """A ratio to two digits, without an exponent."""
    return f"{float(f'{ratio:.2g}'):g}"


def main(folder: Path) -> None:
    """Write every table whose experiment is there, and copy its figures."""
    if (folder / "b13.json").is_file():
        beside_sklearn(folder / "b13.json")
    if (folder / "claims-full").is_dir():
        claims(folder / "claims-full")
    for name, tables in TABLES.items():
        source = folder / f"{name}-full"
        if source.is_dir():
            for target, make in tables.items():
                table = make(source)
                table.to_csv(RESULTS / f"{target}.csv", index=False, lineterminator="\n")
            for figure in FIGURES[name]:
                shutil.copy(source / f"{figure}.png", RESULTS / f"{name}-{figure}.png")


def chosen(summary: str, columns: dict[str, str], digits: int = 2):
    """A maker of a table of some columns of a summary."""

    def make(source: Path):
        table = pandas.read_csv(source / f"summary-{summary}.csv").convert_dtypes()
        return table[list(columns)].rename(columns=columns).round(digits)

    return make


def real_data(source: Path):
    """Published and ours side by side, as published and tuned inside."""
    table = _real_data(source)
    table = table[table["table"].isin(TABLES_OF_THE_PAPER)]
    return pandas.DataFrame(
        {
            "table": table["table"],
            "model": table["model"],
            "published": _with_deviation(table, "published"),
            "ours": _with_deviation(table, "ours"),
            "difference": table["difference"].round(2),
            "in s.e.": table["in_errors"].round(2),
            "repetitions": table["repetitions"],
            "tuned inside": _with_deviation(table, "nested"),
        }
    )


def readings(source: Path):
    """Our peaks for every set of classes of one table, beside the printed ones."""
    table = _real_data(source).dropna(subset=["published"])
    table = table[table["table"].str.startswith("ai4i") & ~table["model"].str.contains(",")]
    wide = table.pivot(index="model", columns="table", values="ours").round(2)
    wide.insert(0, "published", table.groupby("model")["published"].first())
    columns = ["published", *table["table"].unique()]
    return wide.loc[table["model"].unique(), columns].reset_index()


def _real_data(source: Path):
    return pandas.read_csv(source / "summary-real_data.csv")


def _with_deviation(table, name: str):
    """A mean and its deviation; empty where there is none."""
    pairs = zip(table[name], table[f"{name}_sd"], strict=True)
    return ["" if mean != mean else f"{mean:.2f} ({sd:.2f})" for mean, sd in pairs]


def ratios(source: Path):
    """Least, mean and largest ratio of every peer."""
    table = pandas.read_csv(source / "summary-ratios.csv")
    grouped = table.groupby(["kind", "model", "solver"])
    made = grouped["ratio"].agg(
        least="min",
        mean=lambda ratio: ratio.product() ** (1 / len(ratio)),
        largest="max",
        cases="count",
    )
    made["out of time"] = grouped["lower_bound"].sum()
    return made.round(2).reset_index()


def differences(metric: str):
    """A maker of a table of differences, one column a condition."""

    def make(source: Path):
        table = pandas.read_csv(source / "summary-differences.csv")
        table = table[(table["metric"] == metric) & table["difference"].notna()]
        table["cell"] = [
            f"{mean:+.1f} ({error:.1f})" if error == error else f"{mean:+.1f}"
            for mean, error in zip(
                table["difference"], table["standard_error"], strict=True
            )
        ]
        wide = table.pivot(index=["weights", "model"], columns="condition", values="cell")
        rows = [row for row in product(WEIGHTS, MODELS) if row in wide.index]
        conditions = [*CONDITIONS, *CROWD_CONDITIONS]
        return wide.loc[rows, conditions].fillna("").reset_index()

    return make


def ranks(source: Path):
    """Average ranks, best first."""
    table = pandas.read_csv(source / "summary-ranks.csv")
    columns = ["name", *CONDITIONS, *CROWD_CONDITIONS, "all"]
    return table.sort_values("all")[columns].round(1)


def claims(source: Path) -> None:
    """Verdicts, and the tables of the page on the claims, as far as they are there."""
    for name in CLAIMS:
        path = source / f"summary-{name}.csv"
        if path.exists():
            table = pandas.read_csv(path).rename(columns={"all tables": "gain"})
            shown = [column for column in VERDICT if column in table] or list(table)
            table[shown].to_csv(RESULTS / f"claims-{name}.csv", index=False)


TABLES = {
    "simulation": {"simulation": chosen("peaks", SIMULATION)},
    "real-data": {"real-data": real_data, "real-data-readings": readings},
    "scalability": {"scalability": ratios},
    "subgradient": {"subgradient": chosen("subgradient", SUBGRADIENT)},
    "noise-study": {
        "noise-accuracy": differences("accuracy"),
        "noise-balanced": differences("balanced_accuracy"),
        "noise-certified": differences("certified_l1"),
        "noise-ranks": ranks,
    },
}

if __name__ == "__main__":
    main(Path(sys.argv[1]))
