"""The families, by name."""

from __future__ import annotations

from ..family import Family
from . import b1_small, b2_medium

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY for module in (b1_small, b2_medium)
}
