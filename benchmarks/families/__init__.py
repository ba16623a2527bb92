"""The families, by name."""

from __future__ import annotations

from ..family import Family
from . import (
    b1_small,
    b2_medium,
    b3_large,
    b4_sparse,
    b5_kernel,
    b5b_nystroem,
    b6_path,
    b7_subgradient,
    b8_growth,
    b9_scale_out,
    b10_many_classes,
    b12_mixed_tables,
    b13_beside_sklearn,
)

FAMILIES: dict[str, Family] = {
    module.FAMILY.name: module.FAMILY
    for module in (
        b1_small,
        b2_medium,
        b3_large,
        b4_sparse,
        b5_kernel,
        b5b_nystroem,
        b6_path,
        b7_subgradient,
        b8_growth,
        b9_scale_out,
        b10_many_classes,
        b12_mixed_tables,
        b13_beside_sklearn,
    )
}
