"""The envelope of each norm that has one."""

from __future__ import annotations

from .entries import EntryEnvelope
from .pairs import PairEnvelope

ENVELOPE_OF_NORM: dict[str, type[EntryEnvelope] | type[PairEnvelope]] = {
    "l1": EntryEnvelope,
    "linf": PairEnvelope,
}
