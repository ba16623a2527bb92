"""The claims of this package, each judged on tables on which no rule was fixed."""

from .claim import Aim, Claim
from .experiment import CLAIMS, EXPERIMENT

__all__ = ["CLAIMS", "EXPERIMENT", "Aim", "Claim"]
