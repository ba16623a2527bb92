"""A few epochs of "first-order" that are tried before another method."""

from __future__ import annotations

from typing import NamedTuple


class Trial(NamedTuple):
    """Epochs of a trial, the gap up to which a next trial promises to succeed, and whether
    it ends as soon as these epochs do not promise to suffice."""

    n_epochs: int
    promising_gap: float
    gives_up: bool = False
