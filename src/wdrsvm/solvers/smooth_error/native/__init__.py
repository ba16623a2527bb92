"""Sources of the smooth error's kernels; see ``runtime.native``."""

from .descent import ErrorDescent as ErrorDescent
from .error_rows import ErrorRows as ErrorRows
from .smooth_value import SmoothValue as SmoothValue
