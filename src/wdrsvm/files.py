"""Files that are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What the system says when there is no room: the disk is full, or the user's share of it.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def replaced_whole(path: Path) -> Iterator[Path]:
    """A draft beside ``path`` to write to; it takes the place of ``path`` at the end.

    If anything goes wrong, ``path`` is as it was and the draft is gone.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with explained_full_disk(path):
            yield draft
            _flush_to_disk(draft)
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def explained_full_disk(path: Path) -> Iterator[None]:
    """Say what to do when there is no room to write ``path``."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        raise OSError(
            error.errno,
            f"The disk is full: {path} was not written and nothing half-written is left. "
            "Make room and run the same command again",
        ) from error


def write_text(path: Path, text: str) -> Path:
    """Write a text file, whole or not at all; its folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_whole(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    """Write bytes to a file, whole or not at all; its folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_whole(path) as draft:
        draft.write_bytes(content)
    return path


def _flush_to_disk(path: Path) -> None:
    """A name must not point to content that a crash could still lose."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
