"""Sources of the data files, and the check of their contents.

A file is first looked for in the folder that ``WDRSVM_DATA`` names, then in the cache.
Otherwise it is downloaded.  In all cases, only bytes with the known SHA-256 are used.

The package pooch is not used, for two reasons.  Its checksums are those of downloaded
archives.  Ours are those of the CSV file inside, which does not change if an archive is
packed again.  pooch also limits neither the size of a download nor that of an unpacked
archive.  With both added, the code would not be shorter.
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
# Largest allowed size of a download; all known archives are far smaller.
MOST_BYTES = 2**27


@dataclass(frozen=True)
class Source:
    """A data file: its checksum and, if it can be downloaded, its address.

    ``member`` is the file inside the archive at ``url``.  ``convert`` turns it into the CSV
    file of the checksum.  ``origin`` describes the origin of data that cannot be
    downloaded.
    """

    file: str
    sha256: str
    url: str | None = None
    member: str = ""
    convert: Callable[[bytes], bytes] = bytes
    origin: str = ""


def content(source: Source) -> bytes:
    """The checked bytes of a data file, which is downloaded to the cache if necessary."""
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
    """Whether the file exists on this machine; its contents are not checked."""
    given = _given(source)
    return cached(source).is_file() or (given is not None and given.is_file())


def cached(source: Source) -> Path:
    """The path of the file in the cache of downloads."""
    base = os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache"
    return Path(base) / "wdrsvm" / source.file


def _given(source: Source) -> Path | None:
    folder = os.environ.get(DATA_VARIABLE)
    return Path(folder) / source.file if folder else None


def checked(found: bytes, source: Source, subject: str, remedy: str) -> bytes:
    """The bytes, if they have the known checksum; else an error with a remedy."""
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
        # A damaged archive can raise many kinds of errors.
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
