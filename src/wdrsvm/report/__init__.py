"""Self-contained HTML pages, for large and small screens and for print, without network."""

from .explore import explore_page
from .model.card import model_card
from .model.page import model_page
from .page import (
    Bullets,
    Facts,
    Figure,
    Flags,
    Page,
    Section,
    Summary,
    Table,
    Text,
    Verdict,
)
from .review import review_page

__all__ = [
    "Bullets",
    "Facts",
    "Figure",
    "Flags",
    "Page",
    "Section",
    "Summary",
    "Table",
    "Text",
    "Verdict",
    "explore_page",
    "model_card",
    "model_page",
    "review_page",
]
