"""Make Ctrl-C a KeyboardInterrupt, also if it arrives in compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Raise the interrupt itself when compiled code wraps it.

    A signal that arrives just as a compiled function returns reaches Python as a
    SystemError whose cause is the interrupt, or another such error.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise cause from None
        raise
