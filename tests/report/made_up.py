"""Made-up records of every experiment, to have pages without the hours."""

import numpy as np

from wdrsvm.experiments import EXPERIMENTS, noise_study, real_data, scalability
from wdrsvm.experiments.running.store import Outcome, Store


def made_up_records(name, task, rng):
    return MAKERS[name](task, rng)


def _simulation(task, rng):
    lead = 0.2 if task["model"] == "WDR-MSVM" else 0.0
    return [
        {"radius": radius, "label_cost": cost, "accuracy": 0.5 + lead + 0.1 * rng.random()}
        for radius in np.logspace(-6, 1, 3).tolist()
        for cost in (0.05, 1.0)
    ]


def _real_data(task, rng):
    costs = real_data.MODELS[task["model"]].label_costs
    cells = [(radius, str(cost)) for radius in real_data.RADII for cost in costs]
    return [
        {"radius": radius, "label_cost": cost, "accuracy": 0.9 + 0.1 * rng.random()}
        for radius, cost in (cells if task["protocol"] == "published" else cells[:1])
    ]


def _scalability(task, rng):
    solvers = ["ours", *(scalability.PEERS[task["kind"]] if task["peers"] else ())]
    return [
        {
            "solver": solver,
            "seconds": (0.01 if solver == "ours" else 1.0) * (1 + rng.random()),
            "gap": 1e-7,
            "timed_out": solver == "clarabel",
        }
        for solver in solvers
    ]


def _subgradient(task, rng):
    accuracy = 0.9 + 0.01 * rng.random()
    return [
        {
            "seconds": 0.01,
            "peer_seconds": 0.1,
            "peer_seconds_at_once": 0.02,
            "peer_reached": True,
            "step0": 1.0,
            "above": 0.1,
            "peer_above": 0.001,
            "accuracy": accuracy,
            "peer_accuracy": accuracy,
            "exact_accuracy": accuracy,
        }
    ]


def _noise_study(task, rng):
    has_promise = task["model"] != "SVC"
    values = {metric: float(rng.random()) for metric in noise_study.METRICS}
    if not has_promise:
        values |= dict.fromkeys(noise_study.METRICS[3:])
    return [{"chosen": "{}"} | values]


def _claims(task, rng):
    if task["claim"] == "worst-case error":
        return [
            {"norm": "l2", "radius": 0.1, "method": method, "seconds": 1.0}
            | {"worst_case": 0.5 + 0.1 * rng.random(), "plain": 0.3 * rng.random()}
            for method in ("ramp", "logistic, worst case", "convex, accuracy")
        ]
    scores = ("accuracy", "balanced_accuracy", "worst_recall")
    values = {name: float(rng.random()) for name in scores} | {"seconds": 1.0}
    if task["claim"] == "many classes":
        methods = ("robust logistic", "logistic", "logistic, C = 1")
        gaps = (1e-4, None, None)
        pairs = zip(methods, gaps, strict=True)
        return [{**values, "method": method, "gap": gap} for method, gap in pairs]
    return [values]


MAKERS = {
    "simulation": _simulation,
    "real-data": _real_data,
    "scalability": _scalability,
    "subgradient": _subgradient,
    "noise-study": _noise_study,
    "claims": _claims,
}


def fill(name, out, repetitions=2, every=1):
    """Put made-up records where a run would; ``every`` leaves tasks out."""
    experiment = EXPERIMENTS[name]
    store = Store(out / f"{name}-quick", experiment.protocol)
    rng = np.random.default_rng(0)
    with store.locked():
        for task in experiment.tasks("quick", repetitions)[::every]:
            store.add(task, Outcome(made_up_records(name, task, rng), 1.0))
    return experiment
