"""Passes over rows in chunks whose labels can be flipped: those of rows in memory."""

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.design import in_columns
from wdrsvm.solvers.newton.products.flips.cluster import ClusterFlipDesign, Lessons
from wdrsvm.solvers.newton.products.flips.label_shares import LabelShares
from wdrsvm.solvers.newton.products.flips.memory import FlipDesign, first_flipped
from wdrsvm.solvers.scaling import Scaling

from .....rows.chunked import chunked
from ..test_loop import blobs
from .test_memory import BUDGET, point

pytest.importorskip("dask")


@contextmanager
def designs(trust):
    """Passes over the same rows in memory and in chunks."""
    problem = doubted(trust)
    scaling = Scaling.of(problem)
    prepare = partial(in_columns, scaling, np.float64)
    here, there = (each.by_chunks(prepare) for each in (problem, chunked(problem)))
    shares = LabelShares.first((4, scaling.n_columns), first_flipped(BUDGET))
    with here.reduction() as memory, there.reduction() as cluster:
        yield (
            FlipDesign(scaling, memory, problem=here, budget=BUDGET),
            ClusterFlipDesign(scaling, cluster, budget=BUDGET, lessons=Lessons(shares)),
        )


def doubted(trust):
    problem = blobs(n_classes=4, ball={"label_cost": 1.0})
    return problem.with_rows(label_trust=np.tile(trust, 100))


def assert_same(found, expected, rtol=1e-7):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("price", [0.0, 3.0])
def test_sums_are_those_in_memory_after_every_lesson(price):
    with designs([1.0, 0.5, 2.0]) as (here, there):
        for seed in (1, 2, 3):
            at = point(here, price, mu=0.4 / seed, seed=seed)
            expected = here.evaluate(at)
            assert_same(there.evaluate(at), expected)
            at = at._replace(price=expected.price)
            assert_same(there.curvature(at)[:3], here.curvature(at)[:3])
            here.learn(at)
            there.learn(at)


def test_the_shares_of_a_point_are_those_in_memory():
    trust = [1.0, 0.5, np.inf]
    problem = doubted(trust)
    with designs(trust) as (here, there):
        for design in (here, there):
            design.learn(point(here, price=2.0, mu=2.0))
        at = point(here, price=3.0, mu=2.0, seed=2)
        found = there.shares(at).of_rows(problem, slice(0, 300))
        np.testing.assert_allclose(found, here.shares(at), atol=1e-10)
