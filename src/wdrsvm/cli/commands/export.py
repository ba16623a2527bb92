"""``wdrsvm export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...files import write_bytes
from ...onnx_export import to_onnx
from ..models.saved import in_use, loaded
from ..output import Json, Output
from ..tables.files import checked_output

EXAMPLES = """Examples:

wdrsvm export penguins.wdrsvm --out penguins.onnx
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("export", epilog=EXAMPLES)(export)


def export(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    out: Annotated[Path, typer.Option(help="Graph to write, .onnx.")],
    as_json: Json = False,
) -> None:
    """Write a model as an ONNX graph, for programs without Python.

    Each column is an input of shape (rows, 1): doubles, NaN where one is missing, or texts,
    empty where one is missing.
    """
    output = Output(as_json)
    checked_output(out, model, endings=(".onnx",))
    with output.working("Exporting"), in_use(model):
        exported = to_onnx(loaded(model))
        write_bytes(out, exported.SerializeToString())
    inputs = [each.name for each in exported.graph.input]
    outputs = [each.name for each in exported.graph.output]
    output.show({"graph": str(out), "inputs": inputs, "outputs": outputs})
