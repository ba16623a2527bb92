"""Files that are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

# What the system says when there is no room: the disk is full, or the user's share of it.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

# Contents of this many bytes are read however small the file is; larger ones only if the
# file is not so many times smaller.
MUCH_MEMORY, MUCH_SMALLER = 2**30, 100

# What an error says may contain half of the file.
LONGEST_LINE = 2000
# The end of Unicode, and its halves of characters, by all bits but the last eleven.
LAST_CHARACTER, SURROGATES = 0x10FFFF, 0xD800 >> 11


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


def check_swelling(file: BinaryIO) -> None:
    """Refuse an archive whose contents would fill the memory though the file is small."""
    with zipfile.ZipFile(file) as archive:
        n_bytes = sum(info.file_size for info in archive.infolist())
    check_size(n_bytes, file.seek(0, os.SEEK_END))
    file.seek(0)


def check_size(n_bytes: int, stored: int) -> None:
    """Refuse contents of so many bytes in memory, from so many bytes in a file."""
    if n_bytes > max(MUCH_MEMORY, MUCH_SMALLER * stored):
        raise ValueError(
            f"its contents of {n_bytes / 2**30:.0f} GiB are more than {MUCH_SMALLER} times "
            "as large as the file"
        )


def check_texts(array: NDArray[Any]) -> None:
    """Refuse an array of texts with a character that there is not.

    NumPy takes any 32 bits for one, and Python fails wherever it meets it.
    """
    if array.dtype.kind == "U" and array.size:
        native = array.astype(array.dtype.newbyteorder("="))
        codes = np.ascontiguousarray(native).view(np.uint32)
        if ((codes > LAST_CHARACTER) | (codes >> 11 == SURROGATES)).any():
            raise ValueError("it holds texts that are not Unicode")


def reason(error: BaseException) -> str:
    r"""What an error says first, to be part of a sentence; its name if it says nothing.

    Examples
    --------
    >>> reason(ValueError("No rows.\nTry another file.")), reason(EOFError())
    ('No rows', 'EOFError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return printable(lines[0]).rstrip(".")


def printable(text: str) -> str:
    r"""A text on one line, without what would steer a terminal.

    Examples
    --------
    >>> printable("a\tcolumn\x1b[2J")
    'a column?[2J'
    """
    line = " ".join(text.split())
    if len(line) > LONGEST_LINE:
        line = f"{line[:LONGEST_LINE]}..."
    return "".join(each if each.isprintable() else "?" for each in line)


def _flush_to_disk(path: Path) -> None:
    """A name must not point to content that a crash could still lose."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
