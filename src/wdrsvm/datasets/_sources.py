"""Where data files come from, and proof that they are the right ones.

A file is looked for in the folder that ``WDRSVM_DATA`` names, then in the cache, then
downloaded.  Whatever its way, only bytes with the known SHA-256 are used.

This is not left to pooch.  Its sums are of downloaded archives, ours are of the CSV file
inside, which stays the same when an archive is packed anew.  It limits neither the size of
a download nor that of an unpacked archive.  With both added the code is no shorter.
"""

from __future__ import annotations

import hashlib
import io
import os
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

from ..files import check_swelling, write_bytes

DATA_VARIABLE = "WDRSVM_DATA"
CACHE_VARIABLE = "XDG_CACHE_HOME"
TIMEOUT_SECONDS = 30.0
# Every archive that we know of is far smaller.
MOST_BYTES = 2**27


@dataclass(frozen=True)
class Source:
    """A data file: its checksum and, where it can be downloaded, from where and how.

    ``member`` is the file inside the archive at ``url``; ``convert`` makes it the CSV
    that the checksum is of.  ``origin`` tells where the data of other files are from.
    """

    file: str
    sha256: str
    url: str | None = None
    member: str = ""
    convert: Callable[[bytes], bytes] = bytes
    origin: str = ""


def content(source: Source) -> bytes:
    """The bytes of a data file, checked; downloaded to the cache if need be."""
    for path in (_given(source), cached(source)):
        if path is not None and path.is_file():
            return checked(path.read_bytes(), source, f"The file {path}", _remedy(path))
    if source.url is None:
        told = f"{source.origin} {_offline(source)}".strip()
        raise FileNotFoundError(f"{source.file} is not on this machine. {told}")
    found = _downloaded(source)
    checked(found, source, f"What {source.url} sends", _offline(source))
    write_bytes(cached(source), found)
    return found


def is_on_this_machine(source: Source) -> bool:
    """Whether the file is where it is looked for; what is in it is not asked."""
    given = _given(source)
    return cached(source).is_file() or (given is not None and given.is_file())


def cached(source: Source) -> Path:
    """Where the file is kept once it has been downloaded."""
    base = os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache"
    return Path(base) / "wdrsvm" / source.file


def _given(source: Source) -> Path | None:
    folder = os.environ.get(DATA_VARIABLE)
    return Path(folder) / source.file if folder else None


def checked(found: bytes, source: Source, subject: str, remedy: str) -> bytes:
    """The bytes themselves, if they are the known ones."""
    digest = hashlib.sha256(found).hexdigest()
    if digest != source.sha256:
        raise ValueError(
            f"{subject} is not the known {source.file}: its SHA-256 is {digest}, expected "
            f"{source.sha256}. {remedy}"
        )
    return found


def _remedy(path: Path) -> str:
    return f"Delete {path} and try again, or put the right file there."


def _downloaded(source: Source) -> bytes:
    assert source.url is not None
    try:
        with urllib.request.urlopen(source.url, timeout=TIMEOUT_SECONDS) as answer:
            archive = io.BytesIO(answer.read(MOST_BYTES))
        check_swelling(archive)
        with zipfile.ZipFile(archive) as opened:
            return source.convert(opened.read(source.member))
    except (URLError, OSError) as error:
        raise ConnectionError(
            f"{source.file} could not be downloaded from {source.url} ({error}). "
            f"{_offline(source)}"
        ) from error
    except Exception as error:
        # An archive can be damaged in more ways than its readers have names for.
        raise ValueError(
            f"What {source.url} sends is not an archive with {source.member} in it. "
            f"{_offline(source)}"
        ) from error


def _offline(source: Source) -> str:
    return (
        f"Without a network: put {source.file} (SHA-256 {source.sha256}) in a folder and "
        f"set the environment variable {DATA_VARIABLE} to that folder, or copy the file to "
        f"{cached(source)}."
    )
