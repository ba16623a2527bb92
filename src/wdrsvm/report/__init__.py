"""Self-contained HTML pages: no network, for screens large and small, and for paper."""

from .page import Bullets, Facts, Figure, Page, Section, Table, Text, Verdict

__all__ = ["Bullets", "Facts", "Figure", "Page", "Section", "Table", "Text", "Verdict"]
