"""The envelope of each norm that has one."""

from __future__ import annotations

from .entries import EntryEnvelope

ENVELOPE_OF_NORM = {"l1": EntryEnvelope}
