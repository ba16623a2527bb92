"""Ctrl-C is a KeyboardInterrupt, also where it meets compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Raise the interrupt itself when compiled code wraps it.

    A signal that arrives just as a compiled function returns reaches Python as a
    SystemError whose cause is the interrupt.
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise
