"""Numbers printed in the paper."""

from __future__ import annotations

_TABLES = ("wine", "penguins", "iris", "seeds", "ai4i")
_PEAKS = {
    "DR-MSVM": ((95.92, 2.33), (99.25, 0.19), (95.60, 2.31), (96.00, 2.29), (67.27, 5.22)),
    "DR-OVA": ((95.81, 2.20), (99.16, 0.30), (94.09, 3.10), (96.34, 2.57), (60.38, 6.70)),
    "R-MSVM": ((95.25, 2.54), (98.35, 0.24), (95.73, 2.28), (95.48, 2.90), (69.36, 5.40)),
    "R-MLR": ((95.36, 2.54), (98.80, 0.79), (96.88, 2.51), (95.40, 2.82), (69.74, 5.63)),
    "kDR-MSVM": ((73.66, 5.01), (83.25, 1.33), (97.07, 2.17), (94.20, 3.80), (44.76, 3.05)),
    "kDR-OVA": ((73.74, 5.10), (83.47, 1.51), (96.89, 2.33), (94.34, 3.65), (44.60, 3.06)),
    "kR-MSVM": ((73.66, 5.01), (83.25, 1.33), (96.53, 2.51), (94.17, 3.70), (44.74, 3.05)),
}
# (model, table): peak mean and standard deviation of the test accuracy, in percent.
REAL_DATA = {
    (model, table): peak
    for model, peaks in _PEAKS.items()
    for table, peak in zip(_TABLES, peaks, strict=True)
}
REAL_DATA_REPETITIONS = 50

# Lead of WDR-MSVM over DR-OVA-SVM in peak accuracy on simulated data, in points.
SIMULATION_LEADS = {"balanced": (0.02, 5.40), "imbalanced, P < C": (2.86, 25.98)}
# Upper limit, in the paper's plots, of a barrier method's time divided by Algorithm 1's.
SUBGRADIENT_RATIO = 0.2
