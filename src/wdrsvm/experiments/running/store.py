"""The results so far: one row per task in an SQLite database.

When ``add`` returns, the row is on the disk, and survives if the process is killed.  There
is one writer at a time.  Therefore SQLite's default journal suffices, without a write-ahead
log.
"""

from __future__ import annotations

import errno
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from ...files import explained_full_disk, reason
from .spec import Record, Task, key_of

FILE, LOCK, EARLIER_FILE = "tasks.sqlite", "tasks.lock", "tasks.jsonl"
TABLE = (
    "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, outcome TEXT, sum INTEGER)"
)
# The longest time that a reader and the writer wait for each other.
TIMEOUT_SECONDS = 60.0
ELSEWHERE = "choose another folder or delete that file."


class Outcome(NamedTuple):
    """Records of a task, its seconds, and its number of fits that did not reach ``tol``."""

    records: list[Record]
    seconds: float
    unconverged: int = 0


class Store:
    """Outcomes of tasks in a folder.

    Parameters
    ----------
    folder : Path
        The folder of the file.
    protocol : int
        Outcomes of another protocol are refused.

    Notes
    -----
    Reading changes nothing, and is possible while another process adds rows.  Only the
    process that holds the lock may add rows.  A damaged row counts as missing.
    """

    def __init__(self, folder: Path, protocol: int) -> None:
        self.path = folder / FILE
        self.protocol = protocol
        self._outcomes = self._read()

    def __contains__(self, task: Task) -> bool:
        return key_of(task) in self._outcomes

    def __getitem__(self, task: Task) -> Outcome:
        return self._outcomes[key_of(task)]

    def records(self, tasks: Sequence[Task]) -> list[Record]:
        """Records of the finished tasks, with the tasks' values, in the given order."""
        return [
            task | record for task in tasks if task in self for record in self[task].records
        ]

    def add(self, task: Task, outcome: Outcome) -> None:
        """Write an outcome to the disk, then add it to the outcomes in memory."""
        key, text = key_of(task), json.dumps(outcome)
        with _opened(self.path) as database:
            row = (key, text, _sum(key, text))
            database.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", row)
        self._outcomes[key] = outcome

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Prevent other processes from adding rows, and read the rows they have added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # The lock is a separate file, because adding a row ends a transaction and its lock.
        with _opened(self.path.with_name(LOCK), "BEGIN EXCLUSIVE", timeout=0.0):
            self._outcomes = self._read()
            with _opened(self.path) as database:
                database.execute(TABLE)
                database.execute(f"PRAGMA user_version = {self.protocol}")
            yield

    def _read(self) -> dict[str, Outcome]:
        if not self.path.exists():
            earlier = self.path.with_name(EARLIER_FILE)
            _demand(not earlier.exists(), earlier, "of an earlier version")
            return {}
        with _opened(self.path) as database:
            # If the process was killed before the first row, the file may have no table.
            if database.execute("SELECT * FROM sqlite_master").fetchone() is None:
                return {}
            (found,) = database.execute("PRAGMA user_version").fetchone()
            other = f"of protocol {found}, this is {self.protocol}"
            _demand(found == self.protocol, self.path, other)
            rows = database.execute("SELECT key, outcome, sum FROM outcomes").fetchall()
        return {
            key: Outcome(*json.loads(text))
            for key, text, total in rows
            if total == _sum(key, text)
        }


def _demand(holds: bool, path: Path, otherwise: str) -> None:
    if not holds:
        raise ValueError(f"{path} has results {otherwise}: {ELSEWHERE}")


@contextmanager
def _opened(
    path: Path, begin: str = "BEGIN", timeout: float = TIMEOUT_SECONDS
) -> Iterator[sqlite3.Connection]:
    """An open database; all statements in the context are one transaction."""
    with explained_full_disk(path):
        try:
            with closing(sqlite3.connect(path, timeout)) as database, database:
                # Damaged text is read too; its checksum reveals the damage.
                database.text_factory = lambda raw: raw.decode(errors="replace")
                database.execute(begin)
                yield database
        except sqlite3.Error as error:
            raise _in_our_words(error, path) from error


def _in_our_words(error: sqlite3.Error, path: Path) -> Exception:
    # The last byte of a code is the kind of error, the other bytes are details.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return OSError(errno.ENOSPC, str(error))
    if code == sqlite3.SQLITE_BUSY:
        told = f"Another process is adding to {path.parent}: wait for it or choose another"
        return RuntimeError(f"{told} folder.")
    return ValueError(f"{path} cannot be used ({reason(error)}): {ELSEWHERE}")


def _sum(key: str, text: str) -> int:
    """A checksum, which detects rows that a disk or an editor has changed."""
    return zlib.crc32(f"{key} {text}".encode())
