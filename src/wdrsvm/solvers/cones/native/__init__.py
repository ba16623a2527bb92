"""Sources of the interior point's kernels, and the names that Python may call.

``runtime.native`` loads the compiled kernels.  The Newton methods use ``springs`` too.
"""

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
