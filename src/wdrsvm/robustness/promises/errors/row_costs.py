"""Costs of errors of a user's rows: in memory block by block, elsewhere chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from ....arrays import Codes, Floats, Labels, Matrix
from ....inputs.arrays import check_kernel_ball, checked_trust, checked_weight, label_codes
from ....inputs.dask_collections import is_lazy
from ....problem import WassersteinBall
from ....problem.flip_rates import FlipsByRate, first_edges, spent_by_rate
from ....problem.ramp import relabelling_costs
from ....rows.blocks import as_floats, row_blocks
from ....rows.dask_engine import Delayed, calls, reduction
from ....rows.memory_rows import MemoryRows
from ....rows.threads import row_threads
from ....solvers.runtime.blas_threads import single_threaded_blas
from ..worst_case import (
    LinearScores,
    features_for,
    features_of,
    has_kernel,
    last_classifier,
    last_step,
    lazy_rows,
    linear_scores,
    linear_step,
)
from .wrong_costs import WrongCosts

SPACES = ("features", "inputs")


class RowCosts(NamedTuple):
    """The cost of making each row wrong, the row's weight and label code; all (N,).

    Weights need not sum to 1; none of them is zero.
    """

    cost: Floats
    weight: Floats
    code: Codes

    def only(self, kept: Any) -> RowCosts:
        return RowCosts(self.cost[kept], self.weight[kept], self.code[kept])


class LabelledBlock(NamedTuple):
    """Features of some rows, with label codes and trust."""

    features: Any
    codes: Codes
    trust: Floats | None


@dataclass(frozen=True, eq=False)
class InputCosts:
    """Costs of errors when inputs of a kernel model move: lower bounds, from the distance
    that the kernel's features have to go."""

    in_features: WrongCosts
    ball: WassersteinBall
    input_distance: Callable[[Floats, str], Floats]

    def __call__(self, X: Matrix, y: Codes, label_trust: Floats | None) -> Floats:
        distance = self.input_distance(self.in_features.distances(X, y), self.ball.norm)
        problem = self.in_features.problem(X, y, label_trust)
        return np.minimum(distance, relabelling_costs(replace(problem, ball=self.ball)))


class JudgedRows(NamedTuple):
    """A classifier's scores, how costs follow from them, and where the features are.

    ``checked`` makes a matrix of a block of features, or refuses it.
    """

    scores: LinearScores
    costs: WrongCosts | InputCosts
    features: Iterator[Any]
    checked: Callable[[Any], Matrix]

    def block_costs(self, block: LabelledBlock) -> Floats:
        return self.costs(self.checked(block.features), block.codes, block.trust)


def row_costs(
    classifier: Any,
    X: Any,
    y: Any,
    ball: WassersteinBall,
    sample_weight: Any = None,
    label_trust: Any = None,
    space: str = "features",
) -> tuple[RowCosts, Labels]:
    """Costs of all rows that carry weight, and the classes that codes stand for."""
    check_space(space)
    if is_lazy(X):
        scores, rows = lazy_rows(classifier, X, y, sample_weight, label_trust)
        tasks = calls(partial(_chunk_costs, _costs_of(scores, ball)), rows.chunks)
        return _joined(rows.engine.gather(tasks)), scores.classes
    judged = _judged(classifier, X, ball, space)
    codes = label_codes(y, judged.scores.classes)
    weight = checked_weight(sample_weight, len(codes))
    trust = checked_trust(label_trust, len(codes))
    check_consistent_length(X, codes)
    found = RowCosts(_block_costs(judged, codes, trust), weight, codes)
    return found if weight.all() else found.only(weight > 0), judged.scores.classes


def _block_costs(judged: JudgedRows, codes: Codes, trust: Floats | None) -> Floats:
    # The products are thin: threads inside them cost several times what they save.
    with single_threaded_blas(), row_threads(len(codes)) as run:
        blocks = _labelled_blocks(judged.features, codes, trust)
        return np.concatenate(list(run(judged.block_costs, blocks)))


def _labelled_blocks(
    features: Iterator[Any], codes: Codes, trust: Floats | None
) -> Iterator[LabelledBlock]:
    start = 0
    for block in features:
        rows = slice(start, start + block.shape[0])
        yield LabelledBlock(block, codes[rows], None if trust is None else trust[rows])
        start = rows.stop


