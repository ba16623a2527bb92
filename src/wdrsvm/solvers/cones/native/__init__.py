"""Sources of the interior point's kernels, and what Python may call; see
``runtime.native``.  ``springs`` is shared with the Newton methods."""

from .cone import Absent, Floor, GivenRows
from .curvature import Curvature
from .moves import Moves, NormalSystem, SampleMoves, hold_gauge
from .polyhedral import AbsoluteSums, Box
from .predictor_corrector import PrimalDual
from .samples import SampleRows
from .second_order import GivenCones, SecondOrder, SingleClasses

__all__ = [
    "Absent",
    "AbsoluteSums",
    "Box",
    "Curvature",
    "Floor",
    "GivenCones",
    "GivenRows",
    "Moves",
    "NormalSystem",
    "PrimalDual",
    "SampleMoves",
    "SampleRows",
    "SecondOrder",
    "SingleClasses",
    "hold_gauge",
]
