"""Types of the arrays that all packages share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
# Label codes and row numbers.
Codes: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]
# Labels as users write them.
Labels: TypeAlias = NDArray[np.generic]
# A dense array, perhaps a memory map, or a SciPy CSR array; SciPy has no type hints.
Matrix: TypeAlias = Any
