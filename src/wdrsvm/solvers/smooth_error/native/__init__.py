"""Sources of the smooth error's kernels; see ``runtime.native``."""

from .descent import ErrorDescent as ErrorDescent
from .smooth_value import SmoothValue as SmoothValue
from .error_rows import ErrorRows as ErrorRows
