"""Sources of the smooth error's kernels; see ``runtime.native``."""

from .pair_rates import add_rate_slopes as add_rate_slopes
from .pair_rates import pair_rates as pair_rates
from .soft_errors import soft_errors as soft_errors