def lazy_error(
    classifier: Any, X: Any, y: Any, ball: WassersteinBall, sample_weight: Any, trust: Any
) -> float:
    """The worst-case error over a dask collection; workers send sums by cost, not rows."""
    scores, rows = lazy_rows(classifier, X, y, sample_weight, trust)
    costs = calls(partial(_chunk_costs, _costs_of(scores, ball)), rows.chunks)
    # Features are read once; arrays of all rows stay with the workers.
    kept, _ = rows.engine.keep(costs, _counted(costs, first_edges()))

    def count(edges: Floats) -> FlipsByRate:
        counted: FlipsByRate = rows.engine.gather([_counted(kept, edges)])[0]
        return counted

    return min(spent_by_rate(count, ball.radius, 0.0)[0], 1.0)


def check_space(space: Any) -> None:
    if not isinstance(space, str) or space not in SPACES:
        allowed = ", ".join(repr(name) for name in SPACES)
        raise ValueError(f"space must be one of {allowed}, got {space!r}.")


def _costs_of(scores: LinearScores, ball: WassersteinBall) -> WrongCosts:
    return WrongCosts(scores.coef, scores.intercept, ball)


def _judged(classifier: Any, X: Any, ball: WassersteinBall, space: str) -> JudgedRows:
    last = last_classifier(classifier)
    if has_kernel(last):
        return _judged_kernel(*last_step(X, classifier), ball, space)
    scores = linear_scores(last)
    blocks = _feature_blocks(classifier, scores, X)
    return JudgedRows(scores, _costs_of(scores, ball), blocks, partial(features_of, scores))


def _judged_kernel(
    X: Any, classifier: Any, ball: WassersteinBall, space: str
) -> JudgedRows:
    """A kernel model: exact for movement of its features, a bound for that of inputs."""
    check_kernel_ball(ball if space == "features" else replace(ball, norm="l2"))
    features, scores = classifier.linear_form(X)
    exact = _costs_of(scores, replace(ball, norm="l2"))
    bound = InputCosts(exact, ball, classifier.input_distance)
    blocks = (features[rows] for rows in row_blocks(features, len(scores.classes)))
    costs = bound if space == "inputs" else exact
    return JudgedRows(scores, costs, blocks, partial(features_of, scores))


def _feature_blocks(classifier: Any, scores: LinearScores, X: Any) -> Iterator[Any]:
    """What the linear step sees, block by block where X can be cut without a copy.

    Only the first block is used to check that scores follow from the coefficients.  Blocks
    of features are checked by those who use them.
    """
    if not _can_be_cut(X):
        features, last = linear_step(X, classifier)
        checked = features_for(last, scores, features)
        yield from (checked[rows] for rows in row_blocks(checked, len(scores.classes)))
        return
    for rows in row_blocks(X, len(scores.classes)):
        features, last = linear_step(X[rows], classifier)
        if rows.start == 0:
            features = features_for(last, scores, features)
        yield features


def _can_be_cut(X: Any) -> bool:
    is_csr = sparse.issparse(X) and X.format == "csr"
    return is_csr or (isinstance(X, np.ndarray) and X.ndim == 2 and len(X) > 0)


def _joined(parts: list[RowCosts]) -> RowCosts:
    return RowCosts(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _counted(costs: list[Delayed], edges: Floats) -> Delayed:
    """The counts of all chunks together, as a task."""
    return reduction(FlipsByRate.joined, calls(partial(_chunk_counts, edges), costs))


# Tasks: what is done to a chunk where it is.
def _chunk_costs(costs: WrongCosts, chunk: MemoryRows) -> RowCosts:
    found = [
        costs(
            as_floats(chunk.X[rows]),
            chunk.y[rows],
            None if chunk.label_trust is None else chunk.label_trust[rows],
        )
        for rows in row_blocks(chunk.X, len(costs.coef))
    ]
    return RowCosts(np.concatenate(found), chunk.weight, chunk.y)


def _chunk_counts(edges: Floats, found: RowCosts) -> FlipsByRate:
    """Weight of errors that cost nothing; the others, by errors per unit of cost."""
    free = float(found.weight[found.cost == 0].sum())
    priced = found.only((found.cost > 0) & np.isfinite(found.cost))
    return FlipsByRate.counted(
        free, priced.cost, np.ones_like(priced.cost), priced.weight, edges
    )
