"""The classifier that the options of ``wdrsvm fit`` describe."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...estimators import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustSVC,
    RobustSVCCV,
)
from ...inputs.frames import CATEGORY_COST
from ...problem import LOSSES, NORMS, WassersteinBall
from ..output import check_choice
from .promises import check_radius
from .withstand import search_for

KERNELS = ("linear", "rbf", "laplacian", "poly")
HINGE = "crammer-singer"
LINEAR, NORM = "linear", "l2"
# Classes by three flags: linear, hinge loss, and found by a search.
CLASSIFIERS: dict[tuple[bool, bool, bool], Any] = {
    (True, True, False): RobustLinearSVC,
    (True, True, True): RobustLinearSVCCV,
    (True, False, False): RobustLogisticRegression,
    (True, False, True): RobustLogisticRegressionCV,
    (False, True, False): RobustSVC,
    (False, True, True): RobustSVCCV,
}
RADIUS, LABEL_COST = 0.05, 2.0


class Options(NamedTuple):
    """The options of the user."""

    cv: bool
    radius: float | None
    label_cost: float | None
    loss: str
    kernel: str
    norm: str
    landmarks: int | None
    balanced: bool
    withstand: float | None = None
    doubt_labels: bool = False
    trust_column: str | None = None
    category_cost: float = CATEGORY_COST
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({})

    @property
    def has_folds(self) -> bool:
        """Whether a cross-validation chooses."""
        return self.cv or self.doubt_labels or self.withstand is not None

    def check(self) -> None:
        """Refuse options that contradict each other, before any table is read."""
        check_choice("--loss", self.loss, tuple(LOSSES))
        check_choice("--kernel", self.kernel, KERNELS)
        check_choice("--norm", self.norm, tuple(NORMS))
        is_linear = self.kernel == LINEAR
        if not is_linear and self.norm != NORM:
            raise ValueError(
                f"--norm must be {NORM} with --kernel {self.kernel}, got {self.norm}."
            )
        if not is_linear and self.loss != HINGE:
            raise ValueError(f"--loss must be {HINGE} with a kernel, got {self.loss}.")
        if is_linear and self.landmarks is not None:
            raise ValueError("--landmarks needs a --kernel that is not linear.")
        if self.cv and not (self.radius is None and self.label_cost is None):
            raise ValueError(
                "--cv chooses radius and label cost: leave out either it or --radius and "
                "--label-cost."
            )
        if not self.category_cost > 0:
            raise ValueError(
                f"--category-cost must be a number > 0 or inf, got {self.category_cost:g}."
            )
        if self.ranges and not is_linear:
            raise ValueError(
                f"--range needs a linear classifier, got --kernel {self.kernel}."
            )
        if self.withstand is not None:
            self._check_withstand(self.withstand)
        if self.doubt_labels:
            self._check_doubt()

    def _check_withstand(self, distance: float) -> None:
        check_radius("--withstand", distance)
        for option in self._given("--cv", "--loss", "--doubt-labels", "--trust-column"):
            raise ValueError(
                "--withstand chooses a linear classifier, its loss, radius and label cost, "
                f"and counts all errors alike: leave out either it or {option}."
            )

    def _check_doubt(self) -> None:
        others = ["--norm", "--range"] + ["--loss"] * (self.loss != "logistic")
        for option in self._given(*others):
            raise ValueError(
                "--doubt-labels chooses a linear logistic classifier, its norm, radius and "
                f"label cost: leave out either it or {option}."
            )

    def _given(self, *more: str) -> list[str]:
        """Options that describe another classifier, as the user gave them."""
        given = {
            "--cv": self.cv,
            "--radius": self.radius is not None,
            "--label-cost": self.label_cost is not None,
            f"--loss {self.loss}": self.loss != HINGE,
            f"--kernel {self.kernel}": self.kernel != LINEAR,
            f"--norm {self.norm}": self.norm != NORM,
            "--balanced": self.balanced,
            "--doubt-labels": self.doubt_labels,
            "--trust-column": self.trust_column is not None,
            "--range": bool(self.ranges),
        }
        always = ("--radius", "--label-cost", "--kernel", "--balanced")
        asked = (*always, *more)
        return [
            name
            for name, is_given in given.items()
            if is_given and name.split()[0] in asked
        ]

    def classifier(self) -> Any:
        """The classifier that the options describe."""
        self.check()
        if self.withstand is not None:
            return search_for(WassersteinBall(self.withstand, norm=self.norm))
        if self.doubt_labels:
            return RobustLogisticRegressionCV(label_noise="random")
        options: dict[str, Any] = {"class_weight": "balanced" if self.balanced else None}
        if self.kernel == LINEAR:
            options["norm"] = self.norm
        else:
            options |= {"kernel": self.kernel, "n_components": self.landmarks}
        if self.cv:
            options["scoring"] = "balanced_accuracy" if self.balanced else None
        else:
            options["radius"] = RADIUS if self.radius is None else self.radius
            options["label_cost"] = (
                LABEL_COST if self.label_cost is None else self.label_cost
            )
        kind = (self.kernel == LINEAR, self.loss == HINGE, self.cv)
        return CLASSIFIERS[kind](**options)
