"""Write files completely or not at all, and check the contents of files before reading."""

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

# Error numbers for a full disk, and for a full quota of the user.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

# Contents up to this many bytes are always read.  Larger contents are read only if they are
# at most MUCH_SMALLER times as large as the file.
MUCH_MEMORY, MUCH_SMALLER = 2**30, 100

# Largest length of an error's text, which may contain a large part of the file.
LONGEST_LINE = 2000
# The last character of Unicode, and the bits that all surrogates share: all but eleven.
LAST_CHARACTER, SURROGATES = 0x10FFFF, 0xD800 >> 11


@contextmanager
def replaced_whole(path: Path) -> Iterator[Path]:
    """A draft file next to ``path``; at the end it replaces ``path``.

    If an error occurs, ``path`` is unchanged and the draft is deleted.
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
    """Turn the error of a full disk into a sentence that tells what to do."""
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
    """Write a text file, completely or not at all; missing folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_whole(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    """Write bytes to a file, completely or not at all; missing folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced_whole(path) as draft:
        draft.write_bytes(content)
    return path


def check_swelling(file: BinaryIO) -> None:
    """Refuse a small archive whose unpacked contents would fill the memory."""
    with zipfile.ZipFile(file) as archive:
        n_bytes = sum(info.file_size for info in archive.infolist())
    check_size(n_bytes, file.seek(0, os.SEEK_END))
    file.seek(0)


def check_size(n_bytes: int, stored: int) -> None:
    """Refuse ``n_bytes`` of contents that are much larger than the ``stored`` bytes."""
    if n_bytes > max(MUCH_MEMORY, MUCH_SMALLER * stored):
        raise ValueError(
            f"its contents of {n_bytes / 2**30:.0f} GiB are more than {MUCH_SMALLER} times "
            "as large as the file"
        )


def check_texts(array: NDArray[Any]) -> None:
    """Refuse an array of texts with an invalid character.

    NumPy accepts any 32 bits as a character, and Python fails later on invalid ones.
    """
    if array.dtype.kind == "U" and array.size:
        native = array.astype(array.dtype.newbyteorder("="))
        codes = np.ascontiguousarray(native).view(np.uint32)
        if ((codes > LAST_CHARACTER) | (codes >> 11 == SURROGATES)).any():
            raise ValueError("it holds texts that are not Unicode")


def reason(error: BaseException) -> str:
    r"""The first line of an error's text, for use in a sentence; its type if it is empty.

    Examples
    --------
    >>> reason(ValueError("No rows.\nTry another file.")), reason(EOFError())
    ('No rows', 'EOFError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return printable(lines[0]).rstrip(".")


def printable(text: str) -> str:
    r"""A text on one line, without control characters for a terminal.

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
    """Write the content to the disk before the rename, in case of a crash between."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
