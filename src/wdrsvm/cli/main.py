"""The command ``wdrsvm``: its list of commands, and how errors reach the user."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Any

from ..files import printable
from ..version import __version__

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130
STORY = """wdrsvm: classifiers that stay right when labels are wrong and data move.

From a table to a model that you can explain, in three steps:

  1. Which labels look wrong?
       wdrsvm audit penguins.csv --target species --out suspects.html
  2. Learn a classifier, and read what it withstands:
       wdrsvm fit penguins.csv --target species --cv --out penguins.wdrsvm
  3. Put everything on one page to read and to show:
       wdrsvm report penguins.wdrsvm test.csv --out penguins.html

wdrsvm demo            an example that needs no table
wdrsvm --help          all commands
wdrsvm COMMAND --help  the options of a command, with examples"""


def build() -> object:
    """The application with all its commands."""
    import typer

    from .commands import (
        audit,
        bench,
        certify,
        demo,
        explore,
        export,
        fit,
        predict,
        relabel,
        report,
        reproduce,
    )

    app = typer.Typer(
        name="wdrsvm",
        help="Classifiers that stay right when labels are wrong and data move.",
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_with_version(typer))
    on_models = (audit, relabel, fit, report, predict, certify, export, explore)
    for command in (*on_models, demo, reproduce, bench):
        command.register(app)
    for each in app.registered_commands:
        each.help = in_paragraphs(each.callback.__doc__ or "")
    return app


def in_paragraphs(text: str) -> str:
    """A docstring with one line for each paragraph, because help keeps line breaks."""
    parts = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def _with_version(typer: Any) -> Any:
    """The option ``--version``, which comes before every command."""

    def show(asked: bool) -> None:
        if asked:
            print(f"wdrsvm {__version__}")
            raise typer.Exit

    def options(
        version: bool = typer.Option(
            False, "--version", callback=show, is_eager=True, help="Print the version."
        ),
    ) -> None:
        pass

    # ``options`` has no docstring, because typer would show it as the help.
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; an error, such as bad input, is one sentence without a traceback."""
    try:
        import typer
    except ImportError:
        return _told('The command line needs typer: pip install "wdrsvm[cli]".', FAILED)
    command = typer.main.get_command(build())  # type: ignore[arg-type]
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        print(STORY)
        return 0
    try:
        command.main(args=given, prog_name="wdrsvm")
    except SystemExit as ended:
        code = int(ended.code or 0)
        return _interrupted() if code == INTERRUPTED else code
    except (ValueError, TypeError, FileNotFoundError) as error:
        return _told(str(error), BAD_INPUT)
    except (OSError, ImportError, RuntimeError) as error:
        return _told(str(error), FAILED)
    except KeyboardInterrupt:
        return _interrupted()
    return 0


def _interrupted() -> int:
    return _told("Interrupted; what is done is kept.", INTERRUPTED)


def _told(sentence: str, code: int) -> int:
    line = printable(sentence)
    print(f"wdrsvm: {line}{'' if line.endswith('.') else '.'}", file=sys.stderr)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
