"""Sources of the interior point's kernels, and the names that Python may call.

``runtime.native`` loads the compiled kernels.
"""

from .cone import Absent as Absent
from .cone import Floor as Floor
from .cone import LinearRows as LinearRows
from .curvature import Curvature as Curvature
from .moves import Moves as Moves
from .moves import NormalSystem as NormalSystem
from .moves import SampleMoves as SampleMoves
from .moves import Steps as Steps
from .moves import hold_gauge as hold_gauge
from .polyhedral import AbsoluteSums as AbsoluteSums
from .polyhedral import Box as Box
from .predictor_corrector import PrimalDual as PrimalDual
from .samples import SampleRows as SampleRows
from .second_order import ConicRows as ConicRows
from .second_order import SecondOrder as SecondOrder
from .second_order import SingleClasses as SingleClasses
