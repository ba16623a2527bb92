"""What has been computed so far: one line a task in one file, added when it is done.

The file survives a kill at any moment.  A line counts if its end is there; what a kill left
of another one is cut off before the next is added.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..files import explained_full_disk
from .spec import Record, Task, key_of

FILE = "tasks.jsonl"


class Outcome(NamedTuple):
    """Records of a task, the seconds it took and its fits that stopped above their gap."""

    records: list[Record]
    seconds: float
    unconverged: int = 0


class Store:
    """Outcomes of tasks in a folder.

    Parameters
    ----------
    folder : Path
        Where the file is or will be.
    protocol : int
        Outcomes of another protocol are refused.

    Notes
    -----
    Reading changes nothing and may be done while another process adds; adding is for the
    one that holds the lock.
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
        """Records of the tasks that are done, with the task's values, in this order."""
        return [
            task | record for task in tasks if task in self for record in self[task].records
        ]

    def add(self, task: Task, outcome: Outcome) -> None:
        """Write an outcome to the disk; only then does it count."""
        line = {"key": key_of(task), "protocol": self.protocol, **outcome._asdict()}
        self._append((json.dumps(line | {"sum": _sum(line)}) + "\n").encode())
        self._outcomes[key_of(task)] = outcome

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from adding to the same file; see what they have added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            _lock(file, self.path)
            os.truncate(self.path, len(self._whole_lines()))
            self._outcomes = self._read()
            yield

    def _append(self, line: bytes) -> None:
        size = self.path.stat().st_size
        try:
            with explained_full_disk(self.path), self.path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                os.truncate(self.path, size)
            raise

    def _whole_lines(self) -> bytes:
        content = self.path.read_bytes() if self.path.exists() else b""
        return content[: content.rfind(b"\n") + 1]

    def _read(self) -> dict[str, Outcome]:
        lines = enumerate(self._whole_lines().splitlines(), start=1)
        return dict(self._checked(text, number) for number, text in lines)

    def _checked(self, text: bytes, number: int) -> tuple[str, Outcome]:
        """A task's key and outcome, or an error that says which line is damaged."""
        try:
            line = json.loads(text)
            protocol, found = line["protocol"], (line["key"], _outcome(line))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"Line {number} of {self.path} is damaged: delete that line, and only its "
                "task is run again."
            ) from error
        if protocol != self.protocol:
            raise ValueError(
                f"{self.path} has results of protocol {protocol}, this is {self.protocol}: "
                "choose another folder or delete that file."
            )
        return found


def _outcome(line: dict[str, Any]) -> Outcome:
    """What a line says; lines of earlier versions have no sum."""
    records, seconds, unconverged = line["records"], line["seconds"], line["unconverged"]
    is_sound = (
        line.pop("sum", None) in (None, _sum(line))
        and isinstance(line["key"], str)
        and all(isinstance(record, dict) for record in records)
        and seconds + unconverged >= 0
    )
    if not is_sound:
        raise ValueError("The line is not what was written.")
    return Outcome(list(records), seconds, unconverged)


def _sum(line: dict[str, Any]) -> int:
    """Tells a line from one that a disk or an editor has changed."""
    return zlib.crc32(json.dumps(line, sort_keys=True).encode())


def _lock(file: Any, path: Path) -> None:
    """An advisory lock, which ends with the process, where the system has them."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RuntimeError(
            f"Another process is adding to {path}: wait for it or choose another folder."
        ) from None
