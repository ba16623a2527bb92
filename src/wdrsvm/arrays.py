"""Names for the arrays that every room speaks of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
# Label codes and row numbers.
Codes: TypeAlias = NDArray[np.intp]
Flags: TypeAlias = NDArray[np.bool_]
# Labels as users write them.
Labels: TypeAlias = NDArray[np.generic]
# A dense array, perhaps a memory map, or a scipy CSR array; scipy has no types to say so.
Matrix: TypeAlias = Any
