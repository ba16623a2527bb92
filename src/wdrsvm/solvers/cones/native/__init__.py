"""Sources of the interior point's kernels, and the names that Python may call.

``runtime.native`` loads the compiled kernels.  The Newton methods use ``springs`` too.
"""

from .cone import Absent, Floor, LinearRows
from .curvature import Curvature
from .moves import Moves, NormalSystem, SampleMoves, Steps, hold_gauge
from .polyhedral import AbsoluteSums, Box
from .predictor_corrector import PrimalDual
from .samples import SampleRows
from .second_order import ConicRows, SecondOrder, SingleClasses

__all__ = [
    "Absent",
    "AbsoluteSums",
    "Box",
    "ConicRows",
    "Curvature",
    "Floor",
    "LinearRows",
    "Moves",
    "NormalSystem",
    "PrimalDual",
    "SampleMoves",
    "SampleRows",
    "SecondOrder",
    "SingleClasses",
    "Steps",
    "hold_gauge",
]
