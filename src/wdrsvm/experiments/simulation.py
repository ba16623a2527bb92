"""Experiment 1: one robust machine against one-vs-rest on simulated clusters.

Both machines are linear with an l1 transport cost, without intercept and scaling.  They are
fitted on the whole grid of radii and label costs.  The peak is the highest mean test
accuracy over the grid.  If no classifier has a lower worst-case risk than a constant one,
the constant classifier is scored, which is correct on one class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..datasets import IMBALANCED_SHARES, make_simulation
from .grids import accuracy_grid, multiclass_grid, one_vs_rest_grid
from .published import SIMULATION_LEADS
from .running.spec import Experiment, Record, Tables, Task
from .statistics import paired_difference

CLASSES, FEATURES = (4, 8), (3, 5, 15, 30)
BALANCES = ("balanced", "imbalanced")
MODELS = {"WDR-MSVM": multiclass_grid, "DR-OVA-SVM": one_vs_rest_grid}
N_TRAIN, N_TEST = 200, 2000
# Numbers of radii, of label costs and of repetitions.
SIZES = {"quick": (8, 4, 3), "full": (25, 20, 50)}


def tasks(preset: str, repetitions: int | None) -> list[Task]:
    """Both machines in every setting; one task is a whole grid."""
    n_radii, n_costs, count = SIZES[preset]
    return [
        {
            "n_classes": C,
            "n_features": P,
            "balance": balance,
            "model": model,
            "n_radii": n_radii,
            "n_costs": n_costs,
            "repetition": repetition,
        }
        for repetition in range(repetitions or count)
        for C in CLASSES
        for P in FEATURES
        for balance in BALANCES
        for model in MODELS
    ]


def run(task: Task) -> list[Record]:
    """Test accuracy in each cell of the grid, on the same data for both machines."""
    C = task["n_classes"]
    shares = IMBALANCED_SHARES[C] if task["balance"] == "imbalanced" else None
    X, y, X_test, y_test = make_simulation(
        N_TRAIN,
        N_TEST,
        task["n_features"],
        C,
        shares=shares,
        random_state=task["repetition"],
    )
    radii = np.logspace(-6, 1, task["n_radii"])
    costs = np.linspace(0.05, 1.0, task["n_costs"])
    scores = MODELS[task["model"]](X, y, X_test, radii, costs)
    accuracy = accuracy_grid(scores, y_test)
    return [
        {"radius": radius, "label_cost": cost, "accuracy": float(accuracy[r, k])}
        for r, radius in enumerate(radii.tolist())
        for k, cost in enumerate(costs.tolist())
    ]


SETTING = ["n_classes", "n_features", "balance"]


def summarise(frame: Any) -> Tables:
    """Means over repetitions for each cell, and the peaks: heights, leads and widths."""
    cells = frame.groupby([*SETTING, "model", "radius", "label_cost"])["accuracy"]
    surface = cells.agg(["mean", "std"]).reset_index()
    return {"surface": surface, "peaks": _peaks(frame, surface)}


def best_cells(surface: Any) -> Any:
    """The cell with the highest mean accuracy, for each setting and model."""
    return surface.loc[surface.groupby([*SETTING, "model"])["mean"].idxmax()]


def curve(surface: Any, setting: dict[str, Any], model: str) -> Any:
    """Mean and deviation of the accuracy by radius, at the best label cost."""
    chosen = surface[surface["model"] == model]
    for name, value in setting.items():
        chosen = chosen[chosen[name] == value]
    best = chosen.loc[chosen["mean"].idxmax(), "label_cost"]
    return chosen[chosen["label_cost"] == best].sort_values("radius")


def _peaks(frame: Any, surface: Any) -> Any:
    import pandas

    best = best_cells(surface).set_index([*SETTING, "model"])
    rows = []
    for (C, P, balance), _ in best.groupby(level=SETTING):
        setting = {"n_classes": C, "n_features": P, "balance": balance}
        rows.append(setting | _lead(frame, surface, best, setting))
    return pandas.DataFrame(rows)


def _lead(frame: Any, surface: Any, best: Any, setting: dict[str, Any]) -> Record:
    peaks, runs, row = {}, {}, {}
    for model in MODELS:
        cell = best.loc[(*setting.values(), model)]
        peaks[model] = cell["mean"]
        runs[model] = _runs(frame, setting | {"model": model}, cell)
        row[f"{model} peak"] = 100 * cell["mean"]
        row[f"{model} width"] = _width(curve(surface, setting, model))
    gap = paired_difference(*(100 * runs[model] for model in MODELS))
    return row | {"lead": gap.mean, "standard_error": gap.error}


def _runs(frame: Any, selection: dict[str, Any], cell: Any) -> Any:
    """Accuracies of one cell, one per repetition."""
    chosen = frame
    selected = selection | {name: cell[name] for name in ("radius", "label_cost")}
    for name, value in selected.items():
        chosen = chosen[chosen[name] == value]
    return chosen.sort_values("repetition")["accuracy"].to_numpy()


def _width(at_best_cost: Any) -> float:
    """Decades of the radius in which the mean accuracy is within one point of the peak."""
    near = at_best_cost["mean"] >= at_best_cost["mean"].max() - 0.01
    radii = at_best_cost["radius"].to_numpy()
    step = np.log10(radii[1] / radii[0]) if len(radii) > 1 else 0.0
    return float(near.sum() * step)


def claimed(peaks: Any, kind: str) -> Any:
    """The peaks of the settings to which a printed claim refers."""
    chosen = peaks[peaks["balance"] == kind.partition(",")[0]]
    if kind.endswith("P < C"):
        chosen = chosen[chosen["n_features"] < chosen["n_classes"]]
    return chosen


CLAIMS = SIMULATION_LEADS

EXPERIMENT = Experiment(
    name="simulation",
    title="Experiment 1: simulated clusters",
    protocol=1,
    tasks=tasks,
    run=run,
    summarise=summarise,
)
