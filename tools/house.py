"""The map of the house: rooms, floors and imports, read from the code and drawn as SVG.

``python -m tools.house`` writes ``docs/_static/house.svg``; a test draws it again and
compares.  Floors are not stored anywhere: a room stands above all the rooms it imports.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "wdrsvm"
PICTURE = ROOT / "docs" / "_static" / "house.svg"

WIDTH, BOX, GAP, FLOOR, MARGIN = 1080, 46, 14, 96, 20
MIN_LETTERS = 25

STYLE = """
  rect { fill: #f4f6f8; stroke: #51606f; rx: 6; }
  text { font: 14px sans-serif; fill: #1c2733; text-anchor: middle; }
  .parts { font-size: 11px; fill: #51606f; }
  path { fill: none; stroke: #8a97a5; marker-end: url(#tip); }
  @media (prefers-color-scheme: dark) {
    rect { fill: #26303a; stroke: #9fb0c0; }
    text { fill: #eef2f6; } .parts { fill: #b8c4d0; } path { stroke: #7d8c9b; }
  }
"""


def room_of(parts: tuple[str, ...]) -> str:
    """The room of a module: its first folder; single modules at the top are left out."""
    return parts[0] if len(parts) > 1 else ""


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports from."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if room := room_of(parts):
            found.setdefault(room, set()).update(_rooms_imported(path, parts))
    return {room: names & found.keys() - {room} for room, names in found.items()}


def _rooms_imported(path: Path, parts: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = parts[: len(parts) - node.level]
            yield ((*base, *(node.module or "").split("."))[0]) or node.names[0].name


def floors(rooms: dict[str, set[str]]) -> dict[str, int]:
    """The height of each room: one more than the highest of those it imports."""
    height: dict[str, int] = {}
    while len(height) < len(rooms):
        ready = [r for r in rooms if r not in height and rooms[r] <= height.keys()]
        if not ready:
            raise ValueError(f"imports go in circles among {set(rooms) - height.keys()}.")
        for room in ready:
            height[room] = max((height[below] + 1 for below in rooms[room]), default=0)
    return height


def needed(rooms: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Imports that do not follow from others, so that the picture stays readable."""
    reach: dict[str, set[str]] = {}
    height = floors(rooms)
    for room in sorted(rooms, key=height.__getitem__):
        reach[room] = rooms[room].union(*(reach[below] for below in rooms[room]))
    return [
        (room, below)
        for room in sorted(rooms)
        for below in sorted(rooms[room])
        if not any(below in reach[other] for other in rooms[room] - {below})
    ]


def parts_of(room: str) -> list[str]:
    """The folders inside a room."""
    inside = (PACKAGE / room).iterdir()
    return sorted(p.name for p in inside if (p / "__init__.py").is_file())


def raised(rooms: dict[str, set[str]], height: dict[str, int]) -> dict[str, int]:
    """The same floors with every room right below the lowest one that imports it."""
    lowest = {
        room: min((height[other] for other in rooms if room in rooms[other]), default=None)
        for room in rooms
    }
    return {room: height[room] if low is None else low - 1 for room, low in lowest.items()}


def drawn() -> str:
    """The picture."""
    rooms = imports()
    height = raised(rooms, floors(rooms))
    top = max(height.values())
    places = {}
    for floor in range(top + 1):
        row = sorted(room for room in rooms if height[room] == floor)
        need = [max(len(", ".join(parts_of(room))), MIN_LETTERS) for room in row]
        left, unit = float(MARGIN), (WIDTH - 2 * MARGIN) / sum(need)
        for room, letters in zip(row, need, strict=True):
            width = unit * letters
            places[room] = (left, MARGIN + FLOOR * (top - floor), width - GAP)
            left += width
    lines = [_arrow(places[one], places[other]) for one, other in needed(rooms)]
    boxes = [_box(room, *places[room]) for room in sorted(places)]
    size = f"0 0 {WIDTH} {2 * MARGIN + FLOOR * top + BOX}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img" '
            'aria-label="Rooms of the package; arrows point to what a room imports">',
            f"<style>{STYLE}</style>",
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8" '
            'style="marker-end: none"/></marker>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _box(room: str, x: float, y: float, width: float) -> str:
    middle, inside = x + width / 2, parts_of(room)
    line = y + (20 if inside else BOX / 2 + 5)
    box = f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}"/>'
    box += f'<text x="{middle:.0f}" y="{line:.0f}">{escape(room)}</text>'
    if inside:
        names = escape(", ".join(inside).replace("_", " "))
        box += f'<text class="parts" x="{middle:.0f}" y="{y + 38:.0f}">{names}</text>'
    return box


def _arrow(one: tuple[float, float, float], other: tuple[float, float, float]) -> str:
    (x0, y0, w0), (x1, y1, w1) = one, other
    begin, end = x0 + w0 / 2, x1 + w1 / 2
    return (
        f'<path d="M{begin:.0f} {y0 + BOX:.0f} C{begin:.0f} {y0 + BOX + 40:.0f} '
        f'{end:.0f} {y1 - 40:.0f} {end:.0f} {y1 - 2:.0f}"/>'
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
