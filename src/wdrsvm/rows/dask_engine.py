"""dask as the place of the rows: it holds the chunks, computes on them, and returns
results.

Only dask's delayed values are used.  Therefore every scheduler of dask works: the client of
a cluster, if there is one, or the scheduler of this process.
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

# A value that dask computes later, in a place of dask's choice.
Delayed: TypeAlias = Any

# Results combined by one task of a reduction.
FAN_IN = 8


class Engine(Protocol):
    """The place where chunks are held and computed on."""

    def keep_rows(self, values: list[Delayed]) -> list[Delayed]:
        """Hold values as large as the rows, for later reductions."""
        ...

    def keep_labels(self, values: list[Delayed]) -> list[Delayed]:
        """Hold labels, weights and trusts of the rows, which are small beside features."""
        ...

    def keep(self, values: list[Delayed], and_gather: Delayed) -> tuple[list[Delayed], Any]:
        """Hold values where they are computed, and return one more value to the caller."""
        ...

    def gather(self, values: list[Delayed]) -> list[Any]:
        """Compute values and return them to the caller."""
        ...


class LocalEngine:
    """dask's scheduler in this process.

    Features are read again in every reduction, because they may not fit into memory.
    """

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
    """The workers of a client, which hold the rows, on disk if memory does not suffice."""

    client: Any

    def keep_rows(self, values: list[Delayed]) -> list[Delayed]:
        with self._open():
            return list(self.client.persist(values))

    def keep_labels(self, values: list[Delayed]) -> list[Delayed]:
        return values  # ``keep_rows`` holds them together with the features

    def keep(self, values: list[Delayed], and_gather: Delayed) -> tuple[list[Delayed], Any]:
        *kept, small = self.keep_rows([*values, and_gather])
        return kept, self.gather([small])[0]

    def gather(self, values: list[Delayed]) -> list[Any]:
        with self._open():
            return list(self.client.gather(self.client.compute(values)))

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Raise a clear error if the client was closed during a call."""
        try:
            self._check()
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a CancelledError is no Exception
            self._check(error)
            raise

    def _check(self, cause: BaseException | None = None) -> None:
        if self.client.status != "running":
            raise RuntimeError(
                "the dask client was closed before the fit ended: keep it open, or "
                "close it and fit again with dask's local scheduler."
            ) from cause


def _dask() -> Any:
    """dask, imported only when the user gives a dask collection."""
    return import_module("dask")


def current_engine() -> Engine:
    """The current client if there is one, else dask's local scheduler."""
    if "distributed" in sys.modules:
        try:
            return ClusterEngine(import_module("distributed").get_client())
        except ValueError:
            pass
    return LocalEngine()


def as_delayed(value: Any) -> Delayed:
    """A value as one delayed value; dask does not search it for other delayed values."""
    return _dask().delayed(value, name=f"wdrsvm-{uuid.uuid4().hex}", traverse=False)


def calls(function: Callable[..., Any], *columns: Sequence[Any]) -> list[Delayed]:
    """``function`` of the first entries of the columns, of the second ones, and so on.

    Arguments that all calls share are bound to the function with ``partial`` and are sent
    with each call.  As a separate dask value, a shared argument would make dask move all
    calls, and the chunks, to the one worker that holds this value.
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
    """The combined values; None stands for a chunk in which no row was picked."""
    there = [value for value in values if value is not None]
    return reduce(combine, there) if there else None
