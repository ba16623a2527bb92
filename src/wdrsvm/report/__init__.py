"""Self-contained HTML pages: no network, for screens large and small, and for paper."""

from .explore import explore_page
from .model import model_page
from .page import Bullets, Facts, Figure, Page, Section, Table, Text, Verdict

__all__ = [
    "Bullets",
    "Facts",
    "Figure",
    "Page",
    "Section",
    "Table",
    "Text",
    "Verdict",
    "explore_page",
    "model_page",
]
