"""Rows in chunks elsewhere: dask keeps them, computes on them and moves what is small.

Only what dask calls delayed values is used, so that every scheduler of dask will do: the
client of a cluster, if there is one, or the scheduler of this process.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from importlib import import_module
from typing import Any, Protocol, TypeAlias

# A value that dask will compute where it likes.
Delayed: TypeAlias = Any

# Results combined by one task of a reduction.
FAN_IN = 8


class Engine(Protocol):
    """Where chunks live and are computed on."""

    def keep_rows(self, values: list[Delayed]) -> list[Delayed]:
        """Values as large as the rows, for later passes."""
        ...

    def keep_labels(self, values: list[Delayed]) -> list[Delayed]:
        """What has to be known of the rows beside their features."""
        ...

    def keep(self, values: list[Delayed], and_gather: Delayed) -> tuple[list[Delayed], Any]:
        """Values held where they were computed, and one that is brought here."""
        ...

    def gather(self, values: list[Delayed]) -> list[Any]:
        """Values, computed and brought here."""
        ...


class LocalEngine:
    """dask's scheduler in this process: features are read again in every pass, for they
    may be more than memory holds."""

    def keep_rows(self, values: list[Delayed]) -> list[Delayed]:
        return values

    def keep_labels(self, values: list[Delayed]) -> list[Delayed]:
        return list(_dask().persist(*values))

    def keep(self, values: list[Delayed], and_gather: Delayed) -> tuple[list[Delayed], Any]:
        *kept, small = self.keep_labels([*values, and_gather])
        return kept, self.gather([small])[0]

    def gather(self, values: list[Delayed]) -> list[Any]:
        return list(_dask().compute(*values))


@dataclass(frozen=True, eq=False)
class ClusterEngine:
    """The workers of a client: rows stay with them, on disk where memory ends."""

    client: Any

    def keep_rows(self, values: list[Delayed]) -> list[Delayed]:
        with self._open():
            return list(self.client.persist(values))

    def keep_labels(self, values: list[Delayed]) -> list[Delayed]:
        return values  # they are part of the rows

    def keep(self, values: list[Delayed], and_gather: Delayed) -> tuple[list[Delayed], Any]:
        *kept, small = self.keep_rows([*values, and_gather])
        return kept, self.gather([small])[0]

    def gather(self, values: list[Delayed]) -> list[Any]:
        with self._open():
            return list(self.client.gather(self.client.compute(values)))

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Say so if the client was closed, whatever that made of a call."""
        try:
            self._check()
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # what is cancelled is no Exception
            self._check(error)
            raise

    def _check(self, cause: BaseException | None = None) -> None:
        if self.client.status != "running":
            raise RuntimeError(
                "the dask client was closed before the fit ended: keep it open, or "
                "close it and fit again with dask's local scheduler."
            ) from cause


def _dask() -> Any:
    """Imported by whoever has a collection of it, not by importing the package."""
    return import_module("dask")


def current_engine() -> Engine:
    """The client that there is, or dask's local scheduler."""
    if "distributed" in sys.modules:
        try:
            return ClusterEngine(import_module("distributed").get_client())
        except ValueError:
            pass
    return LocalEngine()


def as_delayed(value: Any) -> Delayed:
    """A value as it is, which dask does not look into."""
    return _dask().delayed(value, name=f"wdrsvm-{uuid.uuid4().hex}", traverse=False)


def calls(function: Callable[..., Any], *columns: Sequence[Any]) -> list[Delayed]:
    """``function`` of the first entries of the columns, of the second ones, ...

    What all calls share is bound to the function (``partial``) and travels with each: as
    a value of its own it would draw them, and the chunks, to the worker that holds it.
    """
    task = _dask().delayed(function, pure=False, traverse=False)
    return [task(*arguments) for arguments in zip(*columns, strict=True)]


def reduction(combine: Callable[[Any, Any], Any], values: list[Delayed]) -> Delayed:
    """Values combined in their order, by a tree of tasks."""
    task = _dask().delayed(partial(_combined, combine), pure=False, traverse=False)
    while len(values) > 1:
        starts = range(0, len(values), FAN_IN)
        values = [task(values[start : start + FAN_IN]) for start in starts]
    return values[0]


def _combined(combine: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    """None is nothing: no row of a chunk was picked."""
    there = [value for value in values if value is not None]
    return reduce(combine, there) if there else None
